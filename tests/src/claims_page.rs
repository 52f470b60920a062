//! The page of the claims, with what was recorded of them: where their premises hold, where they could fail, and which faults only they
//! detect.

use crate::root;
use orchestrion_claims::CLAIMS;
use orchestrion_kernel::Policy;
use orchestrion_model::scopes::MODELS;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The command that records the statistics.
pub const RECORD: &str =
    "orchestrion check --statistics --scope tiny --format json > specs/claim-statistics.json";

/// Returns the file of the recorded statistics.
#[must_use]
pub fn statistics_file() -> PathBuf {
    root().join("specs/claim-statistics.json")
}

/// The recorded output of `check --statistics --format json`.
#[derive(Debug, Deserialize)]
pub struct Statistics {
    /// The scope of the models.
    pub scope: String,
    /// The policies; only `hardened` is recorded.
    pub policies: Vec<PolicyStatistics>,
}

/// The statistics under one policy.
#[derive(Debug, Deserialize)]
pub struct PolicyStatistics {
    /// The name of the policy.
    pub policy: String,
    /// The applicable claims.
    pub claims: Vec<ClaimStatistics>,
}

/// The statistics of one claim.
#[derive(Debug, Deserialize)]
pub struct ClaimStatistics {
    /// The id.
    pub id: String,
    /// `decisive`, `hollow` or `vacuous`.
    pub status: String,
    /// Product states in which the premise holds.
    pub premise_states: u64,
    /// Sampled states.
    pub sampled: u64,
    /// Sampled states from which a mutant violates the claim.
    pub decisive: u64,
    /// The models that reach the premise.
    pub models: Vec<String>,
    /// The enumerations from which no step violates the claim.
    pub inductive_on: Vec<String>,
}

/// Reads the recorded statistics.
///
/// # Errors
/// The file cannot be read, or has another format.
pub fn read_statistics() -> Result<Statistics, String> {
    let file = statistics_file();
    let error = |error: &dyn std::fmt::Display| format!("{}: {error}; record it: {RECORD}", file.display());
    let text = std::fs::read_to_string(&file).map_err(|cause| error(&cause))?;
    serde_json::from_str(&text).map_err(|cause| error(&cause))
}

/// Returns what is wrong with the statistics: claims that they lack, and claims that do not exist or apply.
#[must_use]
pub fn stale_claims(statistics: &Statistics) -> Vec<String> {
    let policy = Policy::hardened();
    let applicable = CLAIMS.iter().filter(|claim| (claim.not_applicable)(&policy).is_none());
    let expected: Vec<&str> = applicable.map(|claim| claim.id).collect();
    let recorded: Vec<&str> =
        statistics.policies.iter().flat_map(|policy| &policy.claims).map(|claim| claim.id.as_str()).collect();
    let missing =
        expected.iter().filter(|id| !recorded.contains(id)).map(|id| format!("{id} is not recorded"));
    let unknown =
        recorded.iter().filter(|id| !expected.contains(id)).map(|id| format!("{id} does not apply"));
    missing.chain(unknown).collect()
}

/// The faults that a claim detects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DetectedFaults<'p> {
    /// How many.
    pub count: usize,
    /// Those that no other claim detects, as a list.
    pub alone: &'p str,
}

/// Returns the faults that each claim detects, by claim, from the page of the faults.
#[must_use]
pub fn faults_by_claim(page: &str) -> BTreeMap<&str, DetectedFaults<'_>> {
    let row = |line| {
        let cells: Vec<&str> = str::split(line, '|').map(str::trim).collect();
        let ["", claim, detected, alone, ""] = cells.as_slice() else { return None };
        let is_claim = CLAIMS.iter().any(|known| known.id == *claim);
        is_claim.then_some((*claim, DetectedFaults { count: detected.split(", ").count(), alone }))
    };
    page.lines().filter_map(row).collect()
}

/// Returns the page: one table of statements and formulas, and one of the statistics.
#[must_use]
pub fn claims_page(page: &str, statistics: &Statistics, faults: &str) -> String {
    let mut text = page.to_owned();
    let _ = write!(
        text,
        "\n## Statistics\n\nRecorded by `orchestrion check --statistics` under `hardened` at scope {}, with {} models.\n\n\
         - *States*: product states in which the premise of the claim holds, over all models.\n\
         - *Decisive*: of the sampled states, those from which a systematic mutant of the kernel violates the claim.\n\
         - *Faults*: how many faults of [faults.md](faults.md) the claim detects, and those that no other claim detects. A claim \
         without a fault and without a decisive state is hollow: it may hold because it cannot fail.\n\
         - *Models*: those that reach the premise.\n\
         - *Inductive on*: the enumerations of well-formed states (decision 0048) in which the premise of a claim holds, about the semantic \
         state or about control. No step from any of these states violates the claim, reached or not. The sizes for which the argument covers all \
         are those of the decision.\n\n\
         | claim | states | decisive | faults | by no other claim | models | inductive on |\n|---|---|---|---|---|---|---|\n",
        statistics.scope,
        MODELS.len()
    );
    let faults = faults_by_claim(faults);
    for claim in statistics.policies.iter().flat_map(|policy| &policy.claims) {
        let ClaimStatistics { id, status, premise_states, sampled, decisive, models, inductive_on } = claim;
        let DetectedFaults { count, alone } = faults.get(id.as_str()).copied().unwrap_or_default();
        let hollow = if status == "hollow" && count == 0 { ": hollow" } else { "" };
        let models = if models.len() == MODELS.len() { "all".to_owned() } else { models.join(", ") };
        let _ = writeln!(
            text,
            "| [{id}](#{id}) | {premise_states} | {decisive} of {sampled}{hollow} | {count} | {alone} | {models} | {} |",
            inductive_on.join(", ")
        );
    }
    text
}
