//! Driving a conversation with real modules: what the kernel decides is carried out, and what comes back is the
//! next input.

mod call;
mod host;

pub use call::{Answer, Call, Fate, Matter, NoAnswer};
pub use host::{Deadlines, Host};
