//! Whose turn a step is, as a class that the explorer's fairness speaks of.

use orchestrion_claims;
use orchestrion_claims::Actor;
use orchestrion_explorer::liveness::{ClassMask, Fairness};
use orchestrion_kernel::module::{Module, Role, Store};

/// Every party, in the order of the classes.
pub const ACTORS: [Actor; 18] = [
    Actor::Kernel,
    Actor::User,
    Actor::Crash,
    Actor::Module(Module::IdentityGuard),
    Actor::Module(Module::Memory),
    Actor::Module(Module::Summarizer),
    Actor::Module(Module::Classifier),
    Actor::Module(Module::Planner),
    Actor::Module(Module::Debater(Role::Analyst)),
    Actor::Module(Module::Debater(Role::Solution)),
    Actor::Module(Module::Debater(Role::Critic)),
    Actor::Module(Module::Debater(Role::Security)),
    Actor::Module(Module::Debater(Role::Optimizer)),
    Actor::Module(Module::Approver),
    Actor::Module(Module::Executor),
    Actor::Module(Module::Store(Store::Local)),
    Actor::Module(Module::Store(Store::Cloud)),
    Actor::Module(Module::Auditor),
];

/// The class of a party.
#[must_use]
pub fn fairness_class(party: Actor) -> u8 {
    (0..).zip(ACTORS).find(|(_, known)| *known == party).map_or(0, |(class, _)| class)
}

/// What a claim asks of a run, by classes.
#[must_use]
pub fn fairness(under: &[orchestrion_claims::Fairness]) -> Fairness {
    let mut fair =
        Fairness { weak: ClassMask::NONE, strong: ClassMask::NONE, finitely_often: ClassMask::NONE };
    for asked in under {
        match *asked {
            orchestrion_claims::Fairness::Weak(party) => fair.weak = fair.weak.with(fairness_class(party)),
            orchestrion_claims::Fairness::Strong(party) => {
                fair.strong = fair.strong.with(fairness_class(party))
            }
            orchestrion_claims::Fairness::FinitelyOften(party) => {
                fair.finitely_often = fair.finitely_often.with(fairness_class(party))
            }
        }
    }
    fair
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_party_that_owes_something_has_a_class_of_its_own() {
        for claim in orchestrion_claims::CLAIMS {
            let orchestrion_claims::ClaimCheck::LeadsTo { under, .. } = claim.check else { continue };
            for asked in under {
                let (orchestrion_claims::Fairness::Weak(party)
                | orchestrion_claims::Fairness::Strong(party)
                | orchestrion_claims::Fairness::FinitelyOften(party)) = *asked;
                assert!(ACTORS.contains(&party), "{}: {party:?}", claim.id);
            }
        }
    }
}
