//! Settings that vary: lists and ranges of values.

use orchestrion_kernel::Weight;
use orchestrion_yaml::{LabeledError, Spanned, StrictText};
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

/// The parts of a range, in millionths.
struct Range {
    first: u64,
    last: u64,
    step: u64,
}

impl Range {
    /// Parses `first..last` of whole numbers, or `first..last:step`.
    fn parse(text: &str) -> Option<Result<Self, LabeledError>> {
        let (first, rest) = text.split_once("..")?;
        let (last, step) = match rest.split_once(':') {
            Some((last, step)) => (last, Some(step)),
            None => (rest, None),
        };
        let number =
            |text: &str| Weight::from_decimal(text.trim()).ok().map(|weight| u64::from(weight.millionths()));
        let is_whole = |number: u64| number.is_multiple_of(1_000_000);
        let shown = text.escape_debug();
        let error = |problem: &str, help: &str| {
            Some(Err(LabeledError::new(format!("range `{shown}`: {problem}"), help.to_owned())))
        };
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return error(
                "expected two numbers from 0 to 1000",
                "write a range such as 1..3 or 0.5..0.8:0.05",
            );
        };
        let step = match step {
            Some(step) => number(step).filter(|step| *step > 0),
            None => (is_whole(first) && is_whole(last)).then_some(1_000_000),
        };
        let Some(step) = step else {
            return error(
                "expected a step of at least 0.000001",
                "write the step after a colon, as in 0.5..0.8:0.05",
            );
        };
        if first > last {
            return error(
                "expected a first number that is not above the last one",
                "exchange the two numbers",
            );
        }
        Some(Ok(Self { first, last, step }))
    }

    const fn len(&self) -> u64 {
        (self.last - self.first) / self.step + 1
    }
}

/// Returns the number of values of a text, without making them.
///
/// # Errors
/// [`LabeledError`] for an invalid range.
pub(crate) fn value_count(text: &str) -> Result<u64, LabeledError> {
    let count = |part: &str| Range::parse(part).map_or(Ok(1), |range| Ok(range?.len()));
    text.split(',').try_fold(0_u64, |sum, part| Ok(sum.saturating_add(count(part)?)))
}

/// Returns the values of a text, as in a policy file.
///
/// # Errors
/// [`LabeledError`] for an invalid range, an empty value, or a repeated value.
pub(crate) fn parse_values(text: &str) -> Result<Vec<String>, LabeledError> {
    let mut values: Vec<String> = Vec::new();
    for part in text.split(',').map(str::trim) {
        match Range::parse(part).transpose()? {
            Some(Range { first, last, step }) => {
                let numbers = (0..).map(|number| first + number * step).take_while(|number| *number <= last);
                values.extend(numbers.map(decimal));
            }
            None => {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
                if part.is_empty() || !part.chars().all(is_plain) {
                    return Err(LabeledError::new(
                        format!("value `{}`: expected a value of a policy file", part.escape_debug()),
                        "write values such as 3, 0.5, true or unbounded, separated by commas",
                    ));
                }
                values.push(part.to_owned());
            }
        }
    }
    let repeated = (1..values.len()).find(|at| {
        values.get(..*at).is_some_and(|earlier| values.get(*at).is_some_and(|value| earlier.contains(value)))
    });
    match repeated.and_then(|at| values.get(at)) {
        Some(value) => Err(LabeledError::new(format!("value {value} is repeated"), "write each value once")),
        None => Ok(values),
    }
}

/// Prints millionths as the shortest decimal.
fn decimal(millionths: u64) -> String {
    let (whole, rest) = (millionths / 1_000_000, millionths % 1_000_000);
    match rest {
        0 => whole.to_string(),
        rest => format!("{whole}.{}", format!("{rest:06}").trim_end_matches('0')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_exact_and_inclusive() {
        assert_eq!(parse_values("0.5..0.65:0.05").unwrap(), ["0.5", "0.55", "0.6", "0.65"]);
        assert_eq!(parse_values("1..3, 5,unbounded").unwrap(), ["1", "2", "3", "5", "unbounded"]);
        assert_eq!(parse_values("0.1..0.35:0.1").unwrap(), ["0.1", "0.2", "0.3"]);
        assert_eq!(value_count("0..1:0.000001, 7").unwrap(), 1_000_002);
    }

    #[test]
    fn invalid_values_are_refused_with_help() {
        let cases = ["0.5..0.8", "3..1", "1..2:0", "a..b", "0..2000", "1,,2", "1,1", "1..2,2", "x: y"];
        let lines = cases.map(|case| format!("{case}\n  {:?}", parse_values(case).unwrap_err()));
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(lines.join("\n")) });
    }
}
