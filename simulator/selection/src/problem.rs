//! A problem whose items have names: read from a file, put in order, and handed to the kernel.

use super::error::{ItemError, LocatedError, ProblemFileError, quoted, unparsed};
use super::format::{Id, ItemFile, LayerFile, MarkFile, Object, ProblemFile};
use orchestrion_kernel::module::Module;
use orchestrion_kernel::selection::{Candidate, Inclusion, Problem, ProblemError};
use orchestrion_report::show::sanitize;
use orchestrion_yaml::nearest;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The most bytes that a problem file, or a certificate, may have: 256 MiB.
pub const PROBLEM_BYTES_MAX: usize = 1 << 28;

/// A problem, and what its items are called.
#[derive(Clone, Debug)]
pub struct NamedProblem {
    /// What the kernel solves. Items stand in the order of their ids. What comes after the last id has no name: the headings of
    /// a context, which come with what stands under them.
    pub problem: Problem,
    /// The tokens of the budget that are kept for the answer; the problem does without them.
    pub reserved: u64,
    /// Whose context it is, if it is out of a trace.
    pub module: Option<Module>,
    /// The ids, by position.
    pub ids: Vec<Id<'static>>,
    /// What the items are about, by position, where that is known.
    pub keys: Vec<String>,
    /// The layers, by position.
    pub layers: Vec<LayerFile>,
    /// The groups, by position.
    pub groups: Vec<Option<Id<'static>>>,
    /// The positions in the order of the file, the oldest first.
    pub by_age: Vec<usize>,
}

impl NamedProblem {
    /// Reads a problem file; with a budget that is given here in the place of its own.
    ///
    /// # Errors
    /// [`ProblemError`] for a file that cannot be read, is no problem, or contradicts itself.
    pub fn read(path: &Path, budget: Option<u64>) -> Result<Self, ProblemFileError> {
        Self::with_budget(&path.display().to_string(), &bytes_of(path)?, budget)
    }

    /// Reads a problem from the bytes of a file. `name` is what errors call it.
    ///
    /// # Errors
    /// As [`Named::read`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, ProblemFileError> {
        Self::with_budget(name, bytes, None)
    }

    fn with_budget(name: &str, bytes: &[u8], budget: Option<u64>) -> Result<Self, ProblemFileError> {
        // A byte order mark is no part of the text.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        text_of(bytes)
            .and_then(|text| read(text, budget))
            .map_err(|fault| ProblemFileError::in_file(name, bytes, fault))
    }

    /// The position of the item that is called so on a command line.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let find = |id: &Id<'_>| self.ids.binary_search_by(|own| own.cmp(id)).ok();
        let number = name.parse().ok().and_then(|number| find(&Id::Number(number)));
        number.or_else(|| find(&Id::Text(name.into())))
    }

    /// The ids at these positions.
    pub fn names(&self, positions: &[usize]) -> Vec<&Id<'static>> {
        positions.iter().filter_map(|position| self.ids.get(*position)).collect()
    }
}

