//! Alignment of two sequences of step keys, after Myers (1986): the fewest insertions and deletions.
//!
//! A common start and a common end cost linear time. The middle costs `D · (N + M)` time and `D²` memory, where `D` is the number of
//! insertions and deletions, of which there are at most [`EDITS_MAX`]. Beyond them the caller gets no alignment.
//!
//! A sequence can be cut: it is the readable start of a longer one. What follows its end in the other sequence is then neither a deletion
//! nor an insertion, and is omitted. Equal ends are a coincidence then, so they are not paired first.

/// The most insertions and deletions of an alignment: 16 MB of memory.
pub const EDITS_MAX: usize = 2000;

/// What a step is, as a digest.
pub(super) type Key = [u8; 16];

/// An alignment of two sequences.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Alignment {
    /// The pairs of equal keys, in order.
    pub(super) pairs: Vec<(usize, usize)>,
    /// How much of each sequence is aligned: all of it, unless the other one is cut.
    pub(super) end: (usize, usize),
}

impl Alignment {
    /// Pairs two sequences in order, whatever their keys are.
    pub(super) fn in_order(len_a: usize, len_b: usize, [is_cut_a, is_cut_b]: [bool; 2]) -> Self {
        let both = len_a.min(len_b);
        let end = (if is_cut_b { both } else { len_a }, if is_cut_a { both } else { len_b });
        Self { pairs: (0..both).map(|i| (i, i)).collect(), end }
    }
}

/// Aligns two sequences, of which each can be cut. Returns `None` if they differ by more than [`EDITS_MAX`] insertions and deletions.
pub(super) fn align(a: &[Key], b: &[Key], is_cut: [bool; 2]) -> Option<Alignment> {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let end = match is_cut {
        [false, false] => rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count(),
        _ => 0,
    };
    let (middle_a, middle_b) = (&rest_a[..rest_a.len() - end], &rest_b[..rest_b.len() - end]);
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|i| (i, i)).collect();
    let middle = align_middle(middle_a, middle_b, is_cut)?;
    pairs.extend(middle.pairs.into_iter().map(|(i, j)| (start + i, start + j)));
    pairs.extend((0..end).map(|i| (a.len() - end + i, b.len() - end + i)));
    Some(Alignment { pairs, end: (start + middle.end.0 + end, start + middle.end.1 + end) })
}

/// Returns a shortest edit script: the greedy algorithm, and its way back.
fn align_middle(a: &[Key], b: &[Key], is_cut: [bool; 2]) -> Option<Alignment> {
    let is_end = |x: usize, y: usize| match (is_cut, x >= a.len(), y >= b.len()) {
        ([false, false], a_ends, b_ends) => a_ends && b_ends,
        ([true, false], a_ends, _) => a_ends,
        ([false, true], _, b_ends) => b_ends,
        ([true, true], a_ends, b_ends) => a_ends || b_ends,
    };
    let limit = EDITS_MAX.min(a.len() + b.len());
    // Of each diagonal `x - y`, shifted by `limit + 1`, the furthest `x`.
    let shift = limit + 1;
    let mut furthest = vec![0u32; 2 * limit + 3];
    let mut history: Vec<Vec<u32>> = Vec::new();
    for edits in 0..=limit {
        history.push(furthest[shift - edits..=shift + edits].to_vec());
        let (mut diagonal, mut end) = (shift - edits, None);
        while diagonal <= shift + edits {
            let mut x = start_of(&furthest, diagonal, shift, edits);
            let mut y = x + shift - diagonal;
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[diagonal] = u32::try_from(x).ok()?;
            if is_end(x, y) {
                end = end.max(Some((x + y, x)));
            }
            diagonal += 2;
        }
        // Of several ends after as many edits, the furthest has the most pairs.
        if let Some((length, x)) = end {
            let y = length - x;
            return Some(Alignment { pairs: walk_back(&history, x, y), end: (x, y) });
        }
    }
    None
}

/// Returns the `x` at which a path with so many edits enters a diagonal: by a deletion, or by an insertion.
fn start_of(furthest: &[u32], diagonal: usize, shift: usize, edits: usize) -> usize {
    if edits == 0 {
        return 0;
    }
    let (below, above) = (furthest[diagonal - 1] as usize, furthest[diagonal + 1] as usize);
    let inserts = diagonal == shift - edits || (diagonal != shift + edits && below < above);
    if inserts { above } else { below + 1 }
}

/// Follows the edits backwards from their end, and returns the pairs between them.
fn walk_back(history: &[Vec<u32>], mut x: usize, mut y: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (edits, before) in history.iter().enumerate().rev() {
        // `before` holds the diagonals from `-edits` to `edits`.
        let diagonal = x + edits - y;
        let entered = if edits == 0 { 0 } else { start_in(before, diagonal, edits) };
        let entered_y = entered + edits - diagonal;
        while x > entered && y > entered_y {
            (x, y) = (x - 1, y - 1);
            pairs.push((x, y));
        }
        if edits == 0 {
            break;
        }
        // An insertion comes from the diagonal above, with the same `x`.
        match is_insertion(before, diagonal, edits) {
            true => (x, y) = (entered, entered_y - 1),
            false => (x, y) = (entered - 1, entered_y),
        }
    }
    pairs.reverse();
    pairs
}

