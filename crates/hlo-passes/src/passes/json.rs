//! JSON files of users: an object that says the same thing twice is refused, not half read.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

/// Reads a file.
///
/// # Errors
/// It is no JSON, or an object has a key twice; with the line and column.
pub(crate) fn parse(bytes: &[u8]) -> Result<Json, serde_json::Error> {
    serde_json::from_slice::<Unique>(bytes)?;
    serde_json::from_slice(bytes)
}

/// Anything in which no object has a key twice.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<Unique>()?;
            if let Some(key) = seen.replace(key) {
                return Err(A::Error::custom(format!("`{key}` is there twice")));
            }
        }
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Unique, A::Error> {
        while list.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_there_once() {
        for text in [
            "{}",
            "[]",
            "null",
            "true",
            "-1",
            "1.5",
            "18446744073709551615",
            "\"a\"",
            "{\"a\": {\"a\": [1, {}]}}",
        ] {
            let parsed = parse(text.as_bytes()).map(|json| json.to_string());
            assert_eq!(parsed.expect("it is JSON").replace(' ', ""), text.replace(' ', ""));
        }
        for (text, message) in [
            ("{\"a\": 1, \"b\": 2, \"a\": 1}", "`a` is there twice at line 1 column 24"),
            ("[{\"x\": {\"y\": 1,\n\"y\": 2}}]", "`y` is there twice at line 2 column 7"),
            ("{", "EOF while parsing an object at line 1 column 1"),
        ] {
            assert_eq!(parse(text.as_bytes()).expect_err(text).to_string(), message);
        }
        let deep = "[".repeat(100_000);
        assert!(parse(deep.as_bytes()).is_err());
    }
}
