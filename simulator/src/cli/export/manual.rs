//! The manual: a page for the command, one for each verb, and one for each verb of a verb.

use crate::cli::Cli;
use clap::builder::Resettable;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;

/// The pages by the names of their files: the command's, then each verb's.
pub(super) fn manual() -> io::Result<Vec<(String, String)>> {
    let mut command = Cli::command();
    command.build();
    let below = verbs(&command).flat_map(|verb| std::iter::once(verb).chain(verbs(verb)));
    std::iter::once(&command).chain(below).map(page).collect()
}

fn verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| verb.get_name() != "help")
}

fn page(command: &Command) -> io::Result<(String, String)> {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone().after_help(Resettable::Reset));
    let mut page = Vec::new();
    man.render(&mut page)?;
    // The library would fill the lines of the examples as if they were a text.
    let mut section = Roff::new();
    section.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in examples.strip_prefix("Examples:\n").unwrap_or(&examples).lines() {
        section.text([roman(line)]);
    }
    section.control("fi", []);
    section.to_writer(&mut page)?;
    Ok((man.get_filename(), String::from_utf8(page).map_err(io::Error::other)?))
}
