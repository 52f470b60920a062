//! Actions that the bytes select, with every property of random walks.

use crate::generators::{Bias, Bytes, WalkAction, random_policy};
use crate::monitored::MonitoredKernel;
use crate::random_walk::Property;

/// The maximum number of actions in a run; about three requests.
const ACTIONS_MAX: usize = 120;

/// Derives a policy and actions from the bytes and checks every property of random walks.
pub fn decide(bytes: &[u8]) {
    drive(bytes, |_| {});
}

/// Runs the actions that the bytes select. `observe` receives the kernel after every input.
///
/// # Panics
///
/// If a property is violated.
pub fn drive(bytes: &[u8], mut observe: impl FnMut(&MonitoredKernel)) {
    let mut bytes = Bytes(bytes);
    let policy = random_policy(&mut bytes);
    let bias = Bias::draw(&mut bytes);
    let mut kernel = MonitoredKernel::new(&policy);
    for _ in 0..ACTIONS_MAX {
        if bytes.is_empty() {
            break;
        }
        let action = WalkAction::draw(&mut bytes, &policy, &bias, kernel.state());
        // At generation, an action is one input.
        let input = action.input(kernel.state());
        kernel.submit(&input).unwrap_or_else(|message| panic!("{message}"));
        observe(&kernel);
    }
    kernel.finish().unwrap_or_else(|message| panic!("{message}"));
}
