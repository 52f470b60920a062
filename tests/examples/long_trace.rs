//! Writes a trace of so many steps to standard output, to measure what `orchestrion replay` takes for it:
//! `cargo run --release -p orchestrion-tests --example long_trace 2000000 > long.ndjson`

use orchestrion_tests::endless_debate::EndlessDebate;
use std::io;

fn main() -> io::Result<()> {
    let steps = std::env::args().nth(1).and_then(|steps| steps.parse().ok());
    let steps = steps.ok_or_else(|| io::Error::other("missing argument: expected a number of steps"))?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    io::copy(&mut EndlessDebate::new(steps)?, &mut out).map(drop)
}
