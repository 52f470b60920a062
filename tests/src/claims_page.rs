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

/// Returns the faults that only one claim detects, by claim, from the page of the faults.
#[must_use]
pub fn faults_of_one_claim(page: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut faults: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [fault, _, _, check, ..] = cells.as_slice() else { continue };
        if let (Some(fault), Some(claim)) =
            (fault.strip_prefix("| "), CLAIMS.iter().find(|claim| claim.id == *check))
        {
            faults.entry(claim.id).or_default().push(fault);
        }
    }
    faults
}

/// Returns the page: one table of statements and formulas, and one of the statistics.
#[must_use]
pub fn claims_page(page: &str, statistics: &Statistics, faults: &str) -> String {
    let mut text = page.to_owned();
    let _ = write!(
        text,
        "\n## Statistics\n\nRecorded by `orchestrion check --statistics` under `hardened` at scope {}, with {} models.\n\n\
         - *States*: product states in which the premise of the claim holds, over all models.\n\
         - *Decisive*: of the sampled states, those from which a systematic mutant of the kernel violates the claim. A claim without \
         such a state is hollow: it may hold because it cannot fail there.\n\
         - *Models*: those that reach the premise.\n\
         - *Inductive on*: the enumerations of well-formed states (decision 0048) in which the premise of a claim holds, about the semantic \
         state or about control. No step from any of these states violates the claim, reached or not. The sizes for which the argument covers all \
         are those of the decision.\n\
         - *Faults*: faults of [faults.md](faults.md) that only this claim detects.\n\n\
         | claim | states | decisive | models | inductive on | faults |\n|---|---|---|---|---|---|\n",
        statistics.scope,
        MODELS.len()
    );
    let faults = faults_of_one_claim(faults);
    for claim in statistics.policies.iter().flat_map(|policy| &policy.claims) {
        let ClaimStatistics { id, status, premise_states, sampled, decisive, models, inductive_on } = claim;
        let decisive = match status.as_str() {
            "hollow" => format!("0 of {sampled}: hollow"),
            _ => format!("{decisive} of {sampled}"),
        };
        let models = if models.len() == MODELS.len() { "all".to_owned() } else { models.join(", ") };
        let faults = faults.get(id.as_str()).map(|faults| faults.join(", ")).unwrap_or_default();
        let _ = writeln!(
            text,
            "| [{id}](#{id}) | {premise_states} | {decisive} | {models} | {} | {faults} |",
            inductive_on.join(", ")
        );
    }
    text
}
