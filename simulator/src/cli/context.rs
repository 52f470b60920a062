//! `context`: exact context selection, explained and certified.

mod curve;
mod explain;
mod problem;
mod progress;
mod solve;
mod text;
mod trace;
mod verify;

use super::args::GlobalArgs;
use super::exit_status::ExitStatus;
use miette::Result;

/// Select the context of a module within a token budget; explain, certify and vary the solution.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context solve problem.json            an optimal selection
  orchestrion context explain problem.json          the reason for each item
  orchestrion context curve problem.json --svg curve.svg
  orchestrion context solve talk.ndjson --step 9    the context of the call that
                                                    is pending after step 9
  orchestrion context verify problem.json proof.json

A problem is JSON; only budget, items, id, utility and cost are required:
  {\"budget\": 100, \"reserved\": 20, \"items\": [
    {\"id\": \"policy\",  \"utility\": 0,  \"cost\": 10, \"inclusion\": \"pinned\"},
    {\"id\": \"call\",    \"utility\": 0,  \"cost\": 15, \"group\": \"lookup\"},
    {\"id\": \"result\",  \"utility\": 60, \"cost\": 30, \"group\": \"lookup\"},
    {\"id\": \"summary\", \"utility\": 40, \"cost\": 20, \"deps\": [\"policy\"]},
    {\"id\": \"draft\",   \"utility\": 9,  \"cost\": 5,  \"inclusion\": \"forbidden\"}]}

A selection contains all deps of its items, and all or no items of a group. The
reserved tokens are kept for the reply. Ties are broken by minimum cost, then by
the smallest list of ids (numbers before texts, texts by bytes). The schema:
`orchestrion export schema --schema problem`.

For a trace, --step N uses the state after step N, and --module selects another
module than that of the pending call. Items are identified by number and key;
headings of a context cost tokens too.

Exit codes: 0 solved or verified; 1 the certificate proves nothing; 2 error;
3 incomplete (the search hit a limit, or the certificate is too large).")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Solve(solve::Args),
    Explain(explain::Args),
    Curve(curve::Args),
    Verify(verify::Args),
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    match &args.command {
        Command::Solve(args) => solve::run(args, global),
        Command::Explain(args) => explain::run(args, global),
        Command::Curve(args) => curve::run(args, global),
        Command::Verify(args) => verify::run(args),
    }
}
