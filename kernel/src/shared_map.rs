//! A sorted map whose clones share the entries that they have in common (decision 0071).

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use core::ops::{Bound, RangeBounds};

/// The most entries of a chunk. A change of a clone copies one chunk, and the list of chunks.
const CHUNK_MAX: usize = 64;

/// Keys alone.
pub(crate) type SharedSet<K> = SharedMap<K, ()>;

/// A place between two entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    chunk: usize,
    /// The position in the chunk of the entry after it.
    position: usize,
}

type Chunk<K, V> = Vec<(K, V)>;

/// Entries in the order of their keys. A clone takes constant time.
#[derive(Clone, Debug)]
pub(crate) struct SharedMap<K, V> {
    /// None is empty. The keys of a chunk are below those of the next one.
    chunks: Arc<Vec<Arc<Chunk<K, V>>>>,
    size: usize,
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self { chunks: Arc::default(), size: 0 }
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    /// Returns the number of entries.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.size == 0
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let chunk = self.chunks.get(self.chunk_of(key))?;
        let at = chunk.binary_search_by(|(known, _)| known.cmp(key)).ok()?;
        chunk.get(at).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let at = self.chunk_of(key);
        let found = self.chunks.get(at)?.binary_search_by(|(known, _)| known.cmp(key)).ok()?;
        let chunk = Arc::make_mut(Arc::make_mut(&mut self.chunks).get_mut(at)?);
        chunk.get_mut(found).map(|(_, value)| value)
    }

    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Inserts an entry, or replaces the value of its key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        let at = self.chunk_of(&key);
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(at).map(Arc::make_mut) else {
            chunks.push(Arc::new(vec![(key, value)]));
            self.size = 1;
            return;
        };
        match chunk.binary_search_by(|(known, _)| known.cmp(&key)) {
            Ok(found) => {
                if let Some((_, old)) = chunk.get_mut(found) {
                    *old = value;
                }
            }
            Err(place) => {
                chunk.insert(place, (key, value));
                self.size = self.size.saturating_add(1);
                if chunk.len() > CHUNK_MAX {
                    let upper = chunk.split_off(CHUNK_MAX / 2);
                    chunks.insert(at.saturating_add(1), Arc::new(upper));
                }
            }
        }
    }

    /// Removes the entry of a key, if there is one.
    pub(crate) fn remove(&mut self, key: &K) {
        let at = self.chunk_of(key);
        let found = self.chunks.get(at).map(|chunk| chunk.binary_search_by(|(known, _)| known.cmp(key)));
        let Some(Ok(found)) = found else { return };
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(at).map(Arc::make_mut) else { return };
        chunk.remove(found);
        self.size = self.size.saturating_sub(1);
        if chunk.is_empty() {
            chunks.remove(at);
        } else {
            merge_with_next(chunks, at);
            at.checked_sub(1).into_iter().for_each(|before| merge_with_next(chunks, before));
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).map(|(key, value)| (key, value))
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the entries whose keys are in a range.
    pub(crate) fn range(&self, range: impl RangeBounds<K>) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        let first = self.place_after(|key| match range.start_bound() {
            Bound::Included(start) => key < start,
            Bound::Excluded(start) => key <= start,
            Bound::Unbounded => false,
        });
        let end = self.place_after(|key| match range.end_bound() {
            Bound::Included(end) => key <= end,
            Bound::Excluded(end) => key < end,
            Bound::Unbounded => true,
        });
        self.between(first, end)
    }

    /// Returns the entries before a place.
    pub(crate) fn before(&self, end: Place) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.between(Place { chunk: 0, position: 0 }, end)
    }

    /// Returns the entries from a place up to another one, which is excluded.
    fn between(&self, first: Place, end: Place) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        let in_range = move |at: usize| {
            let chunk = self.chunks.get(at)?;
            let from = if at == first.chunk { first.position } else { 0 };
            let to = if at == end.chunk { end.position } else { chunk.len() };
            chunk.get(from..to)
        };
        (first.chunk..=end.chunk).filter_map(in_range).flatten().map(|(key, value)| (key, value))
    }

    /// Returns the place of the first key for which this is false. It must be true for the keys up to some key, and false for those
    /// after it.
    pub(crate) fn place_after(&self, is_before: impl Fn(&K) -> bool) -> Place {
        let ends_before = |chunk: &Arc<Chunk<K, V>>| chunk.last().is_some_and(|(last, _)| is_before(last));
        let at = self.chunks.partition_point(ends_before);
        let position = |chunk: &Arc<Chunk<K, V>>| chunk.partition_point(|(key, _)| is_before(key));
        Place { chunk: at, position: self.chunks.get(at).map_or(0, position) }
    }

    /// Returns the chunk that has a key, or to which it belongs.
    fn chunk_of(&self, key: &K) -> usize {
        let starts_before = |chunk: &Arc<Chunk<K, V>>| chunk.first().is_some_and(|(first, _)| first <= key);
        // Keys below the first chunk belong to it too, so a small map needs no comparison.
        self.chunks.get(1..).map_or(0, |later| later.partition_point(starts_before))
    }
}

