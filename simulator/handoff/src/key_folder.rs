//! A folder of key files, one for each node.

use super::error::KeyError;
use super::key_file;
use super::node_key::{NodeKey, PublicKey};
use orchestrion_files::{Access, FileKind, Target, TargetSync, WriteError, create};
use orchestrion_kernel::NodeId;
use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

/// A key file is parsed before it is replaced, so it needs no other check.
const KEY_FILE: FileKind = FileKind { name: "a key file", is_start: |_| true, last_line: None };

/// A folder with the file `<node>.key` for each node. The folder and its files have permissions for their owner only, on Unix. A
/// key is never overwritten, except by a [`Rotation`].
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

/// A new key that is not in the file of its node yet. Until it replaces the old one, dropping it changes nothing.
#[derive(Debug)]
#[must_use]
pub struct Rotation {
    path: PathBuf,
    target: Target,
    keys: RotatedKeys,
    key: NodeKey,
}

impl Rotation {
    /// The public keys of the old key and of the new one.
    #[must_use]
    pub const fn keys(&self) -> RotatedKeys {
        self.keys
    }

    /// Replaces the key, atomically: after a crash, the file has the old key or the new one.
    ///
    /// # Errors
    /// The error of writing. The old key then stays.
    pub fn replace(self) -> Result<(), KeyError> {
        let Self { path, target, keys: _, key } = self;
        target
            .replace(TargetSync::Durable, |file| key_file::write(file, &key))
            .map_err(|error| unwritable(&path, error))
    }
}

impl KeyFolder {
    /// Opens a folder. It may be missing: [`KeyFolder::create`] then creates it.
    ///
    /// # Errors
    /// [`KeyError::NotAFolder`], or [`KeyError::OpenFolder`] on Unix.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, KeyError> {
        let path = path.into();
        if path.exists() && !path.is_dir() {
            return Err(KeyError::NotAFolder { path });
        }
        match mode_for_others(&path) {
            Some(found) => Err(KeyError::OpenFolder { path, found }),
            None => Ok(Self { path }),
        }
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
        match create(&path, Access::Owner, |file| key_file::write(file, &key)) {
            Ok(()) => Ok(key),
            Err(WriteError::Exists { path }) => Err(KeyError::Exists { path }),
            Err(error) => Err(unwritable(&path, error)),
        }
    }

    /// Reads the key of a node.
    ///
    /// # Errors
    /// [`KeyError::Missing`], [`KeyError::Malformed`], [`KeyError::UnsafeName`], [`KeyError::Io`], or [`KeyError::OpenFile`] on Unix.
    pub fn load(&self, node: &NodeId) -> Result<NodeKey, KeyError> {
        let path = self.key_path(node)?;
        match mode_for_others(&path) {
            Some(found) => Err(KeyError::OpenFile { path, found }),
            None => key_file::read(&path),
        }
    }

    /// Prepares the replacement of the key of a node by a new one. A key file that is open to others can be replaced: the new one is
    /// private.
    ///
    /// # Errors
    /// [`KeyError::Missing`], [`KeyError::Malformed`], [`KeyError::UnsafeName`], [`KeyError::Io`] or [`KeyError::Random`].
    pub fn prepare_rotation(&self, node: &NodeId) -> Result<Rotation, KeyError> {
        let path = self.key_path(node)?;
        // Locked before it is read, so that of two rotations each knows the key that it replaces.
        let target = Target::open_private(&path, &KEY_FILE).map_err(|error| unwritable(&path, error))?;
        let old = key_file::read(&path)?;
        let key = NodeKey::generate().map_err(KeyError::Random)?;
        let keys = RotatedKeys { old: old.public_key(), new: key.public_key() };
        Ok(Rotation { path, target, keys, key })
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
}

/// Returns the permissions of a file or folder that others than its owner can use; `None` if it is private or missing. Only Unix has
/// these permissions.
#[cfg(unix)]
fn mode_for_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
const fn mode_for_others(_: &Path) -> Option<u32> {
    None
}

fn unwritable(path: &Path, error: WriteError) -> KeyError {
    let error = match error {
        WriteError::Io { error, .. } => error,
        error => error.into(),
    };
    KeyError::Io { path: path.to_owned(), problem: "unwritable key file", error }
}
