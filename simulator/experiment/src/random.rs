//! Random draws: named streams that any run can read at any place.
//!
//! A stream is a ChaCha generator whose key depends on the seed of the experiment and on the name of the stream. The number of the run is
//! its nonce, and each request has a part of its own. So a choice depends on seed, run, request, stream and on how many choices of the
//! stream the request made before, and on nothing else: not on the policy, not on other streams, not on the thread.

use crate::draws::{Draws, Stream};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The key derivation context; another text changes every stream.
const PURPOSE: &str = "orchestrion: a named stream of an experiment, version 1";

/// Words of a stream for each request. A request that draws more reads on in the words of the next one.
const WORDS_PER_REQUEST: u128 = 1 << 16;

/// The streams of an experiment.
#[derive(Clone, Debug)]
pub struct RandomDraws {
    /// By [`Stream::index`].
    generators: Vec<Generator>,
    run: u64,
    request: u32,
    /// The number of started requests. The same request can be run again under another policy.
    started: u64,
}

#[derive(Clone, Debug)]
struct Generator {
    random: ChaCha8Rng,
    /// The number of the started request at whose part the generator is; 0 before the first one.
    at: u64,
}

impl RandomDraws {
    /// Creates the streams of an experiment with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let generator = |index: usize| {
            let name = Stream::from_index(index).map(Stream::name).unwrap_or_default();
            let mut hasher = blake3::Hasher::new_derive_key(PURPOSE);
            hasher.update(&seed.to_le_bytes()).update(name.as_bytes());
            Generator { random: ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()), at: 0 }
        };
        Self { generators: (0..Stream::COUNT).map(generator).collect(), run: 0, request: 0, started: 0 }
    }

    /// Starts a request of a run: every stream continues at the part of that request.
    pub fn start_request(&mut self, run: u64, request: u32) {
        self.run = run;
        self.request = request;
        self.started += 1;
    }

    fn next(&mut self, stream: Stream) -> u64 {
        let Some(generator) = self.generators.get_mut(stream.index()) else { return 0 };
        if generator.at != self.started {
            generator.at = self.started;
            generator.random.set_stream(self.run);
            generator.random.set_word_pos(u128::from(self.request) * WORDS_PER_REQUEST);
        }
        generator.random.next_u64()
    }
}

/// Maps 64 random bits to a number below `bound`: the upper half of the product. The probability of each number is exact to
/// `bound` / 2⁶⁴.
fn scale(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

impl Draws for RandomDraws {
    fn pick(&mut self, stream: Stream, weights: &[u64]) -> usize {
        let total = weights.iter().sum();
        let mut at = scale(self.next(stream), total);
        for (index, weight) in weights.iter().enumerate() {
            match at.checked_sub(*weight) {
                None => return index,
                Some(rest) => at = rest,
            }
        }
        weights.len().saturating_sub(1)
    }

    fn below(&mut self, stream: Stream, bound: u32) -> u32 {
        scale(self.next(stream), u64::from(bound)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Purpose;
    use orchestrion_kernel::Score;
    use orchestrion_kernel::module::Role;

    const TRUTH: Stream = Stream::world(Purpose::Truth);
    const CRITIC: Stream = Stream::role(Role::Critic, Purpose::Error);

    fn sample(seed: u64, run: u64, request: u32, stream: Stream) -> Vec<u32> {
        let mut draws = RandomDraws::new(seed);
        draws.start_request(run, request);
        (0..6).map(|_| draws.below(stream, 1_000_000)).collect()
    }

    #[test]
    fn streams_are_stable_across_versions() {
        let lines =
            [(0, 0, 0, TRUTH), (0, 1, 0, TRUTH), (0, 0, 1, TRUTH), (1, 0, 0, TRUTH), (0, 0, 0, CRITIC)].map(
                |(seed, run, request, stream)| {
                    let numbers = sample(seed, run, request, stream);
                    format!("seed {seed}, run {run}, request {request}, {}: {numbers:?}", stream.name())
                },
            );
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(lines.join("\n")) });
    }

    #[test]
    fn draw_ignores_other_streams_and_requests() {
        let mut draws = RandomDraws::new(0);
        draws.start_request(3, 1);
        let mut mixed = Vec::new();
        for turn in 0..6 {
            (0..turn % 3).for_each(|_| {
                draws.below(TRUTH, 10);
            });
            mixed.push(draws.below(CRITIC, 1_000_000));
        }
        assert_eq!(mixed, sample(0, 3, 1, CRITIC));
        draws.start_request(3, 2);
        draws.start_request(3, 1);
        assert_eq!(draws.below(CRITIC, 1_000_000), mixed[0]);
    }

    #[test]
    fn every_index_names_one_stream() {
        let names: std::collections::BTreeSet<String> = (0..Stream::COUNT)
            .map(|index| {
                let stream = Stream::from_index(index).unwrap();
                assert_eq!(stream.index(), index);
                stream.name()
            })
            .collect();
        assert_eq!(names.len(), Stream::COUNT);
    }

    #[test]
    fn weights_give_their_frequencies() {
        let mut draws = RandomDraws::new(0);
        let mut counts = [0_u32; 3];
        for run in 0..30_000 {
            draws.start_request(run, 0);
            counts[draws.pick(TRUTH, &[1, 0, 2])] += 1;
        }
        assert_eq!(counts[1], 0);
        // About five standard deviations.
        assert!(counts[0].abs_diff(10_000) < 410, "{counts:?}");
        let certain =
            (0..100).all(|_| draws.happens(CRITIC, Score::ONE) && !draws.happens(CRITIC, Score::ZERO));
        assert!(certain);
    }
}
