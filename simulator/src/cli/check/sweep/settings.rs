//! Argument of `--sweep`: a setting and its values.

use miette::{Result, miette};
use orchestrion_report::text::{grouped, sanitize};
use orchestrion_scenario::policy_file::setting;

/// Combinations of one sweep.
const COMBINATIONS_MAX: u128 = 10_000;

/// A setting and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Sweep {
    /// Path of the setting in a policy file.
    pub(super) path: String,
    /// Values in the syntax of policy files.
    pub(super) values: Vec<String>,
}

impl Sweep {
    /// Returns the last part of the path.
    pub(super) fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// Parses the arguments, each `SETTING=VALUES`.
///
/// # Errors
/// An invalid argument, an unknown or repeated setting, or too many combinations.
pub(in super::super) fn parse(arguments: &[String]) -> Result<Vec<Sweep>> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    let mut combinations = 1_u128;
    for text in arguments {
        let sweep = parse_sweep(text)?;
        if sweeps.iter().any(|other| other.path == sweep.path) {
            return Err(miette!(
                help = "list all of its values in one --sweep, separated by commas",
                "{} is swept twice",
                sweep.path
            ));
        }
        combinations = combinations.saturating_mul(sweep.values.len() as u128);
        sweeps.push(sweep);
    }
    if combinations > COMBINATIONS_MAX {
        return Err(miette!(
            help = "sweep fewer settings or fewer values",
            "too many combinations: expected at most {}, found {}",
            grouped_wide(COMBINATIONS_MAX),
            grouped_wide(combinations)
        ));
    }
    Ok(sweeps)
}

fn parse_sweep(text: &str) -> Result<Sweep> {
    let Some((name, values)) = text.split_once('=') else {
        return Err(miette!(
            help = "expected a setting and its values, such as passes=1..6 or proceed_from=0.5,0.6",
            "--sweep {} has no `=`",
            sanitize(text)
        ));
    };
    let path = setting(name.trim())
        .map_err(|(message, help)| miette!(help = help, "--sweep: {}", sanitize(&message)))?;
    let mut all = Vec::new();
    for value in values.split(',').map(str::trim) {
        match value.split_once("..") {
            Some((first, last)) => all.extend(parse_range(&path, value, first, last)?),
            None => all.push(parse_value(&path, value)?),
        }
    }
    if let Some(repeated) = (1..all.len()).find(|i| all[..*i].contains(&all[*i])) {
        return Err(miette!(help = "list each value once", "--sweep {path}: {} is repeated", all[repeated]));
    }
    Ok(Sweep { path, values: all })
}

/// Parses an inclusive range: of whole numbers, or with a step. The arithmetic is exact, in millionths.
fn parse_range(path: &str, range: &str, first: &str, last: &str) -> Result<Vec<String>> {
    let text = sanitize(range);
    let (last, step) = match last.split_once(':') {
        Some((last, step)) => (last.trim(), Some(step.trim())),
        None => (last.trim(), None),
    };
    let first = first.trim();
    let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (Some(from), Some(to)) = (millionths(first), millionths(last)) else {
        return Err(miette!(
            help = "a range has two numbers of at most six decimals, such as 1..6 or 0.5..0.8:0.05; write other values as a \
                    list, such as true,false",
            "--sweep {path}: {text} is not a range"
        ));
    };
    let step = match step {
        Some(step) => millionths(step).ok_or_else(|| {
            miette!(
                help = "the step is a number of at most six decimals, such as 0.05",
                "--sweep {path}: {text} has no step after `:`"
            )
        })?,
        None if is_whole(first) && is_whole(last) => MILLION,
        None => {
            return Err(miette!(
                help =
                    format!("add a step, such as {first}..{last}:0.05, or list the values: {first},{last}"),
                "--sweep {path}: the range {text} has no step"
            ));
        }
    };
    if step == 0 {
        return Err(miette!(
            help = "write a step above 0, such as 0.05",
            "--sweep {path}: the step of {text} is 0"
        ));
    }
    if from > to {
        let suffix = range.split_once(':').map_or("", |(_, step)| step);
        let suffix = if suffix.is_empty() { String::new() } else { format!(":{}", sanitize(suffix)) };
        return Err(miette!(
            help = format!("did you mean {last}..{first}{suffix}?"),
            "--sweep {path}: the range {text} is empty"
        ));
    }
    let values = u128::from((to - from) / step) + 1;
    if values > COMBINATIONS_MAX {
        return Err(miette!(
            help = "use a shorter range or a larger step",
            "--sweep {path}: too many values of {text}: expected at most {}, found {}",
            grouped_wide(COMBINATIONS_MAX),
            grouped_wide(values)
        ));
    }
    Ok((0..).map(|at| from + at * step).take_while(|value| *value <= to).map(decimal).collect())
}

