//! Where the kernel is known not to do what the documents say. Whoever mends it removes this.

use orchestrion_kernel::{Event, Events, State};

/// The events without updates of items about which nothing changed.
///
/// Decision 0016: "if nothing about it changed, there is no event". A compensation that succeeds marks its subtask as
/// failed once more where it has failed already.
pub fn without_idle_updates(before: &State, events: &mut Events) {
    events.retain(|event| match event {
        Event::UpdateItem { item, deps } if before.control.phase().name() == "RollbackActive" => {
            before.semantic.get(item.id).is_none_or(|entry| entry.item != *item || entry.deps != *deps)
        }
        _ => true,
    });
}
