//! Resource limits, stops, memory and fingerprints.

use super::{explored, only, threads};
use crate::fingerprint::fingerprint;
use crate::visited::{IdsExhausted, NONE, Visited, number};
use crate::{FairModel, ObservationSet, Options, Resource, ResourceLimits, StaterightModel, Termination};
use stateright::{Checker, Model, Property};
use std::collections::HashSet;
use std::time::Duration;

/// Counters up to a bound. Their sum is the observation.
#[derive(Clone)]
struct Counters(u8);

impl Model for Counters {
    type State = [u8; 3];
    type Action = usize;

    fn init_states(&self) -> Vec<Self::State> {
        vec![[0; 3]]
    }

    fn actions(&self, _: &Self::State, actions: &mut Vec<usize>) {
        actions.extend(0..3);
    }

    fn next_state(&self, state: &Self::State, action: usize) -> Option<Self::State> {
        let mut next = *state;
        next[action] += 1;
        (next[action] <= self.0).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("not all at 3", |_, state| *state != [3; 3]),
            Property::sometimes("never", |_, _| false),
        ]
    }
}

impl FairModel for Counters {
    fn observation_count(&self) -> usize {
        121
    }

    fn observe(&self, state: &Self::State, _: &ObservationSet, observations: &mut ObservationSet) {
        observations.insert(state.iter().map(|count| usize::from(*count)).sum());
    }
}

#[test]
fn every_limit_stops_and_reports_frontier() {
    let cut = |budget| {
        let options = Options { limits: budget, ..threads(2) };
        let found = explored(&Counters(30), &options);
        let Termination::LimitReached { resource: why, frontier: waiting } = found.ended() else {
            panic!("{:?}", found.ended())
        };
        assert_eq!(waiting, found.states() - found.expanded() as usize);
        assert!(waiting > 0 && found.states() < 31 * 31 * 31);
        (why, found.states())
    };
    let (why, states) = cut(ResourceLimits { states: Some(5_000), ..ResourceLimits::default() });
    assert!(why == Resource::States && (5_000..5_003).contains(&states), "{states}");
    assert_eq!(
        cut(ResourceLimits { time: Some(Duration::ZERO), ..ResourceLimits::default() }).0,
        Resource::Time
    );
    let memory = explored(&Counters(30), &threads(1)).bytes() - 1_000;
    assert_eq!(
        cut(ResourceLimits { memory_bytes: Some(memory), ..ResourceLimits::default() }).0,
        Resource::Memory
    );
}

#[test]
fn state_limit_is_independent_of_threads() {
    let budget = ResourceLimits { states: Some(5_000), ..ResourceLimits::default() };
    let states = |n| explored(&Counters(30), &Options { limits: budget, ..threads(n) }).states();
    assert_eq!([states(1), states(2), states(3)], [states(1); 3]);
}

#[test]
fn search_stops_at_first_requested_observation() {
    for n in 1..=3 {
        let found = explored(&Counters(30), &Options { stop_at: only(12, 121), ..threads(n) });
        assert_eq!(found.ended(), Termination::ObservationFound { observation: 12 });
        let witness = found.witness(12).unwrap();
        assert_eq!((found.depth_of(witness.node), found.witness(13)), (12, None));
        assert!(found.expanded() <= witness.node);
    }
}

#[test]
fn stateright_properties_are_observations() {
    let found = explored(&StaterightModel::new(Counters(3)), &threads(1));
    assert_eq!((found.ended(), found.states(), found.depth()), (Termination::Exhausted, 64, 9));
    let path = found.path_to_witness(&StaterightModel::new(Counters(3)), found.witness(0).unwrap()).unwrap();
    assert_eq!(path.last(), &[3; 3]);
    assert_eq!(path.into_actions().len(), 9);
    assert_eq!(found.witness(1), None);
    let reference = Counters(3).checker().spawn_bfs().join();
    assert_eq!(
        (reference.unique_state_count(), reference.state_count() as u64),
        (found.states(), found.generated())
    );
}

#[test]
fn progress_is_rate_limited() {
    let (mut calls, began) = (0, std::time::Instant::now());
    crate::explore(&Counters(40), &threads(1), &mut |_| calls += 1).unwrap();
    assert!(calls <= began.elapsed().as_millis() / 100);
}

#[test]
fn visited_state_takes_at_most_24_bytes() {
    let mut visited = Visited::new();
    let mut most = 0_f64;
    for number in 0..2_000_000_u32 {
        let fingerprint = fingerprint(&number);
        let Err(place) = visited.find(fingerprint, |_| true) else { panic!("{number} was not there before") };
        assert_eq!(visited.insert(fingerprint, place, (number / 2, 7)), Ok((number, false)));
        if number > 500_000 {
            most = most.max(visited.bytes() as f64 / f64::from(number + 1));
        }
    }
    assert!(most <= 24.0, "{most:.2} bytes");
    for number in 0..2_000_000_u32 {
        let slot = visited.find(fingerprint(&number), |_| true);
        assert_eq!(slot.ok().map(|slot| slot.node()), Some(number));
        assert_eq!(visited.from(number), (number / 2, 7));
    }
    assert!((2_000_000..2_100_000_u32).all(|other| visited.find(fingerprint(&other), |_| true).is_err()));
}

#[test]
fn node_numbers_end_before_none() {
    assert_eq!(number(NONE as usize - 1), Ok(NONE - 1));
    assert_eq!(number(NONE as usize), Err(IdsExhausted));
}

#[test]
fn fingerprint_bits_are_uniform() {
    // 2^18 states collide 8 times on average in 32 bits, and more than 26 times with a probability below one in a
    // million.
    let lists = |number: u32| vec![(number >> 12) as u8, (number >> 6) as u8 & 63, number as u8 & 63];
    let alike: [&dyn Fn(u32) -> u64; 4] = [
        &|number| fingerprint(&number),
        &|number| fingerprint(&(u64::from(number) << 40)),
        &|number| fingerprint(&lists(number)),
        &|number| fingerprint(&(vec![0_u64; 40], number, [number / 7; 5])),
    ];
    for (kind, fingerprint) in alike.into_iter().enumerate() {
        for shift in (0..=32).step_by(4) {
            let different: HashSet<u32> =
                (0..1 << 18).map(|number| (fingerprint(number) >> shift) as u32).collect();
            let shared = (1 << 18) - different.len();
            assert!(shared < 27, "kind {kind}: {shared} shared from bit {shift} on");
        }
    }
}