const MILLION: u64 = 1_000_000;

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
    Some(u64::from(whole) * MILLION + fraction)
}

/// Writes millionths as a decimal number without trailing zeros.
fn decimal(millionths: u64) -> String {
    let (whole, fraction) = (millionths / MILLION, millionths % MILLION);
    if fraction == 0 {
        return whole.to_string();
    }
    format!("{whole}.{}", format!("{fraction:06}").trim_end_matches('0'))
}

/// Writes a number with separators between thousands.
fn grouped_wide(number: u128) -> String {
    match u64::try_from(number) {
        Ok(number) => grouped(number),
        Err(_) => format!("more than {}", grouped(u64::MAX)),
    }
}

/// Parses one value; the policy file validates it further.
fn parse_value(path: &str, value: &str) -> Result<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    if value.is_empty() || !value.chars().all(is_plain) {
        return Err(miette!(
            help = "expected a value of a policy file, such as 3, 0.5, true or unbounded",
            "--sweep {path}: `{}` is not a value",
            sanitize(value)
        ));
    }
    Ok(value.to_owned())
}

/// Returns every combination of values; the last setting varies fastest.
pub(super) fn combinations(sweeps: &[Sweep]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for sweep in sweeps {
        let extend = |prefix: &Vec<(String, String)>| {
            let prefix = prefix.clone();
            let with = move |value: &String| {
                let next = (sweep.path.clone(), value.clone());
                prefix.iter().cloned().chain([next]).collect()
            };
            sweep.values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        parse_sweep(text).unwrap().values
    }

    #[test]
    fn setting_accepts_path_and_short_names() {
        for name in ["bounds.passes", "passes", "max_passes"] {
            let sweep = parse_sweep(&format!("{name}=1..3")).unwrap();
            assert_eq!((&sweep.path[..], sweep.values.len()), ("bounds.passes", 3), "{name}");
        }
        assert!(parse_sweep("max_veto_from=1").is_err());
    }

    #[test]
    fn ranges_and_values_form_one_list() {
        assert_eq!(values("repairs=0..2, 5,unbounded"), ["0", "1", "2", "5", "unbounded"]);
        assert_eq!(values("proceed_from=0.5,0.6"), ["0.5", "0.6"]);
        assert_eq!(values("rules.cancel=true,false"), ["true", "false"]);
    }

    #[test]
    fn ranges_with_steps_are_exact() {
        assert_eq!(values("veto_from=0.5..0.8:0.05"), ["0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8"]);
        assert_eq!(values("veto_from=0.1..0.3:0.1, 0.9"), ["0.1", "0.2", "0.3", "0.9"]);
        // The end is left out if no step meets it.
        assert_eq!(values("veto_from=0.5..0.8:0.2"), ["0.5", "0.7"]);
        assert_eq!(values("veto_from=0.999998..1:0.000001"), ["0.999998", "0.999999", "1"]);
        assert_eq!(values("passes=1..9:4"), ["1", "5", "9"]);
        assert_eq!(values("veto_from=0.70..0.7:0.1"), ["0.7"]);
    }

    #[test]
    fn combinations_are_the_cartesian_product() {
        let arguments = ["passes=1..2", "cancel=true,false"].map(String::from);
        let all = combinations(&parse(&arguments).unwrap());
        let values: Vec<String> = all
            .iter()
            .map(|of| of.iter().map(|(_, value)| &value[..]).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(values, ["1 true", "1 false", "2 true", "2 false"]);
    }

    #[test]
    fn invalid_sweeps_are_refused_with_help() {
        let cases: [&[&str]; 18] = [
            &["passes"],
            &["pases=1..2"],
            &["bounds.pass=1"],
            &["passes=6..1"],
            &["passes=1..x"],
            &["proceed_from=0.5..0.7"],
            &["passes=0..4000000000"],
            &["passes="],
            &["passes=1,1"],
            &["passes=1\nrules: {}"],
            &["passes=1..2", "max_passes=3"],
            &["passes=1..110", "repairs=0..109"],
            &["veto_from=0.8..0.5:0.05"],
            &["veto_from=0.5..0.8:0"],
            &["veto_from=0.5..0.8:"],
            &["veto_from=0.5..0.8:0.0000001"],
            &["veto_from=0..1:0.000001"],
            &["passes=0..4000000000", "repairs=1..4000000000", "tasks=1..4000000000"],
        ];
        let mut text = String::new();
        for case in cases {
            let arguments: Vec<String> = case.iter().map(ToString::to_string).collect();
            let error = parse(&arguments).unwrap_err();
            let help = error.help().map(|help| help.to_string()).unwrap_or_default();
            text.push_str(&format!("{}\n  {error}\n  {help}\n", case.join(" ").escape_debug()));
        }
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
    }
}
