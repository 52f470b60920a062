//! Argument of `--sweep`: a setting and its values.

use miette::{Result, miette};
use orchestrion_report::text::{grouped, sanitize};
use orchestrion_scenario::policy_file::{ValueList, combinations, setting};

/// The maximum number of combinations of one run.
const COMBINATIONS_MAX: u64 = 10_000;

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
    let mut combinations = 1_u64;
    for text in arguments {
        let sweep = parse_sweep(text)?;
        if sweeps.iter().any(|other| other.path == sweep.path) {
            return Err(miette!(
                help = "list all of its values in one --sweep, separated by commas",
                "{} is swept twice",
                sweep.path
            ));
        }
        // Each list is limited, so the product fits.
        combinations *= sweep.values.len() as u64;
        if combinations > COMBINATIONS_MAX {
            return Err(miette!(
                help = "sweep fewer settings or fewer values",
                "too many combinations: expected at most {}, found at least {}",
                grouped(COMBINATIONS_MAX),
                grouped(combinations)
            ));
        }
        sweeps.push(sweep);
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
    let refused =
        |(message, help): (String, String)| miette!(help = help, "--sweep {path}: {}", sanitize(&message));
    let list = ValueList::parse(values).map_err(refused)?;
    if list.count() > COMBINATIONS_MAX {
        return Err(miette!(
            help = "use shorter ranges or larger steps",
            "--sweep {path}: too many values: expected at most {}, found {}",
            grouped(COMBINATIONS_MAX),
            grouped(list.count())
        ));
    }
    let values = list.values().map_err(refused)?;
    Ok(Sweep { path, values })
}

/// Returns the settings of every combination of values; the last setting varies fastest.
pub(super) fn combined_settings(sweeps: &[Sweep]) -> Vec<Vec<(String, String)>> {
    let with_paths =
        |values: Vec<String>| sweeps.iter().map(|sweep| sweep.path.clone()).zip(values).collect();
    let lists = sweeps.iter().map(|sweep| sweep.values.as_slice());
    combinations(lists).into_iter().map(with_paths).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_accepts_path_and_short_names() {
        for name in ["bounds.passes", "passes", "max_passes"] {
            let sweep = parse_sweep(&format!("{name}=1..3")).unwrap();
            assert_eq!((&sweep.path[..], sweep.values.len()), ("bounds.passes", 3), "{name}");
        }
        assert!(parse_sweep("max_veto_from=1").is_err());
    }

    #[test]
    fn combinations_are_the_cartesian_product() {
        let arguments = ["passes=1..2", "cancel=true,false"].map(String::from);
        let all = combined_settings(&parse(&arguments).unwrap());
        let values: Vec<String> = all
            .iter()
            .map(|of| of.iter().map(|(_, value)| &value[..]).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(values, ["1 true", "1 false", "2 true", "2 false"]);
    }

    #[test]
    fn invalid_sweeps_are_refused_with_help() {
        let cases: [&[&str]; 11] = [
            &["passes"],
            &["pases=1..2"],
            &["bounds.pass=1"],
            &["passes=6..1"],
            &["passes=0..4000000000"],
            &["passes=1,1"],
            &["passes=1\nrules: {}"],
            &["passes=1..2", "max_passes=3"],
            &["passes=1..110", "repairs=0..109"],
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
