//! The values that a setting takes in turn: single values, and ranges of numbers.

/// The millionths of one.
const ONE: u64 = 1_000_000;

/// A list of values and ranges, such as `1..3, 0.5..0.8:0.05, unbounded`. The arithmetic of ranges is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueList(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    /// In the syntax of policy files.
    Value(String),
    Range(Range),
}

/// An inclusive range, in millionths. It omits the last number if no step meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u64,
    last: u64,
    /// Above 0.
    step: u64,
}

impl ValueList {
    /// Parses values and ranges, separated by commas. It does not check whether a setting accepts the values.
    ///
    /// # Errors
    /// A message and a help for an invalid range, or for text that cannot be a value of a policy file.
    pub fn parse(text: &str) -> Result<Self, (String, String)> {
        text.split(',').map(|entry| Entry::parse(entry.trim())).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the number of values, without making them.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(Entry::count).fold(0, u64::saturating_add)
    }

    /// Returns the values, as in a policy file.
    ///
    /// # Errors
    /// A message and a help for a repeated value.
    pub fn values(&self) -> Result<Vec<String>, (String, String)> {
        let mut values = Vec::new();
        for value in self.0.iter().flat_map(Entry::values) {
            if values.contains(&value) {
                return Err((format!("{value} is repeated"), "list each value once".to_owned()));
            }
            values.push(value);
        }
        Ok(values)
    }
}

/// Returns every combination of one value of each list; the last list varies fastest.
pub fn combinations<'a>(lists: impl IntoIterator<Item = &'a [String]>) -> Vec<Vec<String>> {
    lists.into_iter().fold(vec![Vec::new()], |all, list| {
        let extend = |prefix: &Vec<String>| {
            let with = |value: &String| prefix.iter().chain([value]).cloned().collect();
            list.iter().map(with).collect::<Vec<Vec<String>>>()
        };
        all.iter().flat_map(extend).collect()
    })
}

impl Entry {
    fn parse(text: &str) -> Result<Self, (String, String)> {
        if let Some((first, rest)) = text.split_once("..") {
            return Range::parse(text, first.trim(), rest.trim()).map(Self::Range);
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
        if text.is_empty() || !text.chars().all(is_plain) {
            return Err((
                format!("`{}` is not a value", text.escape_debug()),
                "write a value of a policy file, such as 3, 0.5, true or unbounded".to_owned(),
            ));
        }
        Ok(Self::Value(text.to_owned()))
    }

    const fn count(&self) -> u64 {
        match self {
            Self::Value(_) => 1,
            Self::Range(Range { first, last, step }) => (*last - *first) / *step + 1,
        }
    }

    fn values(&self) -> Vec<String> {
        match self {
            Self::Value(value) => vec![value.clone()],
            Self::Range(Range { first, step, .. }) => {
                (0..self.count()).map(|number| decimal(first + number * step)).collect()
            }
        }
    }
}

impl Range {
    /// Parses a range: of whole numbers, or with a step after a colon. `text` is the whole range.
    fn parse(text: &str, first: &str, rest: &str) -> Result<Self, (String, String)> {
        let text = text.escape_debug();
        let (last, step) = match rest.split_once(':') {
            Some((last, step)) => (last.trim(), Some(step.trim())),
            None => (rest, None),
        };
        let (Some(from), Some(to)) = (millionths(first), millionths(last)) else {
            return Err((
                format!("{text} is not a range"),
                "write two numbers of at most six decimals, such as 1..6 or 0.5..0.8:0.05; write other values as \
                 a list, such as true,false"
                    .to_owned(),
            ));
        };
        if from > to {
            let step = step.map_or_else(String::new, |step| format!(":{}", step.escape_debug()));
            return Err((
                format!("the range {text} is empty"),
                format!("did you mean {last}..{first}{step}?"),
            ));
        }
        let is_whole = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let by = match step.map(millionths) {
            Some(Some(0)) => {
                return Err((
                    format!("the step of {text} is 0"),
                    "write a step above 0, such as 0.05".to_owned(),
                ));
            }
            Some(Some(by)) => by,
            Some(None) => {
                return Err((
                    format!("the step of {text} is not a number of at most six decimals"),
                    "write a step after the colon, such as 0.05".to_owned(),
                ));
            }
            None if is_whole(first) && is_whole(last) => ONE,
            None => {
                return Err((
                    format!("the range {text} has no step"),
                    format!("add a step, such as {first}..{last}:0.05, or list the values: {first},{last}"),
                ));
            }
        };
        Ok(Self { first: from, last: to, step: by })
    }
}

/// Parses a decimal number of at most six decimals, in millionths.
fn millionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    // A policy file has no larger numbers.
    let whole: u32 = whole.parse().ok()?;
    Some(u64::from(whole) * ONE + fraction)
}

/// Prints millionths as the shortest decimal.
fn decimal(millionths: u64) -> String {
    let (whole, fraction) = (millionths / ONE, millionths % ONE);
    match fraction {
        0 => whole.to_string(),
        fraction => format!("{whole}.{}", format!("{fraction:06}").trim_end_matches('0')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let list = ValueList::parse(text).unwrap();
        let values = list.values().unwrap();
        assert_eq!(list.count(), values.len() as u64, "{text}");
        values
    }

    #[test]
    fn ranges_and_values_form_one_list() {
        assert_eq!(values("0..2, 5,unbounded"), ["0", "1", "2", "5", "unbounded"]);
        assert_eq!(values("0.5,0.6"), ["0.5", "0.6"]);
        assert_eq!(values("true,false"), ["true", "false"]);
    }

    #[test]
    fn ranges_with_steps_are_exact() {
        assert_eq!(values("0.5..0.8:0.05"), ["0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8"]);
        assert_eq!(values("0.1..0.3:0.1, 0.9"), ["0.1", "0.2", "0.3", "0.9"]);
        assert_eq!(values("0.5..0.8:0.2"), ["0.5", "0.7"]);
        assert_eq!(values("0.999998..1:0.000001"), ["0.999998", "0.999999", "1"]);
        assert_eq!(values("1..9:4"), ["1", "5", "9"]);
        assert_eq!(values("0.70..0.7:0.1"), ["0.7"]);
    }

    #[test]
    fn large_ranges_are_counted_without_their_values() {
        let count = |text| ValueList::parse(text).unwrap().count();
        assert_eq!(count("0..1:0.000001, 7"), 1_000_002);
        assert_eq!(count("0..4294967295:0.000001"), 4_294_967_295_000_001);
    }

    #[test]
    fn invalid_lists_are_refused_with_help() {
        let cases = [
            "",
            "1,,2",
            "x: y",
            "1\nrules: {}",
            "1,1",
            "1..2,2",
            "a..b",
            "1..",
            "0..4294967296",
            "6..1",
            "0.8..0.5:0.05",
            "0.8..0.5",
            "0.5..0.8",
            "0.5..0.8:",
            "0.5..0.8:0",
            "0.5..0.8:0.0000001",
        ];
        let mut text = String::new();
        for case in cases {
            let (message, help) = ValueList::parse(case).and_then(|list| list.values()).unwrap_err();
            text.push_str(&format!("{}\n  {message}\n  {help}\n", case.escape_debug()));
        }
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
    }
}
