//! Whose turn a step is, as a class that the explorer's fairness speaks of.

use crate::liveness::{ClassSet, Fairness};
use orchestrion_kernel::claims;
use orchestrion_kernel::claims::Party;
use orchestrion_kernel::module::{Module, Role, Store};

/// Every party, in the order of the classes.
pub const PARTIES: [Party; 18] = [
    Party::Kernel,
    Party::User,
    Party::Crash,
    Party::Module(Module::IdentityGuard),
    Party::Module(Module::Memory),
    Party::Module(Module::Summarizer),
    Party::Module(Module::Classifier),
    Party::Module(Module::Planner),
    Party::Module(Module::Debater(Role::Analyst)),
    Party::Module(Module::Debater(Role::Solution)),
    Party::Module(Module::Debater(Role::Critic)),
    Party::Module(Module::Debater(Role::Security)),
    Party::Module(Module::Debater(Role::Optimizer)),
    Party::Module(Module::Approver),
    Party::Module(Module::Executor),
    Party::Module(Module::Store(Store::Local)),
    Party::Module(Module::Store(Store::Cloud)),
    Party::Module(Module::Auditor),
];

/// The class of a party.
#[must_use]
pub fn class(party: Party) -> u8 {
    (0..).zip(PARTIES).find(|(_, known)| *known == party).map_or(0, |(class, _)| class)
}

/// What a claim asks of a run, by classes.
#[must_use]
pub fn fairness(under: &[claims::Fairness]) -> Fairness {
    let mut fair = Fairness { weak: ClassSet::NONE, strong: ClassSet::NONE, finitely: ClassSet::NONE };
    for asked in under {
        match *asked {
            claims::Fairness::Weak(party) => fair.weak = fair.weak.with(class(party)),
            claims::Fairness::Strong(party) => fair.strong = fair.strong.with(class(party)),
            claims::Fairness::Finitely(party) => fair.finitely = fair.finitely.with(class(party)),
        }
    }
    fair
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_party_that_owes_something_has_a_class_of_its_own() {
        for claim in claims::CLAIMS {
            let claims::Check::LeadsTo { under, .. } = claim.check else { continue };
            for asked in under {
                let (claims::Fairness::Weak(party)
                | claims::Fairness::Strong(party)
                | claims::Fairness::Finitely(party)) = *asked;
                assert!(PARTIES.contains(&party), "{}: {party:?}", claim.id);
            }
        }
    }
}
