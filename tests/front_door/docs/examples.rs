//! The examples of the documents, run as a reader would: each page from top to bottom against a server of its own, each
//! answer compared with the one that is printed.
//!
//! A block of `sh`, `js` or `graphql` is run, and the block of `json` right behind it is the last that it answers. In an
//! answer `…` stands for any value, and at the end of a text for any ending. Behind `json` stands what is kept of it:
//! `NAME=/json/pointer`, for later blocks: `$NAME` in a shell, `<NAME>` in GraphQL. `graphql as ada` is sent by a person of
//! that name. A block that says `not run:` says why.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Client, Kith, Process};

/// A block of code: the line of its page, what stands behind the fence, and its text.
struct Block {
    line: usize,
    info: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let text = super::file(page);
    let (mut blocks, mut open): (Vec<Block>, Option<Block>) = (Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        match (open.take(), line.strip_prefix("```")) {
            (None, Some(info)) => open = Some(Block { line: number + 1, info: info.to_owned(), text: String::new() }),
            (Some(block), Some("")) => blocks.push(block),
            (Some(mut block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{page} has a block without an end");
    blocks
}

/// What a reader has at hand: the server, the people who signed up, and what was kept of the answers.
struct Reader<'a> {
    client: &'a Client,
    tokens: BTreeMap<String, String>,
    kept: BTreeMap<String, String>,
}

impl Reader<'_> {
    /// Runs a block and answers what came back; `None` for one that is no example.
    async fn run(&mut self, block: &Block) -> Option<Value> {
        let mut words = block.info.split(' ');
        match words.next().unwrap_or_default() {
            "graphql" => {
                let client = match words.nth(1) {
                    Some(name) => self.client.with_token(&self.token(name).await),
                    None => self.client.clone(),
                };
                let query = self
                    .kept
                    .iter()
                    .fold(block.text.clone(), |text, (name, value)| text.replace(&format!("<{name}>"), value));
                Some(client.query(&query, json!({})).await.body)
            }
            "sh" => {
                // A line that shows a stand-in is about what the reader has kept.
                let stands_in = |line: &&str| !(line.contains('…') && line.contains('='));
                let script: String = block.text.lines().filter(stands_in).map(|line| format!("{line}\n")).collect();
                self.output("bash", &["-euc", &self.here(&script)])
            }
            "js" => self.output("node", &["--input-type=module", "-e", &self.here(&block.text)]),
            _ => None,
        }
    }

    fn here(&self, text: &str) -> String {
        text.replace("127.0.0.1:4000", self.client.address())
    }

    /// The last JSON that a program prints.
    fn output(&self, program: &str, arguments: &[&str]) -> Option<Value> {
        let mut command = Command::new(program);
        // A proxy of the machine must not stand between an example and its server.
        command.args(arguments).envs(&self.kept).env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
        let output = command.output().unwrap_or_else(|error| panic!("{program}: {error}"));
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        // curl ends no line: several answers may stand on one.
        let values = serde_json::Deserializer::from_str(&printed).into_iter::<Value>();
        let values: Vec<Value> = values.collect::<Result<_, _>>().unwrap_or_else(|_| panic!("not JSON: {printed}"));
        let (last, before) = values.split_last().unwrap_or_else(|| panic!("nothing was printed"));
        assert!(before.iter().all(|value| value.get("errors").is_none()), "{printed}");
        Some(last.clone())
    }

    async fn token(&mut self, name: &str) -> String {
        if !self.tokens.contains_key(name) {
            let sign_up = "mutation($input: SignUpInput!) { signUp(input: $input) { tokens { accessToken } } }";
            let input = json!({ "input": { "handle": name, "displayName": name, "password": "as in the document" } });
            let token = self.client.query(sign_up, input).await.text("/signUp/tokens/accessToken");
            self.tokens.insert(name.to_owned(), token);
        }
        self.tokens[name].clone()
    }

    fn keep(&mut self, info: &str, answer: &Value) {
        for (name, pointer) in info.split(' ').filter_map(|word| word.split_once('=')) {
            let value = answer.pointer(pointer).and_then(Value::as_str);
            self.kept.insert(name.to_owned(), value.unwrap_or_else(|| panic!("nothing at {pointer}")).to_owned());
        }
    }
}

/// Whether an answer is the one that is printed.
fn fits(printed: &Value, answer: &Value) -> bool {
    match (printed, answer) {
        (Value::String(printed), _) if printed == "…" => true,
        (Value::String(printed), Value::String(answer)) => match printed.strip_suffix('…') {
            Some(beginning) => answer.starts_with(beginning),
            None => printed == answer,
        },
        (Value::Array(printed), Value::Array(answer)) => {
            printed.len() == answer.len() && printed.iter().zip(answer).all(|(p, a)| fits(p, a))
        }
        // Where an error stands in the document is nothing to print.
        (Value::Object(printed), Value::Object(answer)) => {
            answer.keys().all(|key| printed.contains_key(key) || key == "locations" || key == "path")
                && printed.iter().all(|(key, value)| answer.get(key).is_some_and(|answer| fits(value, answer)))
        }
        _ => printed == answer,
    }
}

#[tokio::test]
async fn the_examples_of_the_documents_do_what_they_say() {
    let mut run = 0;
    for page in super::pages() {
        let blocks = blocks(&page);
        if blocks.iter().all(|block| block.info.contains("not run: ")) {
            continue;
        }
        let kith = Kith::start().await;
        let server = Process::serve(&kith, &[]).await;
        let mut reader = Reader { client: &server.client, tokens: BTreeMap::new(), kept: BTreeMap::new() };
        let mut blocks = blocks.into_iter().peekable();
        while let Some(block) = blocks.next() {
            if let Some((_, why)) = block.info.split_once("not run: ") {
                assert!(why.len() > 10, "{page}:{} says why", block.line);
                continue;
            }
            let at = format!("{page}:{}", block.line);
            let answer = reader.run(&block).await;
            let answer = answer.unwrap_or_else(|| panic!("{at} is {:?}: nobody can run that", block.info));
            let printed = blocks.next_if(|next| next.info.starts_with("json"));
            let printed = printed.unwrap_or_else(|| panic!("{at} has no answer behind it; it is {answer}"));
            let expected: Value = serde_json::from_str(&printed.text).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert!(fits(&expected, &answer), "{at} was answered {answer}");
            reader.keep(&printed.info, &answer);
            run += 1;
        }
    }
    assert!(run > 25, "only {run} examples were found");
}
