//! Maximal end components: sets of states in which the choices allow to stay for ever.

use super::chain::Chain;
use super::components::Components;

/// A maximal end component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndComponent {
    pub(crate) states: Vec<u32>,
    /// The choices that stay in it, in ascending order.
    pub(crate) choices: Vec<u32>,
}

/// Returns the maximal end components of the choices that are allowed.
pub(crate) fn end_components(chain: &Chain, is_allowed: impl Fn(u32) -> bool) -> Vec<EndComponent> {
    let len = chain.states();
    let allowed = |state: u32| chain.choices(state).filter(|choice| is_allowed(*choice)).collect();
    let mut choices: Vec<Vec<u32>> = (0..len as u32).map(allowed).collect();
    loop {
        let targets: Vec<Vec<u32>> = choices
            .iter()
            .map(|choices| {
                choices.iter().flat_map(|choice| chain.edges(*choice)).map(|edge| edge.to).collect()
            })
            .collect();
        let components =
            Components::new(len, |state, at| targets.get(state as usize).and_then(|to| to.get(at)).copied());
        let mut is_stable = true;
        for (state, choices) in choices.iter_mut().enumerate() {
            let own = components.of(state as u32);
            let count = choices.len();
            choices.retain(|choice| chain.edges(*choice).iter().all(|edge| components.of(edge.to) == own));
            is_stable &= choices.len() == count;
        }
        if is_stable {
            return (0..components.len())
                .filter_map(|at| component(components.states(at), &choices))
                .collect();
        }
    }
}

fn component(states: &[u32], choices: &[Vec<u32>]) -> Option<EndComponent> {
    let mut stay: Vec<u32> =
        states.iter().filter_map(|state| choices.get(*state as usize)).flatten().copied().collect();
    stay.sort_unstable();
    (!stay.is_empty()).then(|| EndComponent { states: states.to_vec(), choices: stay })
}
