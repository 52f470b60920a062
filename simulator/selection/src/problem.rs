//! Problems with item ids, read from files.

use super::error::{ItemError, LocatedError, ProblemFileError, problem_error, quoted};
use super::format::{InclusionFile, ItemFile, LayerFile, Object, ProblemFile};
use super::id::Id;
use orchestrion_files::limits::PROBLEM_FILE_BYTES_MAX;
use orchestrion_kernel::module::Module;
use orchestrion_kernel::selection::{Candidate, Inclusion, Problem, ProblemError};
use orchestrion_report::text::sanitize;
use orchestrion_yaml::suggest_nearest;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// Size limit of problem and certificate files.
pub const PROBLEM_BYTES_MAX: usize = PROBLEM_FILE_BYTES_MAX;

/// Problem with the ids and attributes of its items, by position.
#[derive(Clone, Debug)]
pub struct NamedProblem {
    /// Problem of the kernel, with items in order of their ids. Candidates after the last id are headings of a context, which
    /// depend on the items below them.
    pub problem: Problem,
    /// Tokens of the budget that are reserved for the reply; the budget of `problem` excludes them.
    pub reserved: u64,
    /// Module of the context, if the problem is from a trace.
    pub module: Option<Module>,
    /// Ids, ascending.
    pub ids: Vec<Id<'static>>,
    /// Keys of the items, if the problem is from a trace; else empty.
    pub keys: Vec<String>,
    /// Layers.
    pub layers: Vec<LayerFile>,
    /// Groups.
    pub groups: Vec<Option<Id<'static>>>,
    /// Positions in the order of the file, oldest first.
    pub by_age: Vec<usize>,
}

impl NamedProblem {
    /// Reads a problem file; `budget` overrides the budget of the file.
    ///
    /// # Errors
    /// [`ProblemFileError`] for a file that cannot be read, or a problem that is not valid.
    pub fn read(path: &Path, budget: Option<u64>) -> Result<Self, ProblemFileError> {
        Self::with_budget(&path.display().to_string(), &read_bytes(path)?, budget)
    }

    /// Reads a problem from the bytes of a file. Errors refer to the file as `name`.
    ///
    /// # Errors
    /// As [`NamedProblem::read`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, ProblemFileError> {
        Self::with_budget(name, bytes, None)
    }

    fn with_budget(name: &str, bytes: &[u8], budget: Option<u64>) -> Result<Self, ProblemFileError> {
        // A byte order mark is not part of the text.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        decode_text(bytes)
            .and_then(|text| parse(text, budget))
            .map_err(|error| ProblemFileError::in_file(name, bytes, error))
    }

    /// Returns the position of an item by its id, written as on a command line.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let find = |id: &Id<'_>| self.ids.binary_search(id).ok();
        let number = name.parse().ok().and_then(|number| find(&Id::Number(number)));
        number.or_else(|| find(&Id::Text(name.into())))
    }

    /// Returns the ids at these positions, without headings.
    #[must_use]
    pub fn names(&self, positions: &[usize]) -> Vec<&Id<'static>> {
        positions.iter().filter_map(|position| self.ids.get(*position)).collect()
    }
}

/// Reads a file within the size limit.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, ProblemFileError> {
    let unreadable = |error| ProblemFileError::unreadable(&path.display().to_string(), &error);
    orchestrion_files::read(path, PROBLEM_BYTES_MAX as u64).map_err(unreadable)
}

/// Decodes UTF-8 text within the size limit.
pub(super) fn decode_text(bytes: &[u8]) -> Result<&str, LocatedError> {
    if bytes.len() > PROBLEM_BYTES_MAX {
        return Err(LocatedError {
            offset: None,
            message: format!(
                "file too large: expected at most {PROBLEM_BYTES_MAX} bytes ({} MiB), found more",
                PROBLEM_BYTES_MAX >> 20
            ),
            help: "remove items that cannot be selected".into(),
        });
    }
    std::str::from_utf8(bytes).map_err(|error| LocatedError {
        offset: Some(error.valid_up_to()),
        message: "invalid text: expected UTF-8".into(),
        help: "save the file as UTF-8".into(),
    })
}

fn parse(text: &str, budget: Option<u64>) -> Result<NamedProblem, LocatedError> {
    let Object(mut file) =
        serde_json::from_str::<Object<ProblemFile<'_>>>(text).map_err(|error| problem_error(text, &error))?;
    file.budget = budget.unwrap_or(file.budget);
    to_problem(file).map_err(|error| error.located(text))
}

/// Sorts the items and replaces ids by positions.
fn to_problem(file: ProblemFile<'_>) -> Result<NamedProblem, ItemError> {
    let ProblemFile { budget, reserved, items } = file;
    let Some(left) = budget.checked_sub(reserved) else {
        let message =
            format!("budget too small: expected at least the {reserved} reserved tokens, found {budget}");
        return Err(ItemError { item: None, message, help: "reserve less, or raise the budget".into() });
    };
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|a, b| items[*a].id.cmp(&items[*b].id));
    let mut by_age = vec![0; items.len()];
    for (position, index) in order.iter().enumerate() {
        by_age[*index] = position;
    }
    let positions = positions(&items, &by_age)?;
    let mut candidates = Vec::with_capacity(items.len());
    for index in &order {
        candidates.push(candidate(*index, &items[*index], &positions)?);
    }
    drop(positions);
    join_groups(&items, &by_age, &mut candidates);
    let problem = Problem::new(left, candidates).map_err(|error| item_error(&error, &items, &order, left))?;
    let (mut ids, mut groups, mut layers) = (Vec::new(), Vec::new(), Vec::new());
    let mut items: Vec<Option<ItemFile<'_>>> = items.into_iter().map(Some).collect();
    for item in order.iter().filter_map(|index| items[*index].take()) {
        ids.push(item.id.into_owned());
        groups.push(item.group.map(Id::into_owned));
        layers.push(item.layer);
    }
    Ok(NamedProblem { problem, reserved, module: None, ids, keys: Vec::new(), layers, groups, by_age })
}

