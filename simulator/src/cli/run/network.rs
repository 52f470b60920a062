//! The network of a resumed conversation: a change of its file would have no effect, so it is refused.

use crate::cli::differences::{Sides, setting_text};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_runtime::{Journal, RecoveredConversation};
use orchestrion_scenario::changed_network;
use orchestrion_scenario::run::clear_public_keys;
use std::path::Path;

/// The network of the journal, and that of the scenario.
const SIDES: Sides = Sides { recorded: "expected", current: "found" };

/// Compares the network of a scenario with the one that a journal records. Public keys may differ: the conversation keeps its own, and
/// the key files are compared with these. Returns a note if the journal does not have the network.
///
/// # Errors
/// The journal cannot be read, or records another network.
pub(super) fn check_network(
    path: &Path,
    journal: &mut RecoveredConversation<impl Journal>,
    found: &NetworkInput,
) -> Result<Option<String>> {
    if journal.state().network().is_none() {
        return Ok(None);
    }
    let Some(mut recorded) = journal.read_created_network().into_diagnostic()? else {
        return Ok(Some(format!(
            "{}: the network is that of an earlier segment, and is not compared with the network of the scenario",
            path.display()
        )));
    };
    let mut found = found.clone();
    clear_public_keys(&mut recorded);
    clear_public_keys(&mut found);
    if recorded == found {
        return Ok(None);
    }
    let changed = changed_network(&recorded, &found);
    let difference = changed.first().map_or_else(
        || "expected that of the journal, found another".to_owned(),
        |setting| setting_text(setting, SIDES),
    );
    Err(miette!(
        help = "restore the network of the scenario, or start a new conversation with another journal",
        "{}: network mismatch: {difference}",
        path.display()
    ))
}
