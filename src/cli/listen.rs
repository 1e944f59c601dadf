//! Binds the addresses that a process listens on, and says what is wrong with one in a sentence.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::ServerHandle;

use crate::app::App;
use crate::cli::start::Outcome;
use crate::http::server;

/// Binds `addr`, which `variable` holds.
pub fn bind(addr: &str, variable: &str) -> Outcome<TcpListener> {
    TcpListener::bind(addr).map_err(|error| {
        let remedy = match error.kind() {
            ErrorKind::AddrInUse => "another process listens there: end it, or choose another port",
            ErrorKind::AddrNotAvailable => "the address is none of this machine's: choose one, or 0.0.0.0 for all",
            ErrorKind::PermissionDenied => "ports below 1024 need a privilege: choose another port",
            _ => "the name of the host is not known, or its address not ours: choose an address such as 127.0.0.1",
        };
        format!("cannot listen on {addr} ({variable}): {remedy} ({error})")
    })
}

/// Serves what operators ask, if there is an address for it, until the handle is told to stop.
pub fn ops(app: &Arc<App>) -> Outcome<Option<ServerHandle>> {
    let Some(addr) = &app.config.ops_addr else { return Ok(None) };
    let listener = bind(addr, "KITH_OPS_ADDR")?;
    let server =
        server::start_ops(app.clone(), listener).map_err(|error| format!("cannot serve on {addr}: {error}"))?;
    let handle = server.handle();
    tokio::spawn(server);
    tracing::info!("metrics and health on http://{addr}");
    Ok(Some(handle))
}
