//! Which media type a client sends and which it can read. Pure; never a status code.

use mime::Mime;

/// How a response is encoded; it decides on the status codes too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// application/graphql-response+json: the status code says how it went.
    GraphqlResponse,
    /// application/json: 200 for whatever a well-formed request leads to.
    Json,
}

impl Media {
    /// The value of Content-Type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
        }
    }

    fn subtype(self) -> &'static str {
        match self {
            Self::GraphqlResponse => "graphql-response+json",
            Self::Json => "json",
        }
    }
}

/// What to answer in, for the value of Accept; `None` if nothing that we have is acceptable.
///
/// Without Accept, and for `*/*`, that is application/json: who knows nothing of the newer type has to be
/// taken for a client that reads errors out of a 200.
pub fn negotiate(accept: Option<&str>) -> Option<Media> {
    let accept = accept.map(str::trim).filter(|accept| !accept.is_empty()).unwrap_or("*/*");
    let ranges: Vec<Range> = accept.split(',').enumerate().filter_map(|(at, text)| Range::parse(at, text)).collect();
    // Json comes last: of equals, `max_by` answers the last.
    [Media::GraphqlResponse, Media::Json]
        .into_iter()
        .filter_map(|media| {
            // The most specific range that covers a type is the one that counts for it.
            let range = ranges.iter().filter(|range| range.covers(media)).max_by_key(|range| range.specificity())?;
            (range.quality > 0.0).then_some((media, range))
        })
        .max_by(|(_, a), (_, b)| {
            let by_order = b.at.cmp(&a.at);
            a.quality.total_cmp(&b.quality).then(a.specificity().cmp(&b.specificity())).then(by_order)
        })
        .map(|(media, _)| media)
}

/// Whether a request with this Content-Type carries JSON in UTF-8. Whatever a browser would send for a
/// form, without asking first, does not.
pub fn is_json(content_type: &str) -> bool {
    let Ok(mime) = content_type.parse::<Mime>() else { return false };
    mime.essence_str() == "application/json" && speaks_utf8(&mime)
}

struct Range {
    mime: Mime,
    quality: f32,
    at: usize,
}

impl Range {
    fn parse(at: usize, text: &str) -> Option<Self> {
        let mime = text.trim().parse::<Mime>().ok()?;
        let quality = match mime.get_param("q") {
            Some(q) => q.as_str().parse().ok().filter(|q| (0.0..=1.0).contains(q))?,
            None => 1.0,
        };
        speaks_utf8(&mime).then_some(Self { mime, quality, at })
    }

    fn covers(&self, media: Media) -> bool {
        match (self.mime.type_().as_str(), self.mime.subtype().as_str(), self.mime.suffix()) {
            ("*", "*", None) | ("application", "*", None) => true,
            _ => self.mime.essence_str().strip_prefix("application/") == Some(media.subtype()),
        }
    }

    fn specificity(&self) -> u8 {
        match (self.mime.type_(), self.mime.subtype()) {
            (mime::STAR, _) => 0,
            (_, mime::STAR) => 1,
            _ => 2,
        }
    }
}

fn speaks_utf8(mime: &Mime) -> bool {
    mime.get_param(mime::CHARSET).is_none_or(|charset| charset.as_str().eq_ignore_ascii_case("utf-8"))
}

#[cfg(test)]
mod tests {
    use super::Media::{GraphqlResponse, Json};
    use super::*;

    #[test]
    fn accept_is_respected() {
        for (accept, media) in [
            ("application/graphql-response+json", Some(GraphqlResponse)),
            ("application/json", Some(Json)),
            ("APPLICATION/JSON; charset=UTF-8", Some(Json)),
            ("*/*", Some(Json)),
            ("application/*", Some(Json)),
            ("", Some(Json)),
            ("text/html, application/json;q=0.5, */*;q=0.1", Some(Json)),
            ("application/graphql-response+json, application/json", Some(GraphqlResponse)),
            ("application/json, application/graphql-response+json", Some(Json)),
            ("application/json;q=0.5, application/graphql-response+json", Some(GraphqlResponse)),
            ("application/json, application/graphql-response+json;q=0.9", Some(Json)),
            ("application/graphql-response+json, */*", Some(GraphqlResponse)),
            ("application/json;q=0, */*", Some(GraphqlResponse)),
            ("application/json;q=0", None),
            ("text/html", None),
            ("application/graphql+json", None),
            ("application/json; charset=latin1", None),
            ("application/json; q=2", None),
            ("nonsense", None),
        ] {
            assert_eq!(negotiate(Some(accept)), media, "{accept}");
        }
        assert_eq!(negotiate(None), Some(Json));
    }

    #[test]
    fn only_json_in_utf8_is_taken_in() {
        for good in ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\""] {
            assert!(is_json(good), "{good}");
        }
        for bad in ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "json"] {
            assert!(!is_json(bad), "{bad}");
        }
    }
}
