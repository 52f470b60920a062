//! Files as the command and the runtime read and write them.
//!
//! - Reads are bounded, and refuse pipes, devices and folders ([`open`], [`read`], [`limits`]).
//! - Every file is written as a draft with a random name, and gets its own name when it is complete. [`create`] replaces no file;
//!   [`Target`] replaces only a file that it recognizes, that is finished, and that no program has locked.

mod draft;
mod error;
mod kind;
pub mod limits;
mod lock;
mod open_files;
mod read;
mod target;

pub use draft::{Access, create, sync_folder};
pub use error::WriteError;
pub use kind::FileKind;
pub use lock::{is_at_path, open_locked};
pub use open_files::raise_open_files_limit;
pub use read::{open, read};
pub use target::{Target, TargetSync};

#[cfg(test)]
mod tests;
