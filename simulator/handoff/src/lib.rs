//! Signed handoffs between the nodes of a trust network (001 §6): records, keys and signatures.
//!
//! Entry points: [`Handoff`] is the record, [`NodeKey::sign`] signs it, [`verify`] checks a [`SignedHandoff`] with the public key
//! of its sender, and [`KeyFolder`] keeps the keys of nodes in files. [`encode`] gives the bytes that are signed.
//!
//! This crate is the boundary: it turns bytes into a [`SignatureStatus`], and the kernel decides what follows. Deliberately absent:
//! the choice of the public key (the network has it), capability, availability and load (the kernel checks them), and protection
//! against a repeated handoff. The kernel refuses a handoff whose call is not pending, so a workflow id must name one conversation.

mod context;
mod encoding;
mod error;
mod handoff;
mod hex;
mod key_file;
mod key_folder;
mod node_key;
mod signature;
mod signed;
mod task;
mod verify;

pub use context::{HandoffContext, StepResult};
pub use encoding::{DOMAIN, encode};
pub use error::KeyError;
pub use handoff::Handoff;
pub use key_folder::{KeyFolder, RotatedKeys, Rotation};
pub use node_key::{NodeKey, PublicKey};
pub use signature::Signature;
pub use signed::SignedHandoff;
pub use task::HandoffTask;
pub use verify::{InvalidSignature, SignatureStatus, verify};

#[cfg(test)]
mod tests;