/// What is in a file; of a larger one, as much as shows that it is too large.
pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>, ProblemFileError> {
    let unreadable = |error| ProblemFileError::unreadable(&path.display().to_string(), &error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(PROBLEM_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

pub(super) fn text_of(bytes: &[u8]) -> Result<&str, LocatedError> {
    if bytes.len() > PROBLEM_BYTES_MAX {
        return Err(LocatedError {
            at: None,
            what: format!("the file is too large: expected at most {PROBLEM_BYTES_MAX} bytes (256 MiB)"),
            help: "leave out what could not be chosen anyway".into(),
        });
    }
    std::str::from_utf8(bytes).map_err(|error| LocatedError {
        at: Some(error.valid_up_to()),
        what: "expected UTF-8 text, found bytes that are none".into(),
        help: "save the file as UTF-8".into(),
    })
}

fn read(text: &str, budget: Option<u64>) -> Result<NamedProblem, LocatedError> {
    let Object(mut file) =
        serde_json::from_str::<Object<ProblemFile<'_>>>(text).map_err(|error| unparsed(text, &error))?;
    file.budget = budget.unwrap_or(file.budget);
    named(file).map_err(|misfit| misfit.located(text))
}

/// Puts the items in order, and positions in the place of ids.
fn named(file: ProblemFile<'_>) -> Result<NamedProblem, ItemError> {
    let ProblemFile { budget, reserved, items } = file;
    let Some(left) = budget.checked_sub(reserved) else {
        let what = format!("{reserved} tokens are reserved of a budget of {budget}");
        return Err(ItemError { item: None, what, help: "reserve less, or raise the budget".into() });
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
    let problem = Problem::new(left, candidates).map_err(|flaw| item_error(&flaw, &items, &order, left))?;
    let (mut ids, mut groups, mut layers) = (Vec::new(), Vec::new(), Vec::new());
    let mut items: Vec<Option<ItemFile<'_>>> = items.into_iter().map(Some).collect();
    for item in order.iter().filter_map(|index| items[*index].take()) {
        ids.push(item.id.into_owned());
        groups.push(item.group.map(Id::into_owned));
        layers.push(item.layer);
    }
    Ok(NamedProblem { problem, reserved, module: None, ids, keys: Vec::new(), layers, groups, by_age })
}

/// The positions of all ids.
fn positions<'a, 'b>(
    items: &'b [ItemFile<'a>],
    by_age: &[usize],
) -> Result<HashMap<&'b Id<'a>, usize>, ItemError> {
    let mut positions = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match positions.entry(&item.id) {
            Entry::Vacant(free) => free.insert(by_age[index]),
            Entry::Occupied(_) => {
                let what = format!(
                    "item {} of the list has the id {}, as an item before it has",
                    index + 1,
                    quoted(&item.id)
                );
                return Err(ItemError::at(index, what, "give each item an id of its own"));
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
            let what =
                format!("item {} depends on {}, and there is no such item", quoted(&item.id), quoted(dep));
            let near = match dep.of_other_kind().filter(|other| positions.contains_key(other)) {
                Some(other) => format!("did you mean {}? ", quoted(&other)),
                None => {
                    let ids: Vec<String> = positions.keys().map(ToString::to_string).collect();
                    nearest(&sanitize(&dep.to_string()), ids.iter().map(String::as_str))
                }
            };
            ItemError::at(index, what, format!("{near}add the item, or take it out of `deps`"))
        })
    };
    let mark = match item.mark {
        None => Inclusion::Free,
        Some(MarkFile::Pinned) => Inclusion::Pinned,
        Some(MarkFile::Forbidden) => Inclusion::Forbidden,
    };
    let deps = item.deps.iter().map(position).collect::<Result<_, _>>()?;
    Ok(Candidate { utility: item.utility, cost: item.cost, deps, inclusion: mark })
}

/// The items of a group depend on each other, in a ring.
fn join_groups(items: &[ItemFile<'_>], by_age: &[usize], candidates: &mut [Candidate]) {
    let mut groups: HashMap<&Id<'_>, (usize, usize)> = HashMap::new();
    for (item, position) in items.iter().zip(by_age) {
        let Some(group) = &item.group else { continue };
        match groups.entry(group) {
            Entry::Vacant(free) => {
                free.insert((*position, *position));
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

/// A flaw that the kernel found, told with names.
fn item_error(flaw: &ProblemError, items: &[ItemFile<'_>], order: &[usize], left: u64) -> ItemError {
    let id =
        |position: &usize| order.get(*position).map_or_else(String::new, |index| quoted(&items[*index].id));
    let index = |position: &usize| order.get(*position).copied();
    match flaw {
        ProblemError::TooLarge { item } => ItemError {
            item: index(item),
            what: format!("with item {} the sum of all utilities or of all costs is beyond 2^62", id(item)),
            help: "choose larger units".into(),
        },
        ProblemError::PinnedDependsOnForbidden { pinned, forbidden } => ItemError {
            item: index(pinned),
            what: format!("item {} is pinned, and needs {}, which is forbidden", id(pinned), id(forbidden)),
            help: "take one of the marks away, or the dependency".into(),
        },
        ProblemError::PinnedOverBudget { needs, .. } => {
            let first = items.iter().position(|item| item.mark == Some(MarkFile::Pinned));
            let others =
                items.iter().filter(|item| item.mark == Some(MarkFile::Pinned)).count().saturating_sub(1);
            let which = match (first, others) {
                (Some(first), 0) => format!("item {} is", quoted(&items[first].id)),
                (Some(first), _) => format!("item {} and {others} more are", quoted(&items[first].id)),
                (None, _) => "items are".into(),
            };
            ItemError {
                item: first,
                what: format!(
                    "{which} pinned, which takes {needs} tokens with all that is needed; the budget leaves {left}"
                ),
                help: "raise the budget, reserve less, or pin less".into(),
            }
        }
        other => ItemError { item: None, what: other.to_string(), help: "mend the problem".into() },
    }
}
