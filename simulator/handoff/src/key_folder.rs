//! A folder of key files, one for each node.

use super::error::KeyError;
use super::hex;
use super::key_file;
use super::node_key::{NodeKey, PublicKey};
use orchestrion_kernel::NodeId;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

/// The length of the random part of the name of a temporary file, in bytes.
const RANDOM_NAME_BYTES: usize = 16;

/// A folder with the file `<node>.key` for each node. The folder and its files have permissions for their owner only, on Unix. A
/// key is never overwritten, except by [`KeyFolder::rotate`].
#[derive(Clone, Debug)]
pub struct KeyFolder {
    path: PathBuf,
}

/// The public keys of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotatedKeys {
    /// The replaced key. What it signed stays valid for a receiver that still has it.
    pub old: PublicKey,
    /// The new key.
    pub new: PublicKey,
}

impl KeyFolder {
    /// Opens a folder. It may be missing: [`KeyFolder::create`] then creates it.
    ///
    /// # Errors
    /// [`KeyError::NotAFolder`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, KeyError> {
        let path = path.into();
        if path.exists() && !path.is_dir() {
            return Err(KeyError::NotAFolder { path });
        }
        Ok(Self { path })
    }

    /// Creates the key of a node and returns it.
    ///
    /// # Errors
    /// [`KeyError::Exists`] if the node has a key, which stays unchanged; [`KeyError::UnsafeName`], [`KeyError::Random`] or
    /// [`KeyError::Io`].
    pub fn create(&self, node: &NodeId) -> Result<NodeKey, KeyError> {
        let path = self.key_path(node)?;
        let key = NodeKey::generate().map_err(KeyError::Random)?;
        self.create_folder()?;
        match key_file::write_new(&path, &key) {
            Ok(()) => self.sync().map(|()| key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(KeyError::Exists { path }),
            Err(error) => Err(unwritable(path, error)),
        }
    }

    /// Reads the key of a node.
    ///
    /// # Errors
    /// [`KeyError::Missing`], [`KeyError::Malformed`], [`KeyError::UnsafeName`] or [`KeyError::Io`].
    pub fn load(&self, node: &NodeId) -> Result<NodeKey, KeyError> {
        key_file::read(&self.key_path(node)?)
    }

    /// Replaces the key of a node by a new one, atomically: after a crash, the file has the old key or the new one.
    ///
    /// # Errors
    /// As [`KeyFolder::load`], [`KeyError::Random`], or the error of writing. The old key stays unless the new one is in place.
    pub fn rotate(&self, node: &NodeId) -> Result<RotatedKeys, KeyError> {
        let path = self.key_path(node)?;
        let old = key_file::read(&path)?;
        let new = NodeKey::generate().map_err(KeyError::Random)?;
        let temporary = self.temporary_path()?;
        key_file::write_new(&temporary, &new).map_err(|error| unwritable(temporary.clone(), error))?;
        if let Err(error) = fs::rename(&temporary, &path) {
            // The first error is the one to report.
            let _ = fs::remove_file(&temporary);
            return Err(unwritable(path, error));
        }
        self.sync()?;
        Ok(RotatedKeys { old: old.public_key(), new: new.public_key() })
    }

    /// Returns the path of the key file of a node.
    ///
    /// # Errors
    /// [`KeyError::UnsafeName`] if the id of the node would name another folder or a file that is hard to handle.
    pub fn key_path(&self, node: &NodeId) -> Result<PathBuf, KeyError> {
        let name = node.as_str();
        let is_unsafe = matches!(name, "" | "." | "..")
            || name.chars().any(|c| matches!(c, '/' | '\\' | ':') || c.is_control());
        if is_unsafe {
            return Err(KeyError::UnsafeName { node: name.to_owned() });
        }
        Ok(self.path.join(format!("{name}.key")))
    }

    /// Returns a name that no other process can predict. It does not end in `.key`, so it is the file of no node.
    fn temporary_path(&self) -> Result<PathBuf, KeyError> {
        let mut bytes = [0; RANDOM_NAME_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| KeyError::Random(io::Error::other(error)))?;
        let mut name = String::from(".");
        hex::push_digits(&bytes, &mut name);
        name.push_str(".draft");
        Ok(self.path.join(name))
    }

    fn create_folder(&self) -> Result<(), KeyError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.create(&self.path).map_err(|error| KeyError::Io {
            path: self.path.clone(),
            problem: "unwritable key folder",
            error,
        })
    }

    /// Makes a created or renamed file durable. Only Unix can open a folder for this.
    fn sync(&self) -> Result<(), KeyError> {
        if cfg!(unix) { sync_folder(&self.path) } else { Ok(()) }
    }
}

fn sync_folder(path: &Path) -> Result<(), KeyError> {
    let result = fs::File::open(path).and_then(|folder| folder.sync_all());
    result.map_err(|error| KeyError::Io { path: path.to_owned(), problem: "unwritable key folder", error })
}

fn unwritable(path: PathBuf, error: io::Error) -> KeyError {
    KeyError::Io { path, problem: "unwritable key file", error }
}
