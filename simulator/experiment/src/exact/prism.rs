//! The explicit formats of other model checkers: one file of transitions, states, labels, and rewards of each metric.

use super::chain::{Chain, Ending};
use super::solve::position;
use crate::metrics::Metric;
use orchestrion_files::{Access, WriteError, create};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Which program reads the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The explicit format of PRISM.
    Prism,
    /// The explicit format of Storm: other heads and labels.
    Storm,
}

/// Writes a chain to files in a folder, `NAME.tra`, `NAME.sta` (only for PRISM), `NAME.lab`, and for each metric with rewards
/// `NAME.METRIC.srew`, or `NAME.METRIC.trew` for a decision process. Returns their paths.
///
/// # Errors
/// [`WriteError`] if a file exists already, or cannot be written.
pub fn export(
    chain: &Chain,
    metrics: &[&'static Metric],
    dialect: Dialect,
    folder: &Path,
    name: &str,
) -> Result<Vec<PathBuf>, WriteError> {
    let mut paths = Vec::new();
    let mut write = |extension: &str, write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let path = folder.join(format!("{name}.{extension}"));
        create(&path, Access::Default, |file| {
            let mut file = io::BufWriter::new(file);
            write(&mut file)?;
            file.flush()
        })?;
        paths.push(path);
        Ok::<(), WriteError>(())
    };
    write("tra", &|file| transitions(chain, dialect, file))?;
    match dialect {
        Dialect::Prism => write("sta", &|file| states(chain, file))?,
        Dialect::Storm => {}
    }
    write("lab", &|file| labels(chain, dialect, file))?;
    for metric in metrics {
        let Some(at) = position(metric) else { continue };
        let choices = (0..chain.choice_count() as u32).filter(|choice| chain.reward(*choice, at) != 0.0);
        if choices.count() == 0 {
            continue;
        }
        if chain.is_deterministic() {
            write(&format!("{}.srew", metric.name), &|file| state_rewards(chain, at, dialect, file))?;
        } else {
            write(&format!("{}.trew", metric.name), &|file| choice_rewards(chain, at, dialect, file))?;
        }
    }
    Ok(paths)
}

/// Returns the numbers of states, choices and transitions, with the loop of each absorbing state.
fn sizes(chain: &Chain) -> (usize, usize, usize) {
    let loops = chain.endings().len();
    (chain.states(), chain.choice_count() + loops, chain.transitions() + loops)
}

fn states_of(chain: &Chain) -> std::ops::Range<u32> {
    0..chain.states() as u32
}

fn transitions(chain: &Chain, dialect: Dialect, file: &mut dyn Write) -> io::Result<()> {
    let (states, choices, transitions) = sizes(chain);
    let is_chain = chain.is_deterministic();
    match (dialect, is_chain) {
        (Dialect::Prism, true) => writeln!(file, "{states} {transitions}")?,
        (Dialect::Prism, false) => writeln!(file, "{states} {choices} {transitions}")?,
        (Dialect::Storm, true) => writeln!(file, "dtmc")?,
        (Dialect::Storm, false) => writeln!(file, "mdp")?,
    }
    for state in states_of(chain) {
        let mut number = 0;
        for choice in chain.choices(state) {
            // Storm needs ascending columns.
            let mut edges = chain.edges(choice).to_vec();
            edges.sort_by_key(|edge| edge.to);
            for edge in edges {
                match is_chain {
                    true => writeln!(file, "{state} {} {}", edge.to, edge.probability)?,
                    false => writeln!(file, "{state} {number} {} {}", edge.to, edge.probability)?,
                }
            }
            number += 1;
        }
        match (number, is_chain) {
            (0, true) => writeln!(file, "{state} {state} 1")?,
            (0, false) => writeln!(file, "{state} 0 {state} 1")?,
            _ => {}
        }
    }
    Ok(())
}

/// The only variable is the number of the state.
fn states(chain: &Chain, file: &mut dyn Write) -> io::Result<()> {
    writeln!(file, "(state)")?;
    states_of(chain).try_for_each(|state| writeln!(file, "{state}:({state})"))
}

fn labels(chain: &Chain, dialect: Dialect, file: &mut dyn Write) -> io::Result<()> {
    let names = Ending::ALL.map(Ending::name);
    match dialect {
        Dialect::Prism => {
            write!(file, "0=\"init\" 1=\"deadlock\"")?;
            (2..).zip(names).try_for_each(|(number, name)| write!(file, " {number}=\"{name}\""))?;
            writeln!(file, "\n0: 0")?;
        }
        Dialect::Storm => writeln!(file, "#DECLARATION\ninit {}\n#END\n0 init", names.join(" "))?,
    }
    for (state, ending) in chain.endings() {
        match dialect {
            Dialect::Prism => {
                let place = Ending::ALL.iter().position(|other| other == ending).unwrap_or(0);
                writeln!(file, "{state}: {}", place + 2)?;
            }
            Dialect::Storm => writeln!(file, "{state} {}", ending.name())?,
        }
    }
    Ok(())
}

fn state_rewards(chain: &Chain, at: u8, dialect: Dialect, file: &mut dyn Write) -> io::Result<()> {
    let reward = |state: u32| chain.choices(state).map(|choice| chain.reward(choice, at)).sum::<f64>();
    let rewards: Vec<(u32, f64)> =
        states_of(chain).map(|state| (state, reward(state))).filter(|(_, reward)| *reward != 0.0).collect();
    match dialect {
        Dialect::Prism => writeln!(file, "{} {}", chain.states(), rewards.len())?,
        Dialect::Storm => {}
    }
    rewards.iter().try_for_each(|(state, reward)| writeln!(file, "{state} {reward}"))
}

/// Each transition of a choice has the expected reward of the choice.
fn choice_rewards(chain: &Chain, at: u8, dialect: Dialect, file: &mut dyn Write) -> io::Result<()> {
    let rewards = || {
        states_of(chain).flat_map(move |state| {
            (0..).zip(chain.choices(state)).flat_map(move |(number, choice)| {
                let reward = chain.reward(choice, at);
                let edges = chain.edges(choice).iter().filter(move |_| reward != 0.0);
                edges.map(move |edge| (state, number, edge.to, reward))
            })
        })
    };
    match dialect {
        Dialect::Prism => {
            let (states, choices, _) = sizes(chain);
            writeln!(file, "{states} {choices} {}", rewards().count())?;
        }
        Dialect::Storm => {}
    }
    let mut sorted: Vec<(u32, usize, u32, f64)> = rewards().collect();
    sorted.sort_by_key(|(state, choice, to, _)| (*state, *choice, *to));
    sorted.iter().try_for_each(|(state, number, to, reward)| writeln!(file, "{state} {number} {to} {reward}"))
}