/// Returns the positions of all ids.
fn positions<'a, 'b>(
    items: &'b [ItemFile<'a>],
    by_age: &[usize],
) -> Result<HashMap<&'b Id<'a>, usize>, ItemError> {
    let mut positions = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match positions.entry(&item.id) {
            Entry::Vacant(entry) => entry.insert(by_age[index]),
            Entry::Occupied(_) => {
                let message = format!(
                    "duplicate id: item {} of the list has the id {} of an earlier item",
                    index + 1,
                    quoted(&item.id)
                );
                return Err(ItemError::new(index, message, "change one of the ids"));
            }
        };
    }
    Ok(positions)
}

fn candidate(
    index: usize,
    item: &ItemFile<'_>,
    positions: &HashMap<&Id<'_>, usize>,
) -> Result<Candidate, ItemError> {
    let position = |dep: &Id<'_>| {
        positions.get(dep).copied().ok_or_else(|| {
            let message = format!("item {} depends on the unknown item {}", quoted(&item.id), quoted(dep));
            let suggestion = match dep.other_kind().filter(|other| positions.contains_key(other)) {
                Some(other) => format!("did you mean {}? ", quoted(&other)),
                None => {
                    let ids: Vec<String> = positions.keys().map(ToString::to_string).collect();
                    suggest_nearest(&sanitize(&dep.to_string()), ids.iter().map(String::as_str))
                }
            };
            ItemError::new(index, message, format!("{suggestion}add the item, or remove it from `deps`"))
        })
    };
    let inclusion = match item.inclusion {
        None => Inclusion::Free,
        Some(InclusionFile::Pinned) => Inclusion::Pinned,
        Some(InclusionFile::Forbidden) => Inclusion::Forbidden,
    };
    let deps = item.deps.iter().map(position).collect::<Result<_, _>>()?;
    Ok(Candidate { utility: item.utility, cost: item.cost, deps, inclusion })
}

/// Adds dependencies that join the items of each group in a cycle.
fn join_groups(items: &[ItemFile<'_>], by_age: &[usize], candidates: &mut [Candidate]) {
    let mut groups: HashMap<&Id<'_>, (usize, usize)> = HashMap::new();
    for (item, position) in items.iter().zip(by_age) {
        let Some(group) = &item.group else { continue };
        match groups.entry(group) {
            Entry::Vacant(entry) => {
                entry.insert((*position, *position));
            }
            Entry::Occupied(mut ends) => {
                let (_, last) = ends.get_mut();
                candidates[*last].deps.push(*position);
                *last = *position;
            }
        }
    }
    for (first, last) in groups.into_values().filter(|(first, last)| first != last) {
        candidates[last].deps.push(first);
    }
}

/// Converts an error of the kernel, with ids instead of positions.
fn item_error(error: &ProblemError, items: &[ItemFile<'_>], order: &[usize], left: u64) -> ItemError {
    let id =
        |position: &usize| order.get(*position).map_or_else(String::new, |index| quoted(&items[*index].id));
    let index = |position: &usize| order.get(*position).copied();
    match error {
        ProblemError::TooLarge { item } => ItemError {
            item: index(item),
            message: format!(
                "numbers too large: with item {}, the sum of utilities or of costs exceeds 2^62",
                id(item)
            ),
            help: "use larger units".into(),
        },
        ProblemError::PinnedDependsOnForbidden { pinned, forbidden } => ItemError {
            item: index(pinned),
            message: format!(
                "item {} is pinned, but depends on {}, which is forbidden",
                id(pinned),
                id(forbidden)
            ),
            help: "change the inclusion of one of them, or remove the dependency".into(),
        },
        ProblemError::PinnedOverBudget { required, .. } => {
            let first = items.iter().position(|item| item.inclusion == Some(InclusionFile::Pinned));
            let others = items
                .iter()
                .filter(|item| item.inclusion == Some(InclusionFile::Pinned))
                .count()
                .saturating_sub(1);
            let pinned = match (first, others) {
                (Some(first), 0) => format!("item {} is", quoted(&items[first].id)),
                (Some(first), _) => format!("item {} and {others} others are", quoted(&items[first].id)),
                (None, _) => "items are".into(),
            };
            ItemError {
                item: first,
                message: format!(
                    "budget too small: {pinned} pinned and cost {required} tokens with their dependencies, found {left}"
                ),
                help: "raise the budget, reserve less, or pin less".into(),
            }
        }
        other => ItemError { item: None, message: other.to_string(), help: "correct the problem".into() },
    }
}
