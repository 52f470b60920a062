//! `keys rotate`: a new key for one node.

use super::Files;
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, quoted};
use miette::{IntoDiagnostic, Result};
use orchestrion_handoff::{PublicKey, RotatedKeys};
use std::io::{self, Write};

/// Replace the key of a node by a new one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion keys rotate net.yaml ana          replaces keys/ana.key, and the
                                                public_key of ana in net.yaml
  orchestrion keys rotate net.yaml ana --keys /etc/orchestrion/keys

The old key is lost. A handoff that it signed is valid only for a receiver that
still has the old public key: end running conversations before a rotation. If
the new network file cannot be written, the old key stays.

Exit codes: 0 success; 2 error.")]
pub(super) struct Args {
    #[command(flatten)]
    files: Files,
    /// Replace the key of this node.
    #[arg(value_name = "NODE")]
    node: String,
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let (network, opened) = args.files.open()?;
    let node = network.find_node(&args.node).map_err(|error| error.into_file_error())?;
    drop(network);
    let places = opened.key_places(&[node.clone()].into())?;
    let rotation = opened.keys.prepare_rotation(&node).into_diagnostic()?;
    let RotatedKeys { old, new } = rotation.keys();
    let mut is_replaced = false;
    let replace = || rotation.replace().map(|()| is_replaced = true).map_err(io::Error::other);
    let written = opened.write(&places, &[(node.clone(), new)].into(), replace);
    written.map_err(|error| match is_replaced {
        false => error,
        true => error.wrap_err(format!(
            "the key of {node} is replaced, and its public key in the network is not; write it: orchestrion keys create {}{} --all",
            quoted(&opened.path),
            args.files.keys.as_ref().map_or(String::new(), |keys| format!(" --keys {}", quoted(keys)))
        )),
    })?;
    let mut out = output::plain_stdout();
    let path = opened.keys.key_path(&node).into_diagnostic()?;
    writeln!(out, "  rotated  {}", path.display())
        .and_then(|()| writeln!(out, "  old      {}", digits(&old)))
        .and_then(|()| writeln!(out, "  new      {}", digits(&new)))
        .and_then(|()| writeln!(out, "  wrote    {}", opened.path.display()))
        .into_diagnostic()?;
    Ok(ExitStatus::Success)
}

fn digits(key: &PublicKey) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}
