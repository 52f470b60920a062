//! Alignment of two sequences of step keys, after Myers (1986): the fewest insertions and deletions.
//!
//! A common start and a common end cost linear time. The middle costs `D · (N + M)` time and `D²` memory, where `D` is the number of
//! insertions and deletions, of which there are at most [`EDITS_MAX`]. Beyond them the caller gets no alignment.

/// The most insertions and deletions of an alignment: 16 MB of memory.
pub const EDITS_MAX: usize = 2000;

/// What a step is, as a digest.
pub(super) type Key = [u8; 16];

/// Aligns two sequences. Returns the pairs of equal keys, in order; `None` if they differ by more than [`EDITS_MAX`] insertions and
/// deletions.
pub(super) fn align(a: &[Key], b: &[Key]) -> Option<Vec<(usize, usize)>> {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let end = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (middle_a, middle_b) = (&rest_a[..rest_a.len() - end], &rest_b[..rest_b.len() - end]);
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|i| (i, i)).collect();
    let middle = align_middle(middle_a, middle_b)?;
    pairs.extend(middle.into_iter().map(|(i, j)| (start + i, start + j)));
    pairs.extend((0..end).map(|i| (a.len() - end + i, b.len() - end + i)));
    Some(pairs)
}

/// Returns the pairs of a shortest edit script: the greedy algorithm, and its way back.
fn align_middle(a: &[Key], b: &[Key]) -> Option<Vec<(usize, usize)>> {
    let limit = EDITS_MAX.min(a.len() + b.len());
    // Of each diagonal `x - y`, shifted by `limit + 1`, the furthest `x`.
    let shift = limit + 1;
    let mut furthest = vec![0u32; 2 * limit + 3];
    let mut history: Vec<Vec<u32>> = Vec::new();
    for edits in 0..=limit {
        history.push(furthest[shift - edits..=shift + edits].to_vec());
        let mut diagonal = shift - edits;
        while diagonal <= shift + edits {
            let mut x = start_of(&furthest, diagonal, shift, edits);
            let mut y = x + shift - diagonal;
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[diagonal] = u32::try_from(x).ok()?;
            if x >= a.len() && y >= b.len() {
                return Some(walk_back(&history, a.len(), b.len()));
            }
            diagonal += 2;
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

/// Follows the edits backwards, and returns the pairs between them.
fn walk_back(history: &[Vec<u32>], len_a: usize, len_b: usize) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (len_a, len_b);
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
                let pairs = align(&a, &b).unwrap();
                assert!(pairs.iter().all(|(i, j)| a[*i] == b[*j]), "{pairs:?}");
                assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{pairs:?}");
                assert_eq!(pairs.len(), common(&a, &b));
            }
        }
    }

    #[test]
    fn random_sequences_align_as_by_the_table() {
        let mut seed = 1u64;
        let mut next = |bound: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % bound
        };
        for _ in 0..300 {
            let mut sequence = || (0..next(40)).map(|_| [next(4) as u8; 16]).collect::<Vec<Key>>();
            let (a, b) = (sequence(), sequence());
            assert_eq!(align(&a, &b).unwrap().len(), common(&a, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn edits_are_bounded() {
        let other = |from: usize, len: usize| -> Vec<Key> {
            (from..from + len).map(|n| (n as u128).to_le_bytes()).collect()
        };
        let half = EDITS_MAX / 2;
        assert_eq!(align(&other(0, half), &other(half, half)), Some(Vec::new()));
        assert_eq!(align(&other(0, half), &other(half, half + 1)), None);
        // A common start and end cost nothing.
        let (mut a, mut b) = (other(0, 50_000), other(0, 50_000));
        a.extend(other(100_000, half));
        b.extend(other(200_000, half));
        let tail = other(300_000, 50_000);
        a.extend(&tail);
        b.extend(&tail);
        assert_eq!(align(&a, &b).unwrap().len(), 100_000);
    }
}
