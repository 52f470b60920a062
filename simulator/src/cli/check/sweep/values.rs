//! What `--sweep` says: a setting, and the values that it is to have.

use miette::{Result, miette};
use orchestrion_report::show::sanitize;
use orchestrion_scenario::policy_file::setting;

/// The most combinations that one sweep may have.
const COMBINATIONS_MAX: usize = 100;

/// A setting, and the values that it is to have one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Sweep {
    /// Its path in a policy file.
    pub(super) path: String,
    /// As a policy file has them.
    pub(super) values: Vec<String>,
}

impl Sweep {
    /// The last part of its path.
    pub(super) fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// Reads what was asked for, each as `SETTING=VALUES`.
///
/// # Errors
/// What cannot be read, names no setting or one twice, or is too much.
pub(in super::super) fn read(asked: &[String]) -> Result<Vec<Sweep>> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    let mut combinations = 1_usize;
    for text in asked {
        let sweep = sweep(text)?;
        if sweeps.iter().any(|other| other.path == sweep.path) {
            return Err(miette!(
                help = "give all of its values in one --sweep, with commas between them",
                "{} is swept twice",
                sweep.path
            ));
        }
        combinations = combinations.saturating_mul(sweep.values.len());
        sweeps.push(sweep);
    }
    if combinations > COMBINATIONS_MAX {
        return Err(miette!(
            help = "sweep fewer settings at once, or fewer values",
            "the sweeps have {combinations} combinations; at most {COMBINATIONS_MAX} are checked at once"
        ));
    }
    Ok(sweeps)
}

fn sweep(text: &str) -> Result<Sweep> {
    let Some((named, values)) = text.split_once('=') else {
        return Err(miette!(
            help = "write a setting and its values, such as passes=1..6 or proceed_from=0.5,0.6",
            "--sweep {} has no `=`",
            sanitize(text)
        ));
    };
    let path = setting(named.trim())
        .map_err(|(message, help)| miette!(help = help, "--sweep: {}", sanitize(&message)))?;
    let mut all = Vec::new();
    for value in values.split(',').map(str::trim) {
        match value.split_once("..") {
            Some((first, last)) => all.extend(range(&path, value, first, last)?),
            None => all.push(plain(&path, value)?),
        }
    }
    if let Some(twice) = (1..all.len()).find(|i| all[..*i].contains(&all[*i])) {
        return Err(miette!(help = "give each value once", "--sweep {path}: {} is there twice", all[twice]));
    }
    Ok(Sweep { path, values: all })
}

/// The whole numbers of a range, both ends included.
fn range(path: &str, range: &str, first: &str, last: &str) -> Result<Vec<String>> {
    let shown = sanitize(range);
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let (Some(first), Some(last)): (Option<u32>, Option<u32>) = (number(first), number(last)) else {
        return Err(miette!(
            help = "a range goes from one whole number to another, such as 1..6; write other values as a list, such as 0.5,0.6",
            "--sweep {path}: {shown} is no range"
        ));
    };
    if first > last {
        return Err(miette!(
            help = format!("did you mean {last}..{first}?"),
            "--sweep {path}: the range {shown} is empty"
        ));
    }
    if (last - first) as usize >= COMBINATIONS_MAX {
        return Err(miette!(
            help = "give a shorter range",
            "--sweep {path}: {shown} has more than {COMBINATIONS_MAX} values, and no more are checked at once"
        ));
    }
    Ok((first..=last).map(|number| number.to_string()).collect())
}

/// One value, which is looked at more closely once it stands in a policy.
fn plain(path: &str, value: &str) -> Result<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    if value.is_empty() || !value.chars().all(is_plain) {
        return Err(miette!(
            help = "write values as a policy file has them: 3, 0.5, true, unbounded",
            "--sweep {path}: `{}` is no value",
            sanitize(value)
        ));
    }
    Ok(value.to_owned())
}

/// Every combination of values, the last setting changing fastest.
pub(super) fn combinations(sweeps: &[Sweep]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for sweep in sweeps {
        let longer = |begun: &Vec<(String, String)>| {
            let begun = begun.clone();
            let with = move |value: &String| {
                let next = (sweep.path.clone(), value.clone());
                begun.iter().cloned().chain([next]).collect()
            };
            sweep.values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        sweep(text).unwrap().values
    }

    #[test]
    fn a_setting_has_several_names() {
        for name in ["bounds.passes", "passes", "max_passes"] {
            let sweep = sweep(&format!("{name}=1..3")).unwrap();
            assert_eq!((&sweep.path[..], sweep.values.len()), ("bounds.passes", 3), "{name}");
        }
        assert!(sweep("max_veto_from=1").is_err());
    }

    #[test]
    fn ranges_and_values_make_one_list() {
        assert_eq!(values("repairs=0..2, 5,unbounded"), ["0", "1", "2", "5", "unbounded"]);
        assert_eq!(values("proceed_from=0.5,0.6"), ["0.5", "0.6"]);
        assert_eq!(values("rules.cancel=true,false"), ["true", "false"]);
    }

    #[test]
    fn combinations_are_every_value_with_every_other() {
        let asked = ["passes=1..2", "cancel=true,false"].map(String::from);
        let all = combinations(&read(&asked).unwrap());
        let values: Vec<String> = all
            .iter()
            .map(|of| of.iter().map(|(_, value)| &value[..]).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(values, ["1 true", "1 false", "2 true", "2 false"]);
    }

    #[test]
    fn what_cannot_be_swept_is_said_with_what_to_do() {
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
            let asked: Vec<String> = case.iter().map(ToString::to_string).collect();
            let error = read(&asked).unwrap_err();
            let help = error.help().map(|help| help.to_string()).unwrap_or_default();
            text.push_str(&format!("{}\n  {error}\n  {help}\n", case.join(" ").escape_debug()));
        }
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
    }
}
