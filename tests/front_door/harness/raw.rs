//! HTTP by hand, for what a well-behaved client does not send.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Client;

/// Sends these bytes to the server of `client` and answers all that comes back until it hangs up.
pub async fn raw(client: &Client, request: &str) -> String {
    let mut stream = TcpStream::connect(client.address()).await.expect("the server listens");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}
