//! `keys`: the keys with which the nodes of a network sign handoffs.

mod create;
mod rotate;

use super::exit_status::ExitStatus;
use super::files;
use miette::{IntoDiagnostic, Result};
use orchestrion_files::FileKind;
use orchestrion_handoff::{KeyError, KeyFolder, PublicKey};
use orchestrion_kernel::NodeId;
use orchestrion_kernel::network::Node;
use orchestrion_network::{KeyPlaces, LoadedNetwork, NETWORK_LIMITS};
use orchestrion_yaml::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Create and replace the keys with which nodes of a trust network sign handoffs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion keys create net.yaml              a key for every node without one
  orchestrion keys create net.yaml --all        the same, in a clone without keys
  orchestrion keys rotate net.yaml ana          a new key for ana

The secret key of the node ana is in the file keys/ana.key, which only its owner
can read. Its public key is in the network file:
  nodes:
    ana:
      public_key: \"8a88e3dd…\"                   64 hexadecimal digits

Keep the folder keys out of version control. `orchestrion init` creates a
network with its keys, and a keys/.gitignore that excludes them.

Exit codes: 0 success; 2 error.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Create(create::Args),
    Rotate(rotate::Args),
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    match &args.command {
        Command::Create(args) => create::run(args),
        Command::Rotate(args) => rotate::run(args),
    }
}

/// Creates the keys of a network file in the folder `keys` beside it, and returns their paths.
pub(super) fn create_beside(network: &Path) -> Result<Vec<PathBuf>> {
    let (network, opened) = Files { network: network.to_owned(), keys: None }.open()?;
    let files = create::create_keys(network, &opened, create::Missing::PublicKey)?;
    Ok(files.into_iter().map(|file| file.path).collect())
}

/// A network file, and the folder with the keys of its nodes.
#[derive(Debug, clap::Args)]
struct Files {
    /// Read this trust network, and write the public keys into it.
    #[arg(value_name = "NETWORK")]
    network: PathBuf,
    /// Keep the secret keys in this folder [default: keys, beside the network file].
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
}

impl Files {
    /// Reads the network. It needs much more memory than its text, so a caller drops it before it edits the text.
    fn open(&self) -> Result<(LoadedNetwork, Opened)> {
        let source = Source::read_within(&self.network, NETWORK_LIMITS)?;
        let network = LoadedNetwork::from_source(&source)?;
        let folder = self.keys.clone().unwrap_or_else(|| self.network.with_file_name("keys"));
        let keys = KeyFolder::open(folder).into_diagnostic()?;
        Ok((network, Opened { path: self.network.clone(), source, keys }))
    }
}

/// The network file was parsed, so it needs no other check.
const NETWORK: FileKind = FileKind { name: "a trust network", is_start: |_| true, last_line: None };

/// The text of a network, and its keys.
struct Opened {
    path: PathBuf,
    source: Source,
    keys: KeyFolder,
}

impl Opened {
    /// Finds the places of the public keys of these nodes in the network file. Called before a key file changes.
    fn key_places(&self, nodes: &BTreeSet<NodeId>) -> Result<KeyPlaces<'_>> {
        for node in nodes {
            self.keys.key_path(node).into_diagnostic()?;
        }
        Ok(KeyPlaces::find(&self.source, nodes)?)
    }

    /// Whether the key file of a node has its public key.
    ///
    /// # Errors
    /// A key file that cannot be read: nothing replaces a key that may be in use.
    fn has_key_of(&self, node: &Node) -> Result<bool, KeyError> {
        match self.keys.load(&node.id) {
            Ok(key) => Ok(key.public_key()[..] == node.public_key[..]),
            Err(KeyError::Missing { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes public keys at their places into the network file, atomically. `finish` is called when the new file is on the disk, and
    /// the old one still has the name; its error leaves the old one in place.
    fn write(
        &self,
        places: &KeyPlaces<'_>,
        keys: &BTreeMap<NodeId, PublicKey>,
        finish: impl FnOnce() -> io::Result<()>,
    ) -> Result<()> {
        files::replace_with(&self.path, &NETWORK, |file| {
            file.write_all(places.write(keys).as_bytes())?;
            file.sync_all()?;
            finish()
        })
    }
}
