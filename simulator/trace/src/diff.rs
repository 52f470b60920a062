//! The differences between two traces: aligned steps, the first cause, and its consequences.
//!
//! Entry point: [`diff`]. Steps are aligned by what they are, so that an inserted step changes none after it. Lines with equal bytes at
//! the start of both traces are not parsed.

mod alignment;
mod cause;
mod plain_step;
mod side;

pub use alignment::EDITS_MAX;
pub use cause::{Cause, CauseKind};
pub use plain_step::is_equal_except_times;

use crate::ending::EndingFold;
use crate::{ContextRecord, Header, Reader, RequestEnding, TraceError, transition};
use alignment::{Alignment, align};
use orchestrion_kernel::{Phase, State};
use plain_step::{PlainStep, Renumbering};
use side::{ReadStep, Side, StepKeys};
use std::io::BufRead;

/// The differences between two traces, A and B.
#[derive(Debug)]
pub struct TraceDiff {
    /// The headers.
    pub headers: [Header; 2],
    /// The numbers of steps that were read.
    pub steps: [u64; 2],
    /// The first cause, if a step or the policy differs.
    pub cause: Option<Cause>,
    /// The steps that differ, in the order of the alignment.
    pub changes: Vec<StepChange>,
    /// The steps that are equal except for their times.
    pub times: Remainder,
    /// The steps with equal decisions whose contexts differ.
    pub contexts: Remainder,
    /// The steps that are equal except for a note or the key of the host.
    pub notes: Remainder,
    /// The endings of the requests, in all steps that were read.
    pub endings: [Vec<RequestEnding>; 2],
    /// Whether the differing part needs at most [`EDITS_MAX`] insertions and deletions. Otherwise its steps are paired in order.
    pub is_aligned: bool,
    /// The errors that ended reading.
    pub errors: [Option<TraceError>; 2],
}

/// A step that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepChange {
    /// Only A has this step.
    OnlyA(u64),
    /// Only B has this step.
    OnlyB(u64),
    /// A step of A is another one in B.
    Changed(u64, u64, ChangedPart),
}

impl StepChange {
    /// The numbers of the step in A and in B.
    #[must_use]
    pub const fn steps(&self) -> [Option<u64>; 2] {
        match self {
            Self::OnlyA(a) => [Some(*a), None],
            Self::OnlyB(b) => [None, Some(*b)],
            Self::Changed(a, b, _) => [Some(*a), Some(*b)],
        }
    }
}

/// The part of a step that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedPart {
    /// The input.
    Input,
    /// The decision about the same input.
    Decision,
    /// Nothing but texts.
    Text,
    /// The items, calls or requests that the step refers to.
    References,
}

/// Differences that are counted and not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remainder {
    /// The number of steps.
    pub count: u64,
    /// The first one, in A and in B.
    pub first: Option<[u64; 2]>,
}

impl Remainder {
    fn add(&mut self, a: u64, b: u64) {
        self.count += 1;
        self.first.get_or_insert([a, b]);
    }
}

impl TraceDiff {
    /// Whether nothing differs that was read. Headers are compared by [`TraceDiff::has_equal_headers`].
    #[must_use]
    pub fn has_equal_steps(&self) -> bool {
        let Self { cause, changes, times, contexts, notes, .. } = self;
        cause.is_none() && changes.is_empty() && [times, contexts, notes].iter().all(|rest| rest.count == 0)
    }

    /// Whether the headers are the same.
    #[must_use]
    pub fn has_equal_headers(&self) -> bool {
        self.headers[0] == self.headers[1]
    }
}

/// Returns the differences between two traces of one format. Each is opened twice: to align its steps, and to compare them.
///
/// Reading can end with an error before the end of a trace. Every step before the error is compared, also the last one: it was recorded,
/// and is often what the reader looks for. Which steps follow is unknown. So the steps of the other trace are compared as far as the
/// readable part reaches, which the shortest alignment decides, and the steps after that are no difference.
///
/// # Errors
/// [`TraceError`] if a trace cannot be opened. An error in a later line is part of the result.
pub fn diff<A: BufRead, B: BufRead>(
    open_a: impl Fn() -> Result<Reader<A>, TraceError>,
    open_b: impl Fn() -> Result<Reader<B>, TraceError>,
) -> Result<TraceDiff, TraceError> {
    let (mut a, mut b) = (Side::new(open_a()?), Side::new(open_b()?));
    let headers = [a.header().clone(), b.header().clone()];
    let equal = side::skip_equal_steps(&mut a, &mut b);
    let (keys_a, keys_b) = (a.read_keys(), b.read_keys());
    let mut compared = Compared {
        phase: State::new(headers[0].conversation.clone()).control().phase(),
        renumbering: Renumbering::default(),
        endings: Default::default(),
        result: TraceDiff {
            steps: [a.steps, b.steps],
            cause: None,
            changes: Vec::new(),
            times: Remainder::default(),
            contexts: Remainder::default(),
            notes: Remainder::default(),
            endings: Default::default(),
            is_aligned: true,
            errors: [a.error, b.error],
            headers,
        },
    };
    let is_equal = keys_a.exact.is_empty() && keys_b.exact.is_empty();
    if is_equal && compared.result.has_equal_headers() {
        return Ok(compared.result);
    }
    let is_cut = compared.result.errors.each_ref().map(Option::is_some);
    let operations = pair_steps(&keys_a, &keys_b, is_cut, &mut compared.result.is_aligned);
    let (mut a, mut b) = (Side::new(open_a()?), Side::new(open_b()?));
    for _ in 0..equal {
        compared.observe(a.next().as_ref(), b.next().as_ref());
    }
    for operation in operations {
        match operation {
            Operation::OnlyA => compared.add(a.next(), None, b.peek()),
            Operation::OnlyB => compared.add(None, b.next(), a.peek()),
            Operation::Pair => compared.add(a.next(), b.next(), None),
        }
    }
    // The endings are those of all steps, also of the steps that are not compared.
    let rest_a = std::iter::from_fn(|| a.next());
    rest_a.for_each(|step| compared.endings[0].apply(&step.events));
    let rest_b = std::iter::from_fn(|| b.next());
    rest_b.for_each(|step| compared.endings[1].apply(&step.events));
    Ok(compared.finish())
}

