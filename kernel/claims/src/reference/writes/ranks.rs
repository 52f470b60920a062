//! The source of a written fact, and its rank (003-6.3, 003-9.3; decisions 0028 and 0032).

use crate::reference::items::{session_identity, table_rank};
use crate::semantic_view::SemanticView;
use orchestrion_kernel::ids::{Text, UserId};
use orchestrion_kernel::item::{Derivation, FactSource, MemoryType, Rank};
use orchestrion_kernel::knowledge::{FactKind, NewFact, WriteSource};
use orchestrion_kernel::policy::Policy;

/// The source of a fact; none if the write is refused: it states a rank above its limit, or the policy requires that its table names
/// every declared source.
pub(super) fn source(policy: &Policy, before: &SemanticView<'_>, new: &NewFact) -> Option<FactSource> {
    let WriteSource { name, rank: stated, is_derived } = &new.source;
    let session = session_identity(before.semantic()).map_or(Rank::Unverified, |identity| identity.rank);
    let of_table = name.as_ref().and_then(|name| table_rank(&policy.ranks, name.as_str()));
    let limit = match of_table {
        Some(own) if *is_derived => own.min(session),
        Some(own) => own,
        None if policy.writes.strict_ranks && name.is_some() && !is_derived => return None,
        None => session,
    };
    let user = || Text::from(before.session().map_or("", UserId::as_str));
    let rank = stated.unwrap_or(limit);
    (rank <= limit).then(|| FactSource {
        name: name.clone().unwrap_or_else(user),
        rank,
        derivation: new
            .is_from_text
            .then_some(new.detected_rule.map_or(Derivation::Statement, Derivation::Supersession)),
    })
}

/// Whether a source of this rank may write the fact: a constraint, and a fact of organizational memory, need the policy's rank for it.
pub(super) fn may_write(policy: &Policy, new: &NewFact, rank: Rank) -> bool {
    let is_constraint = matches!(new.kind, FactKind::Constraint(_));
    let is_organizational = new.memory == MemoryType::Organizational;
    (!is_constraint || rank >= policy.writes.constraint_from)
        && (!is_organizational || rank >= policy.writes.organizational_from)
}
