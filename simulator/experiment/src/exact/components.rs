//! Strongly connected components of a graph, in reverse topological order: successors first.

/// The components of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    /// The component of each state.
    of: Vec<u32>,
    /// The states, grouped by component.
    states: Vec<u32>,
    /// The first state of each component in `states`, and the end.
    starts: Vec<usize>,
}

/// The number of a state that was not visited.
const NEW: u32 = u32::MAX;

impl Components {
    /// Computes the components by Tarjan's algorithm, without recursion. `successor` returns the successor of a state at a position.
    pub(crate) fn new(len: usize, successor: impl Fn(u32, usize) -> Option<u32>) -> Self {
        let (mut of, mut states, mut starts) = (vec![NEW; len], Vec::with_capacity(len), vec![0]);
        let (mut number, mut low) = (vec![NEW; len], vec![0_u32; len]);
        let (mut next, mut open) = (0, Vec::new());
        let get = |values: &[u32], state: u32| values.get(state as usize).copied().unwrap_or(0);
        let set = |values: &mut [u32], state: u32, value: u32| {
            if let Some(slot) = values.get_mut(state as usize) {
                *slot = value;
            }
        };
        let mut path: Vec<(u32, usize)> = Vec::new();
        for root in 0..len as u32 {
            if get(&number, root) != NEW {
                continue;
            }
            path.push((root, 0));
            while let Some((state, at)) = path.last_mut() {
                let state = *state;
                if *at == 0 && get(&number, state) == NEW {
                    set(&mut number, state, next);
                    set(&mut low, state, next);
                    next += 1;
                    open.push(state);
                }
                if let Some(to) = successor(state, *at) {
                    *at += 1;
                    if get(&number, to) == NEW {
                        path.push((to, 0));
                    } else if get(&of, to) == NEW {
                        let lower = get(&low, state).min(get(&number, to));
                        set(&mut low, state, lower);
                    }
                    continue;
                }
                path.pop();
                if let Some((parent, _)) = path.last() {
                    let lower = get(&low, *parent).min(get(&low, state));
                    set(&mut low, *parent, lower);
                }
                if get(&low, state) == get(&number, state) {
                    let component = starts.len() as u32 - 1;
                    while let Some(member) = open.pop() {
                        set(&mut of, member, component);
                        states.push(member);
                        if member == state {
                            break;
                        }
                    }
                    starts.push(states.len());
                }
            }
        }
        Self { of, states, starts }
    }

    /// Returns the number of components.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the component of a state.
    pub(crate) fn of(&self, state: u32) -> u32 {
        self.of.get(state as usize).copied().unwrap_or(NEW)
    }

    /// Returns the states of a component.
    pub(crate) fn states(&self, component: usize) -> &[u32] {
        let at = |index: usize| self.starts.get(index).copied().unwrap_or(0);
        self.states.get(at(component)..at(component + 1)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_their_successors() {
        let graph: [&[u32]; 6] = [&[1, 5], &[2], &[3, 1], &[4], &[3], &[5]];
        let components = Components::new(6, |state, at| graph[state as usize].get(at).copied());
        let mut groups: Vec<Vec<u32>> =
            (0..components.len()).map(|c| components.states(c).to_vec()).collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        assert_eq!(groups, [vec![3, 4], vec![1, 2], vec![5], vec![0]]);
        assert!(components.of(1) == components.of(2) && components.of(0) != components.of(5));
    }
}
