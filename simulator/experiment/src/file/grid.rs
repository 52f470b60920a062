//! Settings that vary: lists and ranges of values.

use orchestrion_yaml::{Spanned, StrictText};
use schemars::JsonSchema;
use serde::Deserialize;

/// A setting that varies.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridFile {
    /// The setting, by its path in a policy file.
    pub setting: Spanned<StrictText>,
    /// The values: values separated by commas, and ranges with a step, such as `1..3`, `0.5..0.8:0.05` or `2, 4, unbounded`.
    pub values: Spanned<StrictText>,
}
