//! Serves the playground that `npm run build` left in `web-playground/dist`, out of the program itself.
//! Never anything from elsewhere: it works without the internet.

use actix_web::http::header::{self, ContentType};
use actix_web::{HttpResponse, web};
use rust_embed::{EmbeddedFile, RustEmbed};

#[derive(RustEmbed)]
#[folder = "web-playground/dist"]
#[allow_missing = true]
struct Files;

/// The page may run and load what this server serves, and nothing else. The editor needs the rest: Monaco
/// writes styles, keeps fonts and pictures in data addresses and starts its workers from blobs.
const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; object-src 'none'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HINT: &str = "Kith is running; its API is POST /graphql.\n\
    The playground was not built into this program: run script/playground, then build again.\n";

/// The page itself, or how to get it.
pub async fn page() -> HttpResponse {
    match Files::get("index.html") {
        // It names the other files by their hashes, so it is what has to be fresh.
        Some(file) => respond(file, "no-cache"),
        None => HttpResponse::Ok().content_type(ContentType::plaintext()).body(HINT),
    }
}

/// A file of the page; its name changes with its content.
pub async fn asset(path: web::Path<String>) -> HttpResponse {
    match Files::get(&format!("assets/{path}")) {
        Some(file) => respond(file, "public, max-age=31536000, immutable"),
        None => HttpResponse::NotFound().finish(),
    }
}

fn respond(file: EmbeddedFile, cache: &'static str) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(file.metadata.mimetype())
        .insert_header((header::CACHE_CONTROL, cache))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .body(file.data.into_owned())
}
