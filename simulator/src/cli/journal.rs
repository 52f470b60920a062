//! `journal`: rotates and upgrades journals, joins their segments, and erases texts in them.

mod erase;
mod join;
mod rotate;
mod upgrade;

use super::args::GlobalArgs;
use super::exit_status::ExitStatus;
use miette::Result;
use orchestrion_runtime::RotatedSegment;
use std::io::{self, Write};
use std::path::Path;

/// Rotate or upgrade the journal of a conversation, erase texts in its segments, and join the segments again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion journal rotate office.ndjson
                       moves its 1520 steps to office.1520.ndjson; the journal
                       now begins with the state at their end, and continues
  orchestrion journal upgrade office.ndjson --policy stricter.yaml
                       shows what changes, and continues the conversation
                       under another policy
  orchestrion journal erase office.1520.ndjson --containing \"Grace Hopper\"
                       erases the texts with this name; every chain stays valid
  orchestrion journal join office.1520.ndjson office.ndjson
                       replays both as one conversation, and counts what the
                       erased texts leave unverified

Exit codes: 0 success; 1 a segment differs, or the upgrade was not made; 2 error,
nothing was changed; 3 erased texts leave steps unverified, or a text is still in
a key or a name.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Rotate(rotate::Args),
    Upgrade(upgrade::Args),
    Erase(erase::Args),
    Join(join::Args),
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    match &args.command {
        Command::Rotate(args) => rotate::run(args),
        Command::Upgrade(args) => upgrade::run(args, global),
        Command::Erase(args) => erase::run(args),
        Command::Join(args) => join::run(args),
    }
}

/// Writes where the lines of a journal are after a rotation or an upgrade.
fn write_rotated(journal: &Path, rotated: &RotatedSegment, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  segment  {}, up to step {}", rotated.path.display(), rotated.steps)?;
    writeln!(out, "  journal  {}, from step {}", journal.display(), rotated.steps + 1)
}
