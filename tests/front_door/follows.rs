//! The follow graph: sets rather than toggles, exact counters, lists of people.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Kith, Person, watch_statements};

const FOLLOW: &str = "mutation($input: FollowUserInput!) { followUser(input: $input) {
    user { followerCount viewerFollows followsViewer isFriend } clientMutationId
} }";
const UNFOLLOW: &str = "mutation($input: UnfollowUserInput!) { unfollowUser(input: $input) {
    user { followerCount viewerFollows }
} }";

async fn counts(kith: &Kith, person: &Person) -> (i64, i64) {
    let query = "query($id: ID!) { node(id: $id) { ... on User { followerCount followingCount } } }";
    let answer = kith.anonymous().query(query, json!({ "id": person.id })).await;
    let count = |pointer| answer.at(pointer).as_i64().expect("a number");
    (count("/node/followerCount"), count("/node/followingCount"))
}

async fn edges(kith: &Kith) -> i64 {
    kith.sql().await.one("SELECT count(*) FROM follows", &[]).await
}

#[tokio::test]
async fn following_and_unfollowing_again_changes_nothing_and_the_payload_is_of_after_the_write() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    let input = json!({ "input": { "userId": ada.id, "clientMutationId": "c1" } });
    for _ in 0..2 {
        let answer = ben.query(FOLLOW, input.clone()).await;
        let expected = json!({ "user": { "followerCount": 1, "viewerFollows": true, "followsViewer": false, "isFriend": false },
            "clientMutationId": "c1" });
        assert_eq!(answer.at("/followUser"), &expected);
    }
    let back = ada.query(FOLLOW, json!({ "input": { "userId": ben.id } })).await;
    assert_eq!(
        (back.at("/followUser/user/isFriend"), back.at("/followUser/user/followsViewer")),
        (&json!(true), &json!(true))
    );
    for _ in 0..2 {
        let answer = ben.query(UNFOLLOW, json!({ "input": { "userId": ada.id } })).await;
        assert_eq!(answer.at("/unfollowUser/user"), &json!({ "followerCount": 0, "viewerFollows": false }));
    }
    assert_eq!((counts(&kith, ada).await, counts(&kith, ben).await), ((0, 1), (1, 0)));
    // Several writes in one request: each payload is of its own moment.
    let both = "mutation($f: FollowUserInput!, $u: UnfollowUserInput!) {
        a: followUser(input: $f) { user { followerCount } } b: unfollowUser(input: $u) { user { followerCount } }
        c: followUser(input: $f) { user { followerCount } }
    }";
    let who = json!({ "userId": ada.id });
    let answer = ben.query(both, json!({ "f": who, "u": who })).await;
    let seen = ["/a", "/b", "/c"].map(|at| answer.at(&format!("{at}/user/followerCount")).as_i64());
    assert_eq!(seen, [Some(1), Some(0), Some(1)]);
    kith.finish().await;
}

#[tokio::test]
async fn parallel_follows_make_one_edge_and_the_counters_are_exact() {
    let kith = Kith::start().await;
    let people = kith.people(4).await;
    let (ada, others) = (&people[0], &people[1..]);
    let input = json!({ "input": { "userId": ada.id } });
    join_all((0..20).map(|_| others[0].query(FOLLOW, input.clone()))).await.iter().for_each(|answer| {
        answer.data();
    });
    assert_eq!((edges(&kith).await, counts(&kith, ada).await, counts(&kith, &others[0]).await), (1, (1, 0), (0, 1)));
    // Everybody follows and unfollows everybody at once, in both directions.
    let storm = people.iter().flat_map(|from| people.iter().map(move |to| (from, to))).filter(|(a, b)| a.id != b.id);
    join_all(storm.flat_map(|pair| [(pair, FOLLOW), (pair, UNFOLLOW), (pair, FOLLOW)]).map(|((from, to), verb)| {
        let input = json!({ "input": { "userId": to.id } });
        async move { from.query(verb, input).await.data().clone() }
    }))
    .await;
    for person in &people {
        let id = person.viewer.user_id;
        let sql = kith.sql().await;
        let followers: i64 = sql.one("SELECT count(*) FROM follows WHERE followee_id = $1", &[&id]).await;
        let following: i64 = sql.one("SELECT count(*) FROM follows WHERE follower_id = $1", &[&id]).await;
        assert_eq!(counts(&kith, person).await, (followers, following));
    }
    kith.finish().await;
}

#[tokio::test]
async fn nobody_follows_themselves_or_somebody_who_is_not_there() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let nobody = kith::ids::GlobalId::User(1).encode();
    let message = kith::ids::GlobalId::Message { author_id: 1, id: 1 }.encode();
    for (id, code, field) in [
        (ada.id.as_str(), "BAD_USER_INPUT", Some("userId")),
        ("nonsense", "BAD_USER_INPUT", Some("userId")),
        ("", "BAD_USER_INPUT", Some("userId")),
        (&nobody, "NOT_FOUND", None),
        (&message, "NOT_FOUND", None),
    ] {
        let answer = ada.query(FOLLOW, json!({ "input": { "userId": id } })).await;
        assert_eq!((answer.code(), answer.field()), (code, field), "{id}");
    }
    let answer = kith.anonymous().query(FOLLOW, json!({ "input": { "userId": ada.id } })).await;
    assert_eq!(answer.code(), "UNAUTHENTICATED");
    assert_eq!(edges(&kith).await, 0);
}