/// How the next step of a side is compared.
#[derive(Clone, Copy)]
enum Operation {
    OnlyA,
    OnlyB,
    Pair,
}

/// Pairs the steps of both sides: equal ones first, then those between with the same kind of input. A side is cut if an error ended reading
/// it: after its last step, the other side is not compared.
fn pair_steps(a: &StepKeys, b: &StepKeys, is_cut: [bool; 2], is_aligned: &mut bool) -> Vec<Operation> {
    let equal = align(&a.exact, &b.exact, is_cut).map_or_else(Vec::new, |aligned| aligned.pairs);
    let (mut operations, mut from) = (Vec::new(), (0, 0));
    let ends = equal.iter().copied().map(Some).chain([None]);
    for pair in ends {
        let (i, j) = pair.unwrap_or((a.exact.len(), b.exact.len()));
        let (of_a, of_b) = (&a.kinds[from.0..i], &b.kinds[from.1..j]);
        // Between two equal steps, both sides are whole.
        let is_cut = if pair.is_none() { is_cut } else { [false, false] };
        let similar = align(of_a, of_b, is_cut).unwrap_or_else(|| {
            *is_aligned = false;
            Alignment::in_order(of_a.len(), of_b.len(), is_cut)
        });
        let mut done = (0, 0);
        for (x, y) in similar.pairs {
            operations.extend(std::iter::repeat_n(Operation::OnlyA, x - done.0));
            operations.extend(std::iter::repeat_n(Operation::OnlyB, y - done.1));
            operations.push(Operation::Pair);
            done = (x + 1, y + 1);
        }
        operations.extend(std::iter::repeat_n(Operation::OnlyA, similar.end.0 - done.0));
        operations.extend(std::iter::repeat_n(Operation::OnlyB, similar.end.1 - done.1));
        if pair.is_some() {
            operations.push(Operation::Pair);
        }
        from = (i + 1, j + 1);
    }
    operations
}

/// The differences that were found so far.
struct Compared {
    result: TraceDiff,
    renumbering: Renumbering,
    endings: [EndingFold; 2],
    /// The phase of A, which is that of B until the first cause.
    phase: Phase,
}

impl Compared {
    /// Folds the steps that were compared.
    fn observe(&mut self, a: Option<&ReadStep>, b: Option<&ReadStep>) {
        for (fold, step) in self.endings.iter_mut().zip([a, b]) {
            if let Some(step) = step {
                fold.apply(&step.events);
            }
        }
        if let Some(row) = a.and_then(|step| transition(&step.events)) {
            self.phase = row.to;
        }
    }

    /// Adds a pair of steps, or a step that one side has. `beside` is the next step of the other side.
    fn add(&mut self, a: Option<ReadStep>, b: Option<ReadStep>, beside: Option<&ReadStep>) {
        let change = match (&a, &b) {
            (None, None) => return,
            (Some(a), None) => Some(StepChange::OnlyA(a.n)),
            (None, Some(b)) => Some(StepChange::OnlyB(b.n)),
            (Some(a), Some(b)) => self.compare(a, b),
        };
        if let Some(change) = change {
            if self.result.cause.is_none() {
                let steps = [a.as_ref().or(beside), b.as_ref().or(beside)];
                self.result.cause = Some(Cause::new(steps, self.phase, &self.result.headers));
            }
            self.result.changes.push(change);
        }
        self.observe(a.as_ref(), b.as_ref());
    }

    fn compare(&mut self, a: &ReadStep, b: &ReadStep) -> Option<StepChange> {
        let changed = |part| Some(StepChange::Changed(a.n, b.n, part));
        if a.plain.key != b.plain.key {
            self.renumbering.add_new(&a.plain, &b.plain);
            let without_texts = |step: &ReadStep| PlainStep::key_without_texts(step).ok();
            return changed(match a.plain.input == b.plain.input {
                false => ChangedPart::Input,
                true if without_texts(a) == without_texts(b) => ChangedPart::Text,
                true => ChangedPart::Decision,
            });
        }
        if !self.renumbering.corresponds(&a.plain, &b.plain) {
            return changed(ChangedPart::References);
        }
        let result = &mut self.result;
        if a.at_ms != b.at_ms || a.plain.times != b.plain.times {
            result.times.add(a.n, b.n);
        }
        if a.context.as_ref().map(measure) != b.context.as_ref().map(measure)
            || a.context_digest != b.context_digest
        {
            result.contexts.add(a.n, b.n);
        }
        if a.note != b.note || a.idempotency != b.idempotency || a.possible_loss != b.possible_loss {
            result.notes.add(a.n, b.n);
        }
        None
    }

    fn finish(self) -> TraceDiff {
        let Self { mut result, endings: [of_a, of_b], .. } = self;
        result.endings = [of_a.finish(), of_b.finish()];
        result.cause = result.cause.or_else(|| Cause::of_policies(&result.headers));
        result
    }
}

/// What a context is, without the ids in it.
fn measure(context: &ContextRecord) -> (usize, u64, u64, u64, &str) {
    let ContextRecord { items, cost_tokens, payload_tokens, utility, digest, .. } = context;
    (items.len(), *cost_tokens, *payload_tokens, *utility, digest)
}
