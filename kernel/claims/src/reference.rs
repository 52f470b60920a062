//! The references by which claims judge: what the source clauses say, computed from the kernel's data types alone.
//!
//! Each file is written from its clauses and not from the kernel's code. The test `claims_call_no_deciding_code` has the list of the
//! kernel's functions that a claim and a reference may call.

pub(crate) mod answers;
pub(crate) mod compaction;
pub(crate) mod consensus;
pub(crate) mod contexts;
pub(crate) mod debate;
pub(crate) mod events;
pub(crate) mod items;
pub(crate) mod network;
pub(crate) mod numeric;
pub(crate) mod plans;
pub(crate) mod reading;
pub(crate) mod serialization;
pub(crate) mod situation;
pub(crate) mod table;
pub(crate) mod trust;
pub(crate) mod writes;