/// Merges a chunk with the next one if half a chunk has room for both, so that the list of chunks stays short.
fn merge_with_next<K: Clone, V: Clone>(chunks: &mut Vec<Arc<Chunk<K, V>>>, at: usize) {
    let after = at.saturating_add(1);
    let len = |at: usize| chunks.get(at).map(|chunk| chunk.len());
    let is_short = |(one, next): (usize, usize)| one.saturating_add(next) <= CHUNK_MAX / 2;
    if len(at).zip(len(after)).is_some_and(is_short) {
        let next = chunks.remove(after);
        let chunk = chunks.get_mut(at).map(Arc::make_mut);
        chunk.into_iter().for_each(|chunk| chunk.extend_from_slice(&next));
    }
}

impl<K: Ord + Clone + Hash, V: Clone + Hash> Hash for SharedMap<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.size.hash(state);
        self.iter().for_each(|entry| entry.hash(state));
    }
}

impl<K: Ord + Clone, V: Clone + PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chunks, &other.chunks) || self.size == other.size && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    /// Random changes of a map and of an older clone of it, of a few keys and of more than fill a chunk.
    #[test]
    fn map_equals_a_btree_map() {
        let mut random = 1_u64;
        let mut below = |end: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % end
        };
        for keys in [3, 40, 300] {
            let (mut map, mut expected) = (SharedMap::default(), BTreeMap::new());
            let (mut older, mut older_expected) = (map.clone(), expected.clone());
            for step in 0..3_000_u64 {
                let key = below(keys);
                // A third of the changes are removals, then two thirds, then all.
                if below(3) < 1 + step / 1_000 {
                    map.remove(&key);
                    expected.remove(&key);
                } else {
                    map.insert(key, step);
                    expected.insert(key, step);
                }
                if below(20) == 0 {
                    (older, older_expected) = (map.clone(), expected.clone());
                } else if below(20) == 0 {
                    older.insert(key, step);
                    older_expected.insert(key, step);
                }
                for (map, expected) in [(&map, &expected), (&older, &older_expected)] {
                    assert_eq!(map.size(), expected.len());
                    assert_eq!(map.get(&key), expected.get(&key));
                    assert_eq!(map.clone().get_mut(&key), expected.clone().get_mut(&key));
                    assert!(map.iter().eq(expected), "{map:?}");
                    assert!(map.iter().rev().eq(expected.iter().rev()));
                    let (start, end) = (below(keys), below(keys));
                    let (start, end) = (start.min(end), start.max(end));
                    assert!(map.range(start..=end).eq(expected.range(start..=end)));
                    assert!(map.range(start..end).rev().eq(expected.range(start..end).rev()));
                    assert!(map.range(..=end).eq(expected.range(..=end)));
                    let after = (Bound::Excluded(start), Bound::Unbounded);
                    assert!(map.range(after).eq(expected.range(after)));
                    let place = map.place_after(|known| *known <= end);
                    assert!(map.before(place).rev().eq(expected.range(..=end).rev()));
                    let lens: Vec<usize> = map.chunks.iter().map(|chunk| chunk.len()).collect();
                    assert!(lens.iter().all(|len| (1..=CHUNK_MAX).contains(len)), "{lens:?}");
                    assert!(lens.windows(2).all(|pair| pair[0] + pair[1] > CHUNK_MAX / 2), "{lens:?}");
                }
                assert_eq!(map == older, expected == older_expected);
            }
        }
    }
}
