//! The settings that are lists: origins and channels. Never what they are used for.

use std::str::FromStr;

use url::Url;

/// Whose web pages may call the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Everybody's.
    Any,
    /// Those of these origins, as browsers write them.
    Listed(Vec<String>),
}

impl FromStr for Origins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "*" {
            return Ok(Self::Any);
        }
        let mut listed = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match Url::parse(part) {
                Ok(url) if url.origin().is_tuple() && url.origin().ascii_serialization() == part => {
                    listed.push(part.to_owned());
                }
                _ => return Err(format!("{part:?} is no origin: write https://host or https://host:port")),
            }
        }
        Ok(Self::Listed(listed))
    }
}

/// The operator's list of channels, `default` first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels(Vec<String>);

impl Channels {
    /// Whether messages can be posted to `channel` and its feed be read.
    pub fn contains(&self, channel: &str) -> bool {
        self.0.iter().any(|known| known == channel)
    }

    /// The names, `default` first.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl FromStr for Channels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = vec!["default".to_owned()];
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
            if name.len() > 32 || !name.chars().all(fits) {
                return Err(format!("{name:?} is no channel name: 1 to 32 of a-z, 0-9, _ and -"));
            }
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        Ok(Self(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        assert_eq!("*".parse(), Ok(Origins::Any));
        assert_eq!("".parse(), Ok(Origins::Listed(vec![])));
        let listed = Origins::Listed(vec!["https://a.example".into(), "http://localhost:5173".into()]);
        assert_eq!("https://a.example, http://localhost:5173".parse(), Ok(listed));
        for bad in
            ["a.example", "https://a.example/", "https://a.example/x", "https://a.example:443", "*,https://a.example"]
        {
            assert!(bad.parse::<Origins>().is_err(), "{bad}");
        }
    }

    #[test]
    fn default_is_always_a_channel() {
        assert_eq!("work, play,work".parse::<Channels>().expect("valid").names(), ["default", "work", "play"]);
        for bad in ["Work", "a b", "ü", &"x".repeat(33)] {
            assert!(bad.parse::<Channels>().is_err(), "{bad}");
        }
    }
}
