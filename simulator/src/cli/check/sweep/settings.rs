//! Argument of `--sweep`: a setting and its values.

use miette::{Result, miette};
use orchestrion_report::text::sanitize;
use orchestrion_scenario::policy_file::setting;

/// Combinations of one sweep.
const COMBINATIONS_MAX: usize = 100;

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
    let mut combinations = 1_usize;
    for text in arguments {
        let sweep = parse_sweep(text)?;
        if sweeps.iter().any(|other| other.path == sweep.path) {
            return Err(miette!(
                help = "list all of its values in one --sweep, separated by commas",
                "{} is swept twice",
                sweep.path
            ));
        }
        combinations = combinations.saturating_mul(sweep.values.len());
        sweeps.push(sweep);
    }
    if combinations > COMBINATIONS_MAX {
        return Err(miette!(
            help = "sweep fewer settings or fewer values",
            "too many combinations: expected at most {COMBINATIONS_MAX}, found {combinations}"
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

/// Parses an inclusive range of whole numbers.
fn parse_range(path: &str, range: &str, first: &str, last: &str) -> Result<Vec<String>> {
    let text = sanitize(range);
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let (Some(first), Some(last)): (Option<u32>, Option<u32>) = (number(first), number(last)) else {
        return Err(miette!(
            help =
                "a range has two whole numbers, such as 1..6; write other values as a list, such as 0.5,0.6",
            "--sweep {path}: {text} is not a range"
        ));
    };
    if first > last {
        return Err(miette!(
            help = format!("did you mean {last}..{first}?"),
            "--sweep {path}: the range {text} is empty"
        ));
    }
    if (last - first) as usize >= COMBINATIONS_MAX {
        return Err(miette!(
            help = "use a shorter range",
            "--sweep {path}: {text} has more than {COMBINATIONS_MAX} values"
        ));
    }
    Ok((first..=last).map(|number| number.to_string()).collect())
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
        let cases: [&[&str]; 12] = [
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
            &["passes=1..11", "repairs=0..9"],
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