fn is_insertion(before: &[u32], diagonal: usize, edits: usize) -> bool {
    diagonal == 0 || (diagonal != 2 * edits && before[diagonal - 1] < before[diagonal + 1])
}

fn start_in(before: &[u32], diagonal: usize, edits: usize) -> usize {
    match is_insertion(before, diagonal, edits) {
        true => before[diagonal + 1] as usize,
        false => before[diagonal - 1] as usize + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        text.bytes().map(|byte| [byte; 16]).collect()
    }

    const WHOLE: [bool; 2] = [false, false];

    /// The length of the longest common subsequence, by the table.
    fn common(a: &[Key], b: &[Key]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { corner + 1 } else { row[j].max(above) };
                corner = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn alignment_is_ordered_and_longest() {
        let texts =
            ["", "a", "abcabba", "cbabac", "aaaa", "abab", "xabcabbay", "the same", "thesame!", "zzz"];
        for a in texts {
            for b in texts {
                let (a, b) = (keys(a), keys(b));
                let Alignment { pairs, end } = align(&a, &b, WHOLE).unwrap();
                assert_eq!(end, (a.len(), b.len()));
                assert!(pairs.iter().all(|(i, j)| a[*i] == b[*j]), "{pairs:?}");
                assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{pairs:?}");
                assert_eq!(pairs.len(), common(&a, &b));
            }
        }
    }

    /// Random numbers below a bound.
    fn random_numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
        move |bound| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % bound
        }
    }

    #[test]
    fn random_sequences_align_as_by_the_table() {
        let mut next = random_numbers(1);
        for _ in 0..300 {
            let mut sequence = || (0..next(40)).map(|_| [next(4) as u8; 16]).collect::<Vec<Key>>();
            let (a, b) = (sequence(), sequence());
            assert_eq!(align(&a, &b, WHOLE).unwrap().pairs.len(), common(&a, &b), "{a:?} {b:?}");
        }
    }

    /// The pair with the cut end is the first that fits, not the last.
    #[test]
    fn cut_sequence_aligns_with_a_start() {
        let (a, b) = (keys("axsysz"), keys("ans"));
        let alignment = align(&a, &b, [false, true]).unwrap();
        assert_eq!(alignment, Alignment { pairs: vec![(0, 0), (2, 2)], end: (3, 3) });
        let alignment = align(&b, &a, [true, false]).unwrap();
        assert_eq!(alignment, Alignment { pairs: vec![(0, 0), (2, 2)], end: (3, 3) });
        let both = align(&keys("ax"), &keys("aysz"), [true, true]).unwrap();
        assert_eq!(both, Alignment { pairs: vec![(0, 0)], end: (2, 1) });
        assert_eq!(Alignment::in_order(2, 4, [true, true]).end, (2, 2));
        assert_eq!(Alignment::in_order(2, 4, [false, true]).end, (2, 4));
        assert_eq!(Alignment::in_order(2, 4, [true, false]).end, (2, 2));
    }

    /// No start of the whole sequence needs fewer edits.
    #[test]
    fn cut_alignment_is_shortest() {
        let mut next = random_numbers(2);
        for _ in 0..300 {
            let mut sequence = || (0..next(20)).map(|_| [next(4) as u8; 16]).collect::<Vec<Key>>();
            let (a, b) = (sequence(), sequence());
            let edits = |a: &[Key], b: &[Key]| a.len() + b.len() - 2 * common(a, b);
            let expected = (0..=a.len()).map(|end| edits(&a[..end], &b)).min().unwrap();
            let Alignment { pairs, end } = align(&a, &b, [false, true]).unwrap();
            assert_eq!(end.1, b.len(), "{a:?} {b:?}");
            assert_eq!(end.0 + end.1 - 2 * pairs.len(), expected, "{a:?} {b:?}");
            assert!(pairs.iter().all(|(i, j)| a[*i] == b[*j] && *i < end.0), "{pairs:?}");
        }
    }

    #[test]
    fn edits_are_bounded() {
        let other = |from: usize, len: usize| -> Vec<Key> {
            (from..from + len).map(|n| (n as u128).to_le_bytes()).collect()
        };
        let half = EDITS_MAX / 2;
        let unpaired = Alignment { pairs: Vec::new(), end: (half, half) };
        assert_eq!(align(&other(0, half), &other(half, half), WHOLE), Some(unpaired));
        assert_eq!(align(&other(0, half), &other(half, half + 1), WHOLE), None);
        // What follows the end of a sequence that is cut costs nothing.
        assert_eq!(align(&other(0, 50_000), &other(0, 9), [false, true]).unwrap().end, (9, 9));
        // A common start and end cost nothing.
        let (mut a, mut b) = (other(0, 50_000), other(0, 50_000));
        a.extend(other(100_000, half));
        b.extend(other(200_000, half));
        let tail = other(300_000, 50_000);
        a.extend(&tail);
        b.extend(&tail);
        assert_eq!(align(&a, &b, WHOLE).unwrap().pairs.len(), 100_000);
    }
}
