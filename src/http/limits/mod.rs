//! What a document may cost, found out before anything is executed: a scan of the text, so that parsing
//! cannot exhaust the stack, and one walk over the parsed document. Never who asks.

mod text;
mod document;

pub use document::check as check_document;
pub use text::check as check_text;
