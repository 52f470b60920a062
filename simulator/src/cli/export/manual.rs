//! `export man`: one manual page for the program, each command and each subcommand.

use clap::Command;
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;

/// Returns the pages with their file names: the program first, then each command with its subcommands.
pub(super) fn manual(mut program: Command) -> io::Result<Vec<(String, String)>> {
    program.build();
    let commands =
        subcommands(&program).flat_map(|command| std::iter::once(command).chain(subcommands(command)));
    std::iter::once(&program).chain(commands).map(page).collect()
}

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help")
}

fn page(command: &Command) -> io::Result<(String, String)> {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone().after_help(Resettable::Reset));
    let mut page = Vec::new();
    man.render(&mut page)?;
    // clap_mangen would fill the lines of the examples like a paragraph.
    let mut section = Roff::new();
    section.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in examples.strip_prefix("Examples:\n").unwrap_or(&examples).lines() {
        section.text([roman(line)]);
    }
    section.control("fi", []);
    section.to_writer(&mut page)?;
    Ok((man.get_filename(), String::from_utf8(page).map_err(io::Error::other)?))
}
