//! The actor of a step, as a fairness class of the explorer.

use orchestrion_claims;
use orchestrion_claims::Actor;
use orchestrion_explorer::liveness::{ClassMask, Fairness};
use orchestrion_kernel::module::{Module, Role, Store};

/// Every actor, in the order of the fairness classes.
pub const ACTORS: [Actor; 19] = [
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
    Actor::Module(Module::AdditionalDebater),
    Actor::Module(Module::Approver),
    Actor::Module(Module::Executor),
    Actor::Module(Module::Store(Store::Local)),
    Actor::Module(Module::Store(Store::Cloud)),
    Actor::Module(Module::Auditor),
];

/// The fairness class of an actor.
#[must_use]
pub fn fairness_class(party: Actor) -> u8 {
    (0..).zip(ACTORS).find(|(_, known)| *known == party).map_or(0, |(class, _)| class)
}

/// The fairness assumptions of a claim, as classes.
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
    fn obligated_actors_have_distinct_classes() {
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
