//! One bit for each liveness property in each expanded state.

use super::graph::ChunkedVec;

/// A list with one row of bits for each expanded state, and one bit for each property.
#[derive(Clone, Debug, Default)]
pub(super) struct PropertyBits {
    bytes: ChunkedVec<u8>,
    /// The number of bytes in a row.
    row: usize,
}

impl PropertyBits {
    pub(super) fn new(properties: usize) -> Self {
        Self { bytes: ChunkedVec::default(), row: row_len(properties) }
    }

    /// Appends the row of the next state.
    pub(super) fn push(&mut self, row: &[u8]) {
        row.iter().for_each(|byte| self.bytes.push(*byte));
    }

    /// The bit of a property in a state; `false` if the state was not expanded or the property does not exist.
    pub(super) fn get(&self, property: usize, node: u32) -> bool {
        let byte = property / 8;
        byte < self.row
            && self
                .bytes
                .get(node as usize * self.row + byte)
                .is_some_and(|bits| bits >> (property % 8) & 1 == 1)
    }

    /// The number of bytes in all rows.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of all rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..self.len()).map(|at| *self.bytes.at(at))
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.bytes()
    }
}

/// The number of bytes in the row of one state.
pub(super) fn row_len(properties: usize) -> usize {
    properties.div_ceil(8)
}

/// Appends the row of one state, and returns whether all its bits are set.
pub(super) fn append_row(into: &mut Vec<u8>, bits: impl Iterator<Item = bool>) -> bool {
    let mut all = true;
    for (property, bit) in bits.enumerate() {
        if property % 8 == 0 {
            into.push(0);
        }
        if let Some(last) = into.last_mut() {
            *last |= u8::from(bit) << (property % 8);
        }
        all &= bit;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_retrievable() {
        let is_set = |node: u32, property: usize| (node as usize * 7 + property).is_multiple_of(3);
        for properties in [0, 1, 7, 8, 9, 16, 70] {
            let mut bits = PropertyBits::new(properties);
            for node in 0..50_000 {
                let mut row = Vec::new();
                let all = append_row(&mut row, (0..properties).map(|property| is_set(node, property)));
                assert_eq!(all, (0..properties).all(|property| is_set(node, property)));
                assert_eq!(row.len(), row_len(properties));
                bits.push(&row);
            }
            for (node, property) in (0..50_000).flat_map(|node| (0..properties).map(move |p| (node, p))) {
                assert_eq!(bits.get(property, node), is_set(node, property), "{property} of {node}");
            }
            assert!(!bits.get(properties, 0) || properties % 8 != 0, "a property that does not exist");
            assert!(!bits.get(0, 50_000), "a state that does not exist");
        }
    }
}
