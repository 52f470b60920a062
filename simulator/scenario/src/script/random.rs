//! Drawing by lot, so that the same scenario draws the same on every machine and for ever.
//!
//! Every named seed is a stream of its own: what is drawn from one neither depends on the others nor on when they are
//! asked. Whole numbers alone; how they are drawn is written out here, as libraries change how they do it.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// What the digests of seeds are for; another text would draw otherwise.
const PURPOSE: &str = "orchestrion: the stream of a named seed of a scenario, version 1";

/// The named seeds of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct RandomStreams {
    /// The scenario's own seed.
    seed: Box<str>,
    names: BTreeMap<Box<str>, Stream>,
    generators: Vec<ChaCha8Rng>,
}

/// A named seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream(usize);

impl RandomStreams {
    /// No named seed yet, for a scenario with this seed.
    pub(crate) fn new(seed: &str) -> Self {
        Self { seed: seed.into(), names: BTreeMap::new(), generators: Vec::new() }
    }

    /// The seed of this name. Who uses a name twice draws twice from one stream.
    pub(crate) fn named(&mut self, name: &str) -> Stream {
        if let Some(stream) = self.names.get(name) {
            return *stream;
        }
        let stream = Stream(self.generators.len());
        self.generators.push(generator(&self.seed, name));
        self.names.insert(name.into(), stream);
        stream
    }

    /// A number from 0 on and below `bound`, each as likely as the others.
    pub(crate) fn below(&mut self, stream: Stream, bound: NonZeroU32) -> u32 {
        // A stream comes from `named` alone, and none is ever taken away.
        self.generators.get_mut(stream.0).map_or(0, |generator| below(generator, bound))
    }
}

/// The key is the digest of both seeds. The first one's length goes before it, so that no two pairs are written alike.
fn generator(seed: &str, name: &str) -> ChaCha8Rng {
    let mut hasher = blake3::Hasher::new_derive_key(PURPOSE);
    hasher.update(&(seed.len() as u64).to_le_bytes()).update(seed.as_bytes()).update(name.as_bytes());
    ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
}

/// The upper half of a product is a number below the bound. Some come up once more often than others, by as many lower
/// halves as 2³² leaves over; those are drawn again (Lemire, 2019).
fn below(generator: &mut ChaCha8Rng, bound: NonZeroU32) -> u32 {
    let over = bound.get().wrapping_neg() % bound;
    loop {
        let product = u64::from(generator.next_u32()) * u64::from(bound.get());
        let (upper, lower) = ((product >> 32) as u32, product as u32);
        if lower >= over {
            return upper;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: &str, name: &str, bound: u32) -> Vec<u32> {
        let mut streams = RandomStreams::new(seed);
        let stream = streams.named(name);
        (0..12).map(|_| streams.below(stream, NonZeroU32::new(bound).unwrap())).collect()
    }

    #[test]
    fn draws_stay_what_they_are() {
        let cases = [("0", "mood", 6), ("1", "mood", 6), ("0", "network", 6), ("0", "mood", u32::MAX)];
        let lines = cases.map(|(seed, name, bound)| {
            format!("seed {seed}, {name}, below {bound}: {:?}", drawn(seed, name, bound))
        });
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(lines.join("\n")) });
    }

    #[test]
    fn seeds_and_names_are_not_run_together() {
        assert_ne!(drawn("1", "1", u32::MAX), drawn("11", "", u32::MAX));
    }

    #[test]
    fn streams_do_not_depend_on_each_other() {
        let mut streams = RandomStreams::new("0");
        let (mood, network) = (streams.named("mood"), streams.named("network"));
        let six = NonZeroU32::new(6).unwrap();
        let mut mixed = Vec::new();
        for turn in 0..12 {
            (0..turn % 4).for_each(|_| {
                streams.below(network, six);
            });
            mixed.push(streams.below(mood, six));
        }
        assert_eq!(mixed, drawn("0", "mood", 6));
    }

    #[test]
    fn one_name_is_one_stream() {
        let mut streams = RandomStreams::new("0");
        let six = NonZeroU32::new(6).unwrap();
        let mixed: Vec<u32> = (0..12)
            .map(|_| {
                let stream = streams.named("mood");
                streams.below(stream, six)
            })
            .collect();
        assert_eq!(mixed, drawn("0", "mood", 6));
    }

    /// Of the bound 3·2³⁰, every third number would come up twice as often if nothing were drawn again.
    #[test]
    fn every_number_is_as_likely() {
        const DRAWS: u32 = 60_000;
        for (bound, kinds) in [(2, 2), (3, 3), (7, 7), (1000, 10), (3 << 30, 3), (u32::MAX, 5)] {
            let mut streams = RandomStreams::new("0");
            let stream = streams.named("fair");
            let mut counts = vec![0u32; kinds];
            for _ in 0..DRAWS {
                let number = streams.below(stream, NonZeroU32::new(bound).unwrap());
                assert!(number < bound);
                counts[number as usize % kinds] += 1;
            }
            let expected = DRAWS / kinds as u32;
            for count in &counts {
                // Some five times what chance does.
                assert!(count.abs_diff(expected) < expected / 15, "{bound}: {counts:?}");
            }
        }
    }
}
