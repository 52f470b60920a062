//! Options that have no effect without another one, or in a command.
//!
//! `requires` of clap accepts an option without the required one if an argument that is present conflicts with the required one: then
//! the option would be ignored.

use super::Cli;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, Error};

/// Command, option, and the option that it needs.
const NEEDED: [(&str, &str, &str); 15] = [
    ("check", "shard", "mutants"),
    ("check", "checkpoint_states", "checkpoint"),
    ("check", "runs", "simulate"),
    ("check", "depth", "simulate"),
    ("check", "seed", "simulate"),
    ("explore exact", "storm", "prism"),
    ("fork", "keys", "stdio"),
    ("replay", "yes", "update"),
    ("run", "journal", "stdio"),
    ("run", "journals", "stdio"),
    ("run", "keys", "stdio"),
    ("run", "acknowledged_step", "journal"),
    ("run", "timeout", "cross_check"),
    ("run", "jobs", "runs"),
    ("show", "redact_equality", "redact"),
];

/// The commands that read the project file.
const READING_PROJECT: [&str; 8] =
    ["check", "fork", "journal upgrade", "lint", "promote", "replay", "run", "show"];

/// Refuses an option without the one that it needs, and the option of the project file in a command that does not read it.
pub(super) fn check(matches: &ArgMatches) -> Result<(), Error> {
    let (mut path, mut matches) = (Vec::new(), matches);
    while let Some((name, inner)) = matches.subcommand() {
        path.push(name);
        matches = inner;
    }
    let of = path.join(" ");
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let is_unmet = |(command, option, needed): &&(&str, &str, &str)| {
        *command == of && is_given(option) && !is_given(needed)
    };
    let (kind, message) = if let Some((_, option, needed)) = NEEDED.iter().find(is_unmet) {
        let [option, needed] = [option, needed].map(|id| id.replace('_', "-"));
        let message = format!("--{option} needs --{needed}: add it, or leave out --{option}");
        (ErrorKind::MissingRequiredArgument, message)
    } else if is_given("config") && !READING_PROJECT.contains(&&*of) {
        let message = format!("`orchestrion {of}` reads no project file: leave out --config");
        (ErrorKind::ArgumentConflict, message)
    } else {
        return Ok(());
    };
    // The error shows the usage of the command.
    let mut command = Cli::command();
    command.build();
    let mut command = path.iter().fold(command, |command, name| {
        let inner = command.find_subcommand(name).cloned();
        inner.unwrap_or(command)
    });
    Err(command.error(kind, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches as _;

    fn parse(arguments: &str) -> Result<(), Error> {
        let matches = Cli::command().try_get_matches_from(arguments.split(' '))?;
        Cli::from_arg_matches(&matches)?;
        check(&matches)
    }

    #[test]
    fn option_without_the_needed_one_is_refused() {
        let cases = [
            ("run a.yaml --journal j.ndjson", "--journal needs --stdio"),
            ("run a.yaml --journals folder", "--journals needs --stdio"),
            ("run --check --keys folder", "--keys needs --stdio"),
            ("run --stdio a.yaml --acknowledged-step 4", "--acknowledged-step needs --journal"),
            ("run --check --timeout 5s", "--timeout needs --cross-check"),
            ("run --accept --jobs 2", "--jobs needs --runs"),
            ("check --reach T18 --shard 1/2", "--shard needs --mutants"),
            ("check --reach T18 --checkpoint-states 5", "--checkpoint-states needs --checkpoint"),
            ("check --step --seed 3", "--seed needs --simulate"),
            ("check --step --depth 3", "--depth needs --simulate"),
            ("check --reach T18 --runs 3", "--runs needs --simulate"),
            ("explore exact a.yaml --storm", "--storm needs --prism"),
            ("fork a.ndjson --step 3 --set write={} --keys folder", "--keys needs --stdio"),
            ("replay a.ndjson --yes --format json", "--yes needs --update"),
            ("show a.ndjson --step 3 --redact-equality", "--redact-equality needs --redact"),
        ];
        assert_eq!(cases.len(), NEEDED.len());
        for (arguments, expected) in cases {
            let error = parse(&format!("orchestrion {arguments}")).unwrap_err().to_string();
            assert!(error.contains(expected), "{arguments}: {error}");
            let command = arguments.split(' ').next().unwrap();
            assert!(error.contains(&format!("Usage: orchestrion {command}")), "{arguments}: {error}");
        }
        for command in ["route a.yaml --capability c", "keys rotate a.yaml ana", "journal join a.ndjson"] {
            let error = parse(&format!("orchestrion {command} --config b.yaml")).unwrap_err().to_string();
            assert!(error.contains("reads no project file: leave out --config"), "{command}: {error}");
        }
        for arguments in [
            "journal upgrade a.ndjson --config b.yaml",
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
