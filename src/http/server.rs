//! The HTTP server and its routes, made in one place for the program and for the tests.

use std::net::TcpListener;
use std::sync::Arc;

use actix_cors::Cors;
use actix_web::dev::Server;
use actix_web::http::header;
use actix_web::middleware::{Compress, DefaultHeaders, from_fn};
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{App as Routes, HttpServer};
use tracing_actix_web::TracingLogger;

use crate::app::App;
use crate::config::Origins;
use crate::graphql::schema;
use crate::http::{graphql, health, metrics, playground, trace};

/// How long a browser may remember what the API allows its origin, in seconds.
const CORS_MAX_AGE: usize = 3600;

/// Starts to serve `app` on `listener`. It runs once the answer is awaited or spawned, and does not listen
/// to signals: stop it by its handle.
///
/// Errors: those of the operating system.
pub fn start(app: Arc<App>, listener: TcpListener) -> std::io::Result<Server> {
    let schema = Data::new(schema::build());
    let (threads, grace) = (app.config.http_threads, app.config.request_timeout.as_secs());
    let app = Data::new(app);
    let make = move || {
        Routes::new()
            .app_data(app.clone())
            .app_data(schema.clone())
            .wrap(from_fn(trace::name_in_response))
            .wrap(TracingLogger::<trace::Trace>::new())
            .configure(|routes| route(routes, &app.config.allowed_origins))
    };
    let server = HttpServer::new(make).disable_signals().shutdown_timeout(grace);
    let server = if threads > 0 { server.workers(threads) } else { server };
    Ok(server.listen(listener)?.run())
}

/// Starts to serve what operators ask on `listener`, and nothing else: strangers are told no numbers. It goes on while
/// `app` ends, until it is stopped. What is asked here is neither logged nor counted.
///
/// Errors: those of the operating system.
pub fn start_ops(app: Arc<App>, listener: TcpListener) -> std::io::Result<Server> {
    let app = Data::new(app);
    let make =
        move || Routes::new().app_data(app.clone()).route("/metrics", web::get().to(metrics::scrape)).configure(health);
    Ok(HttpServer::new(make).disable_signals().workers(1).shutdown_timeout(1).listen(listener)?.run())
}

fn health(routes: &mut ServiceConfig) {
    routes.route("/healthz", web::get().to(health::alive)).route("/readyz", web::get().to(health::ready));
}

fn route(routes: &mut ServiceConfig, origins: &Origins) {
    let plain = || DefaultHeaders::new().add((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    routes
        .service(web::resource("/graphql").wrap(cors(origins)).wrap(plain()).default_service(web::to(graphql::handle)))
        .configure(health)
        .service(
            web::scope("")
                .wrap(Compress::default())
                .wrap(plain())
                .route("/", web::get().to(playground::page))
                .route("/assets/{path:.*}", web::get().to(playground::asset)),
        );
}

/// Tokens are sent by programs and never by a browser itself, so any origin can be allowed without risk to
/// who is signed in; which ones are is the operator's choice.
fn cors(origins: &Origins) -> Cors {
    let cors = Cors::default()
        .allowed_methods(["GET", "POST"])
        .allowed_headers([header::ACCEPT, header::AUTHORIZATION, header::CONTENT_TYPE, trace::REQUEST_ID])
        .expose_headers([trace::REQUEST_ID])
        .max_age(CORS_MAX_AGE)
        .block_on_origin_mismatch(false);
    match origins {
        Origins::Any => cors.allow_any_origin().send_wildcard(),
        Origins::Listed(listed) => listed.iter().fold(cors, |cors, origin| cors.allowed_origin(origin)),
    }
}
