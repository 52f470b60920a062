//! The ranks of identities and sources (003-6.3, decision 0028).

use super::encoding::{OracleFact, OracleIdentity, OracleSource, Rank};
use super::facts::InvalidWrite;
use super::fold::Fold;
use super::policy::OraclePolicy;
use serde_json::{Value, json};

/// Returns the identity layer, or that the identity is refused.
pub(super) fn identity_layer(policy: &OraclePolicy, new: &OracleIdentity) -> Result<Value, InvalidWrite> {
    let rank = match (table_rank(policy, &new.authority), new.rank) {
        (Some(own), Some(stated)) if stated > own => return Err(InvalidWrite),
        (own, Some(stated)) if own.is_some() || !policy.writes.strict_ranks => stated,
        (Some(own), _) => own,
        (None, _) if policy.writes.strict_ranks => return Err(InvalidWrite),
        (None, _) => Rank::Unverified,
    };
    Ok(json!({ "identity": {
        "authority": new.authority, "rank": rank, "department": new.department,
        "organization": new.organization, "permissions": new.permissions,
    }}))
}

/// Returns the source with its rank, or that the write is refused.
pub(super) fn source(
    policy: &OraclePolicy,
    semantic: &Fold,
    session: Option<&str>,
    fact: &OracleFact,
) -> Result<OracleSource, InvalidWrite> {
    let source = &fact.source;
    let identity = semantic.entries().find(|(_, entry)| entry.key == "\"identity\"");
    let identity_rank = identity.map(|(_, entry)| entry.item["layer"]["identity"]["rank"].clone());
    let session_rank =
        identity_rank.and_then(|rank| serde_json::from_value(rank).ok()).unwrap_or(Rank::Unverified);
    let own = source.name.as_deref().and_then(|name| table_rank(policy, name));
    if policy.writes.strict_ranks && own.is_none() && source.name.is_some() && !source.is_derived {
        return Err(InvalidWrite);
    }
    // "Only a source that the policy names has its own, and only where the host declares it."
    let highest = match own {
        Some(own) if source.is_derived => own.min(session_rank),
        Some(own) => own,
        None => session_rank,
    };
    let rank = source.rank.unwrap_or(highest);
    let name = source.name.clone().or(session.map(str::to_owned)).unwrap_or_default();
    if rank > highest {
        return Err(InvalidWrite);
    }
    // Decision 0032: the record says whether the fact is from a text, and by which rule it supersedes another.
    let derivation = fact.is_from_text.then(|| match &fact.detected_rule {
        None => json!("statement"),
        Some(rule) => json!({ "supersession": rule }),
    });
    Ok(OracleSource { name, rank, derivation })
}

fn table_rank(policy: &OraclePolicy, name: &str) -> Option<Rank> {
    policy.ranks.iter().find(|(title, _)| title.eq_ignore_ascii_case(name)).map(|(_, rank)| *rank)
}
