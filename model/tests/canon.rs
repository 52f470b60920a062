//! Canonical names lose nothing: stepping and renaming commute (design §2, rule 3).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::claims::{History, broken_by_step};
use orchestrion_kernel::{Input, Policy, State, decide};
use orchestrion_model::adversary::Adversary;
use orchestrion_model::product::{fresh, rename};
use orchestrion_model::scopes::{MODELS, SCOPES};

/// Numbers that differ from walk to walk and are the same in every run of the test.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        // xorshift64*: good enough to choose a way, and needs no dependency.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % bound
    }
}

fn step(policy: &Policy, state: &State, history: &mut History, input: &Input) -> Option<State> {
    let events = decide(policy, state, input).ok()?;
    let mut after = state.clone();
    events.iter().for_each(|event| after.apply(event));
    broken_by_step(policy, state, &events, &after, history).for_each(drop);
    Some(after)
}

fn canon(state: &State) -> State {
    let mut state = state.clone();
    state.canon();
    state
}

#[test]
fn stepping_and_renaming_commute() {
    let mut steps = 0;
    for policy in [Policy::hardened(), Policy::as_drawn()] {
        for model in MODELS {
            let adversary = Adversary::new(&policy, model, &SCOPES[0]);
            for seed in 1..=150 {
                let mut draw = Draw(seed * 0x9E37_79B9);
                // The same walk twice: with the names that the kernel gives, and renamed after every step.
                let (mut raw, mut raw_history) = (fresh(), History::default());
                let (mut short, mut short_history) = (fresh(), History::default());
                for _ in 0..120 {
                    let inputs = adversary.inputs(&raw);
                    let Some(input) = inputs.get(draw.below(inputs.len().max(1))) else { break };
                    let renamed = rename(input, &short);
                    let after = step(&policy, &raw, &mut raw_history, input);
                    let short_after = step(&policy, &short, &mut short_history, &renamed);
                    assert_eq!(
                        after.is_some(),
                        short_after.is_some(),
                        "{} {}: {input:?}",
                        policy.name,
                        model.name
                    );
                    let (Some(after), Some(short_after)) = (after, short_after) else { continue };
                    (raw, short) = (after, canon(&short_after));
                    assert_eq!(canon(&raw), short, "{} {}: {input:?}", policy.name, model.name);
                    assert_eq!(raw_history, short_history, "{} {}: {input:?}", policy.name, model.name);
                    steps += 1;
                }
            }
        }
    }
    assert!(steps > 10_000, "the walks are too short to say anything: {steps} steps");
}
