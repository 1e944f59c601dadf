//! A stretch of network between Kith and one of its servers, with weather. Never what goes over it.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;
use url::Url;

/// What happens to connections, those that are there and new ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weather {
    /// Nothing.
    Fair,
    /// Each piece of an answer comes so much later.
    Slow(Duration),
    /// Nothing gets through, until the weather changes: then all that was sent comes.
    Still,
    /// Nothing gets through, and what is connected at this time never hears anything again, nor that it is lost.
    Lost,
    /// Connections are cut, and new ones too.
    Refused,
    /// So many bytes of answers come through on each connection; then it is cut.
    CutAfter(usize),
    /// What has this in it reaches the server; then the connection is cut, before the answer.
    CutBehind(&'static str),
}

/// The stretch. It ends with the runtime of the test.
pub struct Proxy {
    /// The address of the server through it.
    pub url: String,
    weather: watch::Sender<Weather>,
}

impl Proxy {
    /// A stretch before the server at `url`.
    pub fn before(url: &str) -> Self {
        let mut url = Url::parse(url).expect("a URL");
        let server = ("127.0.0.1", url.port().expect("a port"));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let listener = TcpListener::from_std(listener).expect("a socket");
        url.set_port(Some(listener.local_addr().expect("an address").port())).expect("a port");
        let (weather, seen) = watch::channel(Weather::Fair);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let seen = seen.clone();
                tokio::spawn(async move {
                    if *seen.borrow() != Weather::Refused
                        && let Ok(server) = TcpStream::connect(server).await
                    {
                        pass(client, server, seen).await;
                    }
                });
            }
        });
        Self { url: url.into(), weather }
    }

    /// Changes the weather.
    pub fn weather(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

async fn pass(client: TcpStream, server: TcpStream, weather: watch::Receiver<Weather>) {
    let is = |awaited: Weather| {
        let mut weather = weather.clone();
        async move { drop(weather.wait_for(|now| *now == awaited).await) }
    };
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (client.into_split(), server.into_split());
    tokio::select! {
        () = requests(&mut from_client, &mut to_server, weather.clone()) => {}
        () = answers(&mut from_server, &mut to_client, weather.clone()) => {}
        () = is(Weather::Refused) => {}
        // The sockets stay open.
        () = is(Weather::Lost) => std::future::pending().await,
    }
}

async fn requests(client: &mut OwnedReadHalf, server: &mut OwnedWriteHalf, mut weather: watch::Receiver<Weather>) {
    while let Some(piece) = piece(client).await {
        let now = *weather.wait_for(|weather| *weather != Weather::Still).await.expect("the test runs");
        if server.write_all(&piece).await.is_err() {
            return;
        }
        if let Weather::CutBehind(word) = now
            && piece.windows(word.len()).any(|part| part == word.as_bytes())
        {
            return;
        }
    }
}

async fn answers(server: &mut OwnedReadHalf, client: &mut OwnedWriteHalf, mut weather: watch::Receiver<Weather>) {
    let (mut passed, mut before) = (0, Weather::Fair);
    while let Some(mut piece) = piece(server).await {
        let now = *weather.wait_for(|weather| *weather != Weather::Still).await.expect("the test runs");
        if now != before {
            (passed, before) = (0, now);
        }
        match now {
            Weather::Slow(by) => sleep(by).await,
            Weather::CutAfter(bytes) => piece.truncate(bytes - passed),
            _ => {}
        }
        passed += piece.len();
        if client.write_all(&piece).await.is_err() || now == Weather::CutAfter(passed) {
            return;
        }
    }
}

async fn piece(from: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut piece = vec![0; 16_384];
    let length = from.read(&mut piece).await.ok().filter(|length| *length > 0)?;
    piece.truncate(length);
    Some(piece)
}
