//! Rows of the machines beside the control FSM.

/// A row of a transition table: in status `from`, trigger `on` leads to status `to` if guard `when` holds.
///
/// Rows are in order of precedence. Without a matching row the status stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkTransition<S: 'static, T, G, A> {
    /// The id of the row.
    pub id: &'static str,
    /// The clause from which it derives.
    pub clause: &'static str,
    /// The statuses in which it starts.
    pub from: &'static [S],
    /// The kind of input.
    pub on: T,
    /// The condition.
    pub when: G,
    /// What changes with the status.
    pub action: A,
    /// The status in which it ends.
    pub to: S,
    /// A short description.
    pub label: &'static str,
}

/// Returns the first row for this status and trigger whose guard holds.
pub(crate) fn first_transition<S: Eq, T: Eq, G: Copy, A>(
    rows: &'static [NetworkTransition<S, T, G, A>],
    from: &S,
    on: &T,
    mut holds: impl FnMut(G) -> bool,
) -> Option<&'static NetworkTransition<S, T, G, A>> {
    rows.iter().find(|row| row.on == *on && row.from.contains(from) && holds(row.when))
}

#[cfg(test)]
pub(crate) fn check_rows<S: Eq + core::fmt::Debug, T: Eq, G: Eq, A>(
    rows: &'static [NetworkTransition<S, T, G, A>],
) {
    for (i, row) in rows.iter().enumerate() {
        for other in &rows[..i] {
            assert_ne!(row.id, other.id);
            let is_shadowed = row.on == other.on && row.when == other.when;
            let shared = row.from.iter().find(|from| is_shadowed && other.from.contains(from));
            assert_eq!(shared, None, "{} and {} have the same source, trigger and guard", row.id, other.id);
        }
    }
}