#[tokio::test]
async fn followers_and_following_are_connections_in_the_order_of_the_follows() {
    let kith = Kith::start().await;
    let people = kith.people(8).await;
    let ada = &people[0];
    for follower in &people[1..] {
        follower.follow(ada).await;
    }
    people[1].unfollow(ada).await;
    people[1].follow(ada).await;
    let query = "query($id: ID!, $first: Int, $after: String) { node(id: $id) { ... on User {
        followers(first: $first, after: $after) { edges { cursor followedAt node { id } } pageInfo { hasNextPage endCursor } }
    } } }";
    for size in [1, 2, 7, 50] {
        let (mut walked, mut after) = (Vec::new(), Value::Null);
        loop {
            let answer = kith.anonymous().query(query, json!({ "id": ada.id, "first": size, "after": after })).await;
            let page = answer.at("/node/followers").clone();
            for edge in page["edges"].as_array().expect("edges") {
                walked.push(edge["node"]["id"].as_str().expect("an id").to_owned());
            }
            if page["pageInfo"]["hasNextPage"] == false {
                break;
            }
            after = page["pageInfo"]["endCursor"].clone();
        }
        let expected: Vec<String> = [1, 7, 6, 5, 4, 3, 2].map(|n: usize| people[n].id.clone()).into();
        assert_eq!(walked, expected, "pages of {size}: following again is the newest");
    }
    let following = "query($id: ID!) { node(id: $id) { ... on User { following { nodes { id } } } } }";
    let answer = kith.anonymous().query(following, json!({ "id": people[3].id })).await;
    assert_eq!(answer.at("/node/following/nodes"), &json!([{ "id": ada.id }]));
    kith.finish().await;
}

#[tokio::test]
async fn what_people_are_to_each_other_takes_one_statement_for_many() {
    watch_statements();
    let kith = Kith::start().await;
    let people = kith.people(12).await;
    let ada = &people[0];
    for other in &people[1..] {
        other.follow(ada).await;
    }
    for other in &people[1..5] {
        ada.follow(other).await;
    }
    let ids: Vec<&str> = people[1..].iter().map(|person| person.id.as_str()).collect();
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on User { viewerFollows followsViewer isFriend followerCount } } }";
    let (relations, counters) =
        (kith.statements("LEFT JOIN follows"), kith.statements("\"user_counters\".\"user_id\" = ANY"));
    let nodes = ada.query(query, json!({ "ids": ids })).await.at("/nodes").clone();
    for (n, node) in nodes.as_array().expect("a list").iter().enumerate() {
        let is_friend = n < 4;
        let expected = json!({ "viewerFollows": is_friend, "followsViewer": true, "isFriend": is_friend,
            "followerCount": i32::from(is_friend) });
        assert_eq!(node, &expected);
    }
    assert_eq!(kith.statements("LEFT JOIN follows") - relations, 1);
    assert_eq!(kith.statements("\"user_counters\".\"user_id\" = ANY") - counters, 1);
    kith.finish().await;
}

#[tokio::test]
async fn the_close_feed_shows_only_whom_one_follows_closely() {
    let kith = Kith::start().await;
    let people = kith.people(4).await;
    let (ada, ben, eve, me) = (&people[0], &people[1], &people[2], &people[3]);
    let set = "mutation($input: SetCloseFollowInput!) { setCloseFollow(input: $input) {
        user { viewerFollows viewerFollowsClosely } clientMutationId } }";
    let close = |person: &Person, is_close: bool| {
        me.query(set, json!({ "input": { "userId": person.id, "isClose": is_close, "clientMutationId": "c" } }))
    };
    let feed = async |arguments: &str| {
        let answer = me.query(&format!("{{ feed({arguments}) {{ nodes {{ content }} }} }}"), json!({})).await;
        answer
            .at("/feed/nodes")
            .as_array()
            .expect("a list")
            .iter()
            .map(|node| node["content"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(close(ada, true).await.code(), "NOT_FOUND", "who is not followed is not followed closely");
    for person in [ada, ben, eve] {
        me.follow(person).await;
    }
    for _ in 0..2 {
        let expected =
            json!({ "user": { "viewerFollows": true, "viewerFollowsClosely": true }, "clientMutationId": "c" });
        assert_eq!(close(ada, true).await.at("/setCloseFollow"), &expected);
    }
    close(ben, true).await.data();
    for (person, content) in [(ada, "1"), (eve, "2"), (me, "3"), (ben, "4"), (ada, "5")] {
        person.post(content).await;
    }
    for _ in 0..2 {
        assert_eq!(feed("filter: CLOSE").await, ["5", "4", "1"]);
        assert_eq!(feed("first: 9").await, ["5", "4", "3", "2", "1"]);
        kith.drain().await;
    }
    // Cursors of the one are none of the other.
    let cursor = me.query("{ feed(filter: CLOSE, first: 1) { pageInfo { endCursor hasNextPage } } }", json!({})).await;
    let cursor = cursor.text("/feed/pageInfo/endCursor");
    assert_eq!(feed(&format!("filter: CLOSE, after: \"{cursor}\"")).await, ["4", "1"]);
    let elsewhere = me.query(&format!("{{ feed(after: \"{cursor}\") {{ nodes {{ id }} }} }}"), json!({})).await;
    assert_eq!(elsewhere.code(), "BAD_CURSOR");
    close(ben, false).await.data();
    assert_eq!(feed("filter: CLOSE").await, ["5", "1"]);
    me.unfollow(ada).await;
    me.follow(ada).await;
    assert!(feed("filter: CLOSE").await.is_empty(), "following anew begins as ordinary");
    let signed_out = kith.anonymous().query(set, json!({ "input": { "userId": ada.id, "isClose": true } })).await;
    assert_eq!(signed_out.code(), "UNAUTHENTICATED");
    kith.drain().await;
    kith.finish().await;
}
