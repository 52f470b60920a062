//! Signed numbers, parsed exactly from their decimal text.

use orchestrion_kernel::network::Millionths;
use orchestrion_kernel::{Score, Weight};
use orchestrion_yaml::{LabeledError, inline_schema, parse_scalar};
use schemars::json_schema;
use serde::{Deserialize, Deserializer};

macro_rules! signed {
    ($($(#[$doc:meta])* $name:ident: $magnitude:ident, $max:literal, $example:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub Millionths);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                parse_scalar(deserializer, "invalid number", |text| {
                    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
                    let magnitude = $magnitude::from_decimal(digits).map_err(|_| {
                        LabeledError::new(
                            format!(
                                concat!("expected a decimal from -", $max, " to ", $max, ", found `{}`"),
                                text.escape_debug()
                            ),
                            concat!("write a number such as ", $example, ", with at most six places"),
                        )
                    })?;
                    let value = Millionths::from(magnitude);
                    Ok(Self(if is_negative { Millionths::ZERO - value } else { value }))
                })
            }
        }

        inline_schema!($name; _ => json_schema!({
            "type": ["number", "string"],
            "minimum": -$max,
            "maximum": $max,
            "pattern": "^-?[0-9]+(\\.[0-9]+)?$",
        }));
    )*};
}

signed! {
    /// A reciprocity, from −1000 to 1000.
    Reciprocity: Weight, 1000, "-1.5";
    /// A tone, from −1 to 1.
    Tone: Score, 1, "-0.5";
}
