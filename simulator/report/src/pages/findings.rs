//! The page of findings: defects of the source documents, collected from the clause pages, with computed counterexamples.

use orchestrion_kernel::network::convergence::{Position, Variance, convergence_score, deliberate};
use orchestrion_kernel::network::policy::{ConnectionPolicy, ConvergencePolicy};
use orchestrion_kernel::network::{Connection, Interaction, Millionths};
use orchestrion_kernel::{NodeId, Score, Timestamp};
use std::fmt::Write;

/// The exchanges after which the page shows both ends of a connection.
const EXCHANGES_SHOWN: [usize; 5] = [1, 2, 5, 10, 100];
/// The tokens that the overloaded node gives and gets in each exchange.
const TOKENS_GIVEN: i64 = 1_000;
const TOKENS_RECEIVED: i64 = 500;
/// The half of a token count that both nodes judge: no gain, no loss of quality.
const NEUTRAL_QUALITY: u32 = 500_000;
/// The rounds of deliberation that the page shows.
const ROUNDS_SHOWN: u32 = 4;

/// Returns the findings of the clause pages, each a file name with its text, in the order of the pages.
#[must_use]
pub fn findings(clauses: &[(&str, String)]) -> String {
    let mut page = String::from(
        "# Findings\n\nDefects of the source documents that the checker, a test or a computation shows. Claims with a finding have \
         a counterexample under `as-drawn`: `orchestrion check --policy as-drawn`.\n\n| finding | clause | defect |\n|---|---|---|\n",
    );
    for (file, text) in clauses {
        let mut clause = "";
        for (at, line) in text.lines().enumerate() {
            if let Some(id) = line.strip_prefix("**").and_then(|rest| Some(rest.split_once("**")?.0)) {
                clause = id;
            }
            let Some((id, start)) =
                line.trim().strip_prefix("Finding ").and_then(|rest| rest.split_once(": "))
            else {
                continue;
            };
            // A repeated mention refers to the first one.
            if start.starts_with("see ") {
                continue;
            }
            let more = text.lines().skip(at + 1).take_while(|next| is_continuation(next));
            let defect = more.fold(start.to_owned(), |text, next| format!("{text} {}", next.trim()));
            let _ = writeln!(
                page,
                "| <a id=\"{id}\"></a>{id} | [{clause}](../clauses/{file}) | {} |",
                defect.replace("../pages/findings.md", "").replace('|', "\\|")
            );
        }
    }
    overloaded_node(&mut page);
    consensus(&mut page);
    page
}

/// Whether a line of a clause continues the sentence before it.
fn is_continuation(line: &str) -> bool {
    let text = line.trim();
    let starts = ["Where: ", "Finding ", "Not built yet: ", "Checked by: ", "Not checked: ", "<a id=", "**"];
    !text.is_empty() && !starts.iter().any(|start| text.starts_with(start))
}

/// Writes the counterexample of G1, computed with the kernel's equations.
fn overloaded_node(page: &mut String) {
    let policy = ConnectionPolicy::default();
    let fresh = || Connection::new(&policy, Timestamp::default());
    let (mut a, mut b) = (fresh(), fresh());
    let _ = write!(
        page,
        "\n## G1: an overloaded node gets more work\n\nB gives A {TOKENS_GIVEN} tokens and receives {TOKENS_RECEIVED} in each exchange. A routes with \
         its own weight for B.\n\n| exchanges | reciprocity at B | weight of A for B | weight of B for A |\n|---|---|---|---|\n"
    );
    let last = EXCHANGES_SHOWN.into_iter().max().unwrap_or(0);
    for number in 0..=last {
        if number > 0 {
            a.record(&policy, &exchange(TOKENS_RECEIVED, TOKENS_GIVEN));
            b.record(&policy, &exchange(TOKENS_GIVEN, TOKENS_RECEIVED));
        }
        if number == 0 || EXCHANGES_SHOWN.contains(&number) {
            let _ = writeln!(page, "| {number} | {} | {} | {} |", b.reciprocity, a.weight, b.weight);
        }
    }
}

fn exchange(given: i64, received: i64) -> Interaction {
    let tokens = |number: i64| Millionths::new(number.saturating_mul(Millionths::ONE.get()));
    Interaction {
        quality: Score::from_millionths(NEUTRAL_QUALITY).unwrap_or(Score::ONE),
        volume: Millionths::ONE,
        given: tokens(given),
        received: tokens(received),
        ..Interaction::default()
    }
}

/// Writes the computation of G2: the two positions that differ most, one half of the nodes at each end, in each round.
fn consensus(page: &mut String) {
    let policy = ConvergencePolicy::default();
    let position = |node: &str, value| Position {
        node: NodeId::new(node),
        value,
        trust: Some(Score::ONE),
        quality: Score::ONE,
    };
    let mut positions = [position("a", Millionths::ZERO), position("b", Millionths::ONE)];
    let widest = Variance::widest(&positions);
    let _ = write!(
        page,
        "\n## G2: consensus never ends in an agreement to disagree\n\nA round replaces each position by {own} of itself and the rest of a mean \
         that all share. Differences shrink to {own}, so the variance shrinks to the square of {own}, whatever the weights. The variance \
         is at most the largest, so the score after a round is at least 1 − {own}², above the threshold {converged}. An agreement to \
         disagree requires {rounds} rounds with a score of at most {exploring}. Two opposed nodes have the lowest scores:\n\n\
         | rounds | positions | score | converged |\n|---|---|---|---|\n",
        own = policy.own_share,
        converged = policy.converged_above,
        rounds = policy.min_rounds,
        exploring = policy.exploring_above,
    );
    for round in 0..=ROUNDS_SHOWN {
        if round > 0 {
            deliberate(&policy, &mut positions);
        }
        let [a, b] = &positions;
        let score = convergence_score(&positions, widest);
        let converged = if score > policy.converged_above { "yes" } else { "no" };
        let _ = writeln!(page, "| {round} | {}, {} | {score} | {converged} |", a.value, b.value);
    }
}
