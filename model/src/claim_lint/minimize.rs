//! Minimal sets of claims that cause a defect.

use orchestrion_user_claims::ClaimSet;

/// Returns a minimal subset of `all` that causes a defect, if `all` does: without one of its claims there is no defect. `hint` has claims of
/// which small sets are tried first. `is_cause` is monotone: a superset of a cause is one.
pub(super) fn minimize(all: ClaimSet, hint: ClaimSet, is_cause: &dyn Fn(ClaimSet) -> bool) -> ClaimSet {
    if is_cause(ClaimSet::default()) {
        return ClaimSet::default();
    }
    let hint = hint.intersection(all);
    let found = if is_cause(hint) { hint } else { all };
    // A set of one claim is minimal, because the empty set is no cause.
    if let Some(one) = found.iter().map(ClaimSet::of).find(|one| is_cause(*one)) {
        return one;
    }
    found.iter().fold(found, |kept, claim| {
        let fewer = kept.without(ClaimSet::of(claim));
        if is_cause(fewer) { fewer } else { kept }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(claims: &[usize]) -> ClaimSet {
        claims.iter().fold(ClaimSet::default(), |set, claim| set.union(ClaimSet::of(*claim)))
    }

    #[test]
    fn minimal_sets_are_causes_and_no_part_of_them_is() {
        let causes = [set(&[1, 3]), set(&[2, 4, 5]), set(&[7])];
        let is_cause_of = |expected: ClaimSet| move |found: ClaimSet| expected.without(found).is_empty();
        for expected in causes {
            for hint in [ClaimSet::default(), set(&[1]), set(&[1, 2, 3, 4, 5, 6, 7])] {
                assert_eq!(minimize(ClaimSet::first(9), hint, &is_cause_of(expected)), expected);
            }
        }
        // Of several causes, one is found.
        let any = |found: ClaimSet| causes.iter().any(|cause| cause.without(found).is_empty());
        assert!(causes.contains(&minimize(ClaimSet::first(9), ClaimSet::default(), &any)));
        assert!(minimize(ClaimSet::first(9), ClaimSet::default(), &|_| true).is_empty());
    }
}
