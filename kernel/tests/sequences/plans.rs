//! Plans that a line of text cannot state.

use crate::conversation::state_after;
use orchestrion_kernel::module::Report;
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{Event, Input, ItemId, TaskId, decide};

/// 000-2.6: the dependencies of a subtask are items in the order of ids, whatever order its task states.
#[test]
fn dependencies_of_a_subtask_are_in_id_order() {
    let (policy, state) = state_after("conversation hardened\nsession_start ada; advance Planning");
    let task = |number, depends_on: &[u32]| Task {
        id: TaskId::new(number),
        text: "task".into(),
        effect: Effect::Pure,
        depends_on: Some(depends_on.iter().copied().map(TaskId::new).collect()),
        scope: None,
        step: StepOptions::default(),
    };
    let reply = Input::Reply {
        call: state.control().pending_calls()[0].id,
        report: Report::Plan(Plan::new(vec![task(1, &[]), task(2, &[]), task(3, &[2, 1])]).unwrap()),
        summary_update: None,
        action: None,
        interaction: None,
    };
    let events = decide(&policy, &state, state.now(), &reply).unwrap();
    let deps: Vec<&Vec<ItemId>> = events
        .iter()
        .filter_map(|event| if let Event::AddItem { deps, .. } = event { Some(deps) } else { None })
        .collect();
    let [request, first, second] = [1, 3, 4].map(ItemId::new);
    assert_eq!(deps, [&vec![request], &vec![request], &vec![request, first, second]]);
}
