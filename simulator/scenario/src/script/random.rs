//! Random streams: reproducible choices, equal on every machine and in every version.
//!
//! Each named seed is an independent stream. Only whole numbers are generated; the algorithm is written here because
//! libraries change theirs between versions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// The key derivation context; another text changes every stream.
const PURPOSE: &str = "orchestrion: the stream of a named seed of a scenario, version 1";

/// The random streams of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct RandomStreams {
    /// The scenario seed.
    seed: Box<str>,
    names: BTreeMap<Box<str>, Stream>,
    generators: Vec<ChaCha8Rng>,
}

/// The index of a random stream.
#[derive(Clone, Copy, Debug)]
struct Stream(usize);

impl RandomStreams {
    /// Returns an empty set of streams for this scenario seed.
    pub(crate) fn new(seed: &str) -> Self {
        Self { seed: seed.into(), names: BTreeMap::new(), generators: Vec::new() }
    }

    /// Returns the stream with this name, and creates it on first use.
    fn stream(&mut self, name: &str) -> Stream {
        if let Some(stream) = self.names.get(name) {
            return *stream;
        }
        let stream = Stream(self.generators.len());
        self.generators.push(generator(&self.seed, name));
        self.names.insert(name.into(), stream);
        stream
    }

    /// Returns the next number below `bound` of the stream with this name.
    pub(crate) fn next_below(&mut self, name: &str, bound: NonZeroU32) -> u32 {
        let stream = self.stream(name);
        self.below(stream, bound)
    }

    /// Returns a uniformly distributed number below `bound`.
    fn below(&mut self, stream: Stream, bound: NonZeroU32) -> u32 {
        // Streams are created only by `stream` and never removed.
        self.generators.get_mut(stream.0).map_or(0, |generator| below(generator, bound))
    }
}

/// Derives the generator from both seeds. The length prefix makes the encoding of the pair injective.
fn generator(seed: &str, name: &str) -> ChaCha8Rng {
    let mut hasher = blake3::Hasher::new_derive_key(PURPOSE);
    hasher.update(&(seed.len() as u64).to_le_bytes()).update(seed.as_bytes()).update(name.as_bytes());
    ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
}

/// Returns a uniform number below the bound by Lemire's method (2019): the upper half of a product; lower halves below the
/// remainder of 2³² are rejected, which removes the bias.
fn below(generator: &mut ChaCha8Rng, bound: NonZeroU32) -> u32 {
    let remainder = bound.get().wrapping_neg() % bound;
    loop {
        let product = u64::from(generator.next_u32()) * u64::from(bound.get());
        let (upper, lower) = ((product >> 32) as u32, product as u32);
        if lower >= remainder {
            return upper;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seed: &str, name: &str, bound: u32) -> Vec<u32> {
        let mut streams = RandomStreams::new(seed);
        let stream = streams.stream(name);
        (0..12).map(|_| streams.below(stream, NonZeroU32::new(bound).unwrap())).collect()
    }

    #[test]
    fn streams_are_stable_across_versions() {
        let cases = [("0", "mood", 6), ("1", "mood", 6), ("0", "network", 6), ("0", "mood", u32::MAX)];
        let lines = cases.map(|(seed, name, bound)| {
            format!("seed {seed}, {name}, below {bound}: {:?}", sample(seed, name, bound))
        });
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(lines.join("\n")) });
    }

    #[test]
    fn seed_and_name_are_not_concatenated() {
        assert_ne!(sample("1", "1", u32::MAX), sample("11", "", u32::MAX));
    }

    #[test]
    fn streams_are_independent() {
        let mut streams = RandomStreams::new("0");
        let (mood, network) = (streams.stream("mood"), streams.stream("network"));
        let six = NonZeroU32::new(6).unwrap();
        let mut mixed = Vec::new();
        for turn in 0..12 {
            (0..turn % 4).for_each(|_| {
                streams.below(network, six);
            });
            mixed.push(streams.below(mood, six));
        }
        assert_eq!(mixed, sample("0", "mood", 6));
    }

    #[test]
    fn equal_names_share_one_stream() {
        let mut streams = RandomStreams::new("0");
        let six = NonZeroU32::new(6).unwrap();
        let mixed: Vec<u32> = (0..12)
            .map(|_| {
                let stream = streams.stream("mood");
                streams.below(stream, six)
            })
            .collect();
        assert_eq!(mixed, sample("0", "mood", 6));
    }

    /// Without rejection, every third number below 3·2³⁰ would be twice as frequent.
    #[test]
    fn numbers_are_uniform() {
        const SAMPLES: u32 = 60_000;
        for (bound, kinds) in [(2, 2), (3, 3), (7, 7), (1000, 10), (3 << 30, 3), (u32::MAX, 5)] {
            let mut streams = RandomStreams::new("0");
            let stream = streams.stream("fair");
            let mut counts = vec![0u32; kinds];
            for _ in 0..SAMPLES {
                let number = streams.below(stream, NonZeroU32::new(bound).unwrap());
                assert!(number < bound);
                counts[number as usize % kinds] += 1;
            }
            let expected = SAMPLES / kinds as u32;
            for count in &counts {
                // About five standard deviations.
                assert!(count.abs_diff(expected) < expected / 15, "{bound}: {counts:?}");
            }
        }
    }
}
