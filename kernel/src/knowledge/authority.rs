//! Ranks of identities and sources (003 rule 3, decision 0028).
//!
//! A writer has at most the rank of the session's identity. Only a source that the policy names has a rank of its own, and only
//! where the host declares it.

use super::error::KnowledgeError;
use super::types::{NewFact, NewIdentity};
use crate::event::Event;
use crate::ids::{Text, UserId};
use crate::item::{FactSource, Identity, Item, ItemKey, ItemKind, Layer, Rank, Validity};
use crate::policy::Policy;
use crate::semantic::SemanticState;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Returns the event that adds the identity of a session user.
///
/// # Errors
/// [`KnowledgeError`] if the policy does not accept its authority or rank.
pub fn decide_identity(
    policy: &Policy,
    semantic: &SemanticState,
    new: &NewIdentity,
) -> Result<Event, KnowledgeError> {
    let item = Item {
        id: semantic.next_id(),
        kind: ItemKind::Fact,
        key: ItemKey::Identity,
        text: new.name.clone(),
        layer: Layer::Identity(Box::new(resolve_identity(policy, new)?)),
        validity: Validity::Current,
    };
    Ok(Event::AddItem { item, deps: Vec::new() })
}

/// Returns the identity with its rank: that of its authority in the policy's table, or a lower one that the host states. The host
/// states the rank of an authority outside the table; without a rank it is unverified.
fn resolve_identity(policy: &Policy, new: &NewIdentity) -> Result<Identity, KnowledgeError> {
    let rank = match policy.ranks.get(new.authority.as_str()) {
        Some(limit) => at_most(limit, new.rank, &new.authority)?,
        None if policy.writes.strict_ranks => {
            return Err(KnowledgeError::UnknownTitle(new.authority.clone()));
        }
        None => new.rank.unwrap_or(Rank::Unverified),
    };
    Ok(Identity {
        authority: new.authority.clone(),
        rank,
        department: new.department.clone(),
        organization: new.organization.clone(),
        permissions: new.permissions.clone(),
    })
}

/// Returns the source of a new fact with its rank. `user` and `session_rank` are those of the session.
pub(super) fn resolve_source(
    policy: &Policy,
    user: Option<&UserId>,
    session_rank: Rank,
    new: &NewFact,
) -> Result<FactSource, KnowledgeError> {
    let source = &new.source;
    let user = user.map_or("", UserId::as_str);
    let name = source.name.clone().unwrap_or_else(|| Text::from(user));
    let own = source.name.as_ref().map(|name| policy.ranks.get(name.as_str()));
    let limit = match (own, source.is_derived) {
        (Some(Some(own)), false) => own,
        (Some(Some(own)), true) => own.min(session_rank),
        (Some(None), false) if policy.writes.strict_ranks => return Err(KnowledgeError::UnknownTitle(name)),
        (Some(None) | None, _) => session_rank,
    };
    Ok(FactSource { rank: at_most(limit, source.rank, &name)?, name, derivation: new.derivation() })
}

/// Returns the stated rank, or the limit if there is none.
fn at_most(limit: Rank, stated: Option<Rank>, name: &Text) -> Result<Rank, KnowledgeError> {
    match stated {
        Some(found) if found > limit => {
            Err(KnowledgeError::RankTooHigh { source: name.clone(), limit, found })
        }
        Some(found) => Ok(found),
        None => Ok(limit),
    }
}
