//! Every transition occurs in some golden trace.

use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_tests::traceability::rows_taken;

#[test]
fn golden_traces_take_every_transition() {
    let taken = rows_taken();
    let ids = TRANSITIONS.iter().map(|row| row.id);
    let missed: Vec<&str> = ids.filter(|id| !taken.contains_key(id)).collect();
    assert_eq!(missed, [""; 0], "transitions without a golden trace; add a scenario in specs/scenarios");
}
