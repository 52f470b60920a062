//! What the conditions of cases can read.

use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{NodeId, RequestId, Text, UserId};

/// A call with everything that the conditions of cases can read.
#[derive(Clone, Copy, Debug)]
pub struct CallScene<'a> {
    /// The operation.
    pub operation: Operation,
    /// The number of the request in its conversation.
    pub request: RequestId,
    /// The number of the current or latest debate pass, from 1; 0 before the first.
    pub pass: u32,
    /// The user of the request.
    pub user: &'a UserId,
    /// The text of the request.
    pub text: &'a Text,
    /// The node that executes the call; `None` without a network.
    pub node: Option<&'a NodeId>,
    /// The text of the module's context.
    pub context: &'a str,
}
