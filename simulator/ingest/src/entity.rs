//! Entities of keys: the part of a key that versions and corrections share.

use crate::pattern::compile;
use regex::Regex;
use std::sync::LazyLock;

/// Returns a key in lowercase with `_` between its words: `Roof-V2` and `roofV2` become `roof_v2`.
#[must_use]
pub fn normalize_key(key: &str) -> String {
    let (mut normalized, mut was_lowercase) = (String::new(), false);
    for c in key.chars() {
        if c.is_uppercase() && was_lowercase {
            normalized.push('_');
        }
        was_lowercase = c.is_lowercase() || c.is_ascii_digit();
        normalized.extend(if c == '-' { '_' } else { c }.to_lowercase());
    }
    normalized
}

/// Returns the entity of a key: the normalized key without version, correction, or the letter of an alternative.
#[must_use]
pub fn entity_of_key(key: &str) -> String {
    static SUFFIX: LazyLock<Regex> = LazyLock::new(|| compile(r"(_v\d+|_corrected|_updated|_new|_[a-z])$"));
    SUFFIX.replace(&normalize_key(key), "").into_owned()
}

/// Returns the entity of a key with the letter of an alternative: `order_a` and `order_b` differ.
#[must_use]
pub fn alternative_of_key(key: &str) -> String {
    static SUFFIX: LazyLock<Regex> = LazyLock::new(|| compile(r"(_v\d+|_corrected|_updated|_new)$"));
    SUFFIX.replace(&normalize_key(key), "").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_every_style_share_an_entity() {
        for key in ["roof_v1", "roof-v2", "roofV3", "ROOF_V4", "roofUpdated", "roof_corrected", "roof_a"] {
            assert_eq!(entity_of_key(key), "roof", "{key}");
        }
        assert_eq!(
            (alternative_of_key("order-a"), alternative_of_key("roof_v2")),
            ("order_a".into(), "roof".into())
        );
    }
}
