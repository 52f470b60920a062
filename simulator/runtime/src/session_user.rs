//! The user of a session.

use orchestrion_kernel::UserId;
use orchestrion_kernel::knowledge::NewIdentity;

/// A user with the identity that the host states at the start of the session. A user without an identity has the lowest rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUser {
    /// The user.
    pub user: UserId,
    /// The identity. The session of a user keeps the identity with which it started.
    pub identity: Option<NewIdentity>,
}

impl From<UserId> for SessionUser {
    fn from(user: UserId) -> Self {
        Self { user, identity: None }
    }
}

impl From<&str> for SessionUser {
    fn from(user: &str) -> Self {
        UserId::new(user).into()
    }
}
