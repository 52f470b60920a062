//! Options that have no effect without another one.
//!
//! `requires` of clap accepts an option without the required one if an argument that is present conflicts with the required one: then
//! the option would be ignored.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error};

/// Command, option, and the option that it needs.
const NEEDED: [(&str, &str, &str); 14] = [
    ("check", "shard", "mutants"),
    ("check", "checkpoint_states", "checkpoint"),
    ("check", "runs", "simulate"),
    ("check", "depth", "simulate"),
    ("check", "seed", "simulate"),
    ("explore exact", "storm", "prism"),
    ("replay", "yes", "update"),
    ("run", "journal", "stdio"),
    ("run", "journals", "stdio"),
    ("run", "keys", "stdio"),
    ("run", "acknowledged_step", "journal"),
    ("run", "timeout", "cross_check"),
    ("run", "jobs", "runs"),
    ("show", "redact_equality", "redact"),
];

/// Refuses an option without the one that it needs.
pub(super) fn check(matches: &ArgMatches, command: &mut Command) -> Result<(), Error> {
    let (mut path, mut matches) = (Vec::new(), matches);
    while let Some((name, inner)) = matches.subcommand() {
        path.push(name);
        matches = inner;
    }
    let path = path.join(" ");
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let is_unmet =
        |(of, option, needed): &&(&str, &str, &str)| *of == path && is_given(option) && !is_given(needed);
    match NEEDED.iter().find(is_unmet) {
        None => Ok(()),
        Some((_, option, needed)) => {
            let [option, needed] = [option, needed].map(|id| id.replace('_', "-"));
            let message = format!("--{option} needs --{needed}");
            Err(command.error(ErrorKind::MissingRequiredArgument, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::{CommandFactory as _, FromArgMatches as _};

    fn parse(arguments: &str) -> Result<(), Error> {
        let matches = Cli::command().try_get_matches_from(arguments.split(' '))?;
        Cli::from_arg_matches(&matches)?;
        check(&matches, &mut Cli::command())
    }

    #[test]
    fn option_without_the_needed_one_is_refused() {
        for arguments in [
            "run a.yaml --journal j.ndjson",
            "run a.yaml --journals folder",
            "run --check --keys folder",
            "run --check --timeout 5s",
            "run a.yaml --journal j.ndjson --acknowledged-step 4",
            "run --accept --jobs 2",
            "check --reach T18 --shard 1/2",
            "check --reach T18 --checkpoint-states 5",
            "check --step --seed 3",
            "check --step --depth 3",
            "check --reach T18 --runs 3",
            "explore exact a.yaml --storm",
            "replay a.ndjson --yes --format json",
            "show a.ndjson --step 3 --redact-equality",
        ] {
            let found = parse(&format!("orchestrion {arguments}")).map_err(|error| error.kind());
            assert_eq!(found, Err(ErrorKind::MissingRequiredArgument), "{arguments}");
        }
        for arguments in [
            "run --stdio a.yaml --journal j.ndjson --acknowledged-step 4",
            "run a.yaml --cross-check --timeout 5s",
            "check --simulate --seed 3",
            "check --step",
            "replay --update --yes",
        ] {
            parse(&format!("orchestrion {arguments}")).unwrap();
        }
    }
}
