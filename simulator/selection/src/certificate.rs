//! Certificates as JSON files: the kernel's certificate with item ids instead of positions.
//!
//! A file that is not a certificate is an error. A certificate for another problem, or one that proves nothing, is a
//! [`VerifyResult`] with an error.

use super::error::{LocatedError, ProblemFileError, locate_json_error, quoted};
use super::format::Object;
use super::id::Id;
use super::problem::{NamedProblem, decode_text, read_bytes};
use orchestrion_kernel::selection::{Certificate, DualSolution, Selection, Step, verify};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

/// Prefix of every certificate file.
pub const CERTIFICATE_PREFIX: &str = "{\"format\":\"orchestrion-certificate/";

const FORMAT: &str = "orchestrion-certificate/2";

/// Certificate of optimality.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CertificateFile<'a> {
    /// Format of the file, with its version.
    format: Format,
    /// Maximum utility within the budget.
    utility: u64,
    /// Minimum cost of that utility.
    cost: u64,
    /// Items of the solution, in order of their ids.
    #[serde(borrow)]
    selected: Vec<Id<'a>>,
    /// Slopes of utility against cost at which bounds are rounded; at most eight.
    slopes: Vec<u64>,
    /// Items to which count branches and count prices apply.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    counted: Vec<Id<'a>>,
    /// Branch-and-bound tree in preorder: each step applies to the first open node.
    #[serde(borrow)]
    steps: Vec<StepFile<'a>>,
}

/// Step of a certificate. Including an item includes its dependencies; excluding it excludes its dependents.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StepFile<'a> {
    /// Excludes items whose closure exceeds the budget.
    #[serde(borrow)]
    DropUnaffordable(Vec<Id<'a>>),
    /// Fixes items whose opposite choice is, by these prices, not better than the solution.
    #[serde(borrow)]
    Fix(FixFile<'a>),
    /// Branches on an item: first with it, then without it.
    #[serde(borrow)]
    Branch(Id<'a>),
    /// Branches on the number of counted items: first at most this many, then more.
    BranchOnCount(u64),
    /// Prunes the node: by these prices it contains no better selection.
    #[serde(borrow)]
    PruneByBound(PricesFile<'a>),
    /// Prunes the node by dynamic programming. Its open items form a forest.
    PruneByTable,
}

/// Fixed items, with the prices that prove them.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FixFile<'a> {
    /// Proof.
    #[serde(borrow)]
    prices: PricesFile<'a>,
    /// Items that no better selection contains.
    #[serde(borrow)]
    excluded: Vec<Id<'a>>,
    /// Items that every better selection contains.
    #[serde(borrow)]
    included: Vec<Id<'a>>,
}

/// Dual solution. The weight of an item is scale · utility - price · cost - count_price (if it is counted); the flow moves
/// weight to its dependencies.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PricesFile<'a> {
    /// Price of a unit of utility.
    scale: Number,
    /// Price of a unit of cost.
    price: Number,
    /// Price of a counted item; may be negative.
    count_price: Number,
    /// Weight that moves from an item to one of its dependencies: item, dependency, amount.
    #[serde(borrow)]
    flow: Vec<(Id<'a>, Id<'a>, Number)>,
}

/// Name of the format with the version that this program reads.
#[derive(Debug)]
struct Format;

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(FORMAT)
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &String::deserialize(deserializer)?[..] {
            FORMAT => Ok(Self),
            "orchestrion-certificate/1" => Err(D::Error::custom(format_args!(
                "unsupported format version: expected {FORMAT}, found orchestrion-certificate/1; version 2 renames the \
                 steps and `toll`, so write the certificate again"
            ))),
            text => Err(D::Error::custom(format_args!("`format`: expected {FORMAT:?}, found {text:?}"))),
        }
    }
}

impl JsonSchema for Format {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Format".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"const": FORMAT})
    }
}

/// Whole number of up to 127 bits, written as a string because JSON readers round large numbers.
#[derive(Clone, Copy, Debug)]
struct Number(i128);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        let error = |_| {
            D::Error::custom(format_args!("expected a whole number of 127 bits as digits, found {text:?}"))
        };
        text.parse().map(Self).map_err(error)
    }
}

impl JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^-?[0-9]{1,39}$"})
    }
}

/// Statement of a certificate, and whether it is proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyResult {
    /// Stated maximum utility.
    pub utility: u64,
    /// Stated minimum cost.
    pub cost: u64,
    /// Number of steps.
    pub steps: usize,
    /// Reason why the statement is not proven.
    pub error: Option<CertificateError>,
}

/// Reason why a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateError {
    /// Number of the invalid step, from 1; `None` for the certificate as a whole.
    pub step: Option<usize>,
    message: String,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CertificateError {}

/// Verifies a certificate file against a problem.
///
/// # Errors
/// [`ProblemFileError`] for a file that cannot be read or is not a certificate.
pub fn verify_file(problem: &NamedProblem, path: &Path) -> Result<VerifyResult, ProblemFileError> {
    verify_bytes(problem, &path.display().to_string(), &read_bytes(path)?)
}

/// Verifies the bytes of a certificate file against a problem. Errors refer to the file as `name`.
///
/// # Errors
/// As [`verify_file`].
pub fn verify_bytes(
    problem: &NamedProblem,
    name: &str,
    bytes: &[u8],
) -> Result<VerifyResult, ProblemFileError> {
    let parsed = decode_text(bytes).and_then(|text| {
        serde_json::from_str::<Object<CertificateFile<'_>>>(text).map_err(|error| {
            let (offset, message) = locate_json_error(text, &error);
            LocatedError {
                offset: Some(offset),
                message: format!("invalid certificate: {message}"),
                help: "write one with `orchestrion context solve PROBLEM --certify FILE`; the schema: \
                       orchestrion export schema --schema certificate"
                    .into(),
            }
        })
    });
    let Object(file) = parsed.map_err(|error| ProblemFileError::in_file(name, bytes, error))?;
    let error = match to_certificate(problem, &file) {
        Err(error) => Some(error),
        Ok(certificate) => verify(&problem.problem, &certificate).err().map(|error| CertificateError {
            step: error.step.map(|step| step + 1),
            message: error.describe(|item| problem.ids.get(item).map_or_else(String::new, quoted)),
        }),
    };
    Ok(VerifyResult { utility: file.utility, cost: file.cost, steps: file.steps.len(), error })
}

/// Replaces ids by positions.
fn to_certificate(
    problem: &NamedProblem,
    file: &CertificateFile<'_>,
) -> Result<Certificate, CertificateError> {
    let selected = positions(problem, &file.selected, None)?;
    let counted = positions(problem, &file.counted, None)?;
    let mut steps = Vec::with_capacity(file.steps.len());
    for (index, step) in file.steps.iter().enumerate() {
        let number = Some(index + 1);
        steps.push(match step {
            StepFile::DropUnaffordable(items) => Step::DropUnaffordable(positions(problem, items, number)?),
            StepFile::Fix(fix) => Step::Fix {
                prices: to_prices(problem, &fix.prices, number)?,
                excluded: positions(problem, &fix.excluded, number)?,
                included: positions(problem, &fix.included, number)?,
            },
            StepFile::Branch(id) => Step::Branch(position(problem, id, number)?),
            StepFile::BranchOnCount(count_max) => Step::BranchOnCount(*count_max),
            StepFile::PruneByBound(prices) => Step::PruneByBound(to_prices(problem, prices, number)?),
            StepFile::PruneByTable => Step::PruneByTable,
        });
    }
    let selection = Selection { selected, utility: file.utility, cost: file.cost };
    Ok(Certificate { selection, slopes: file.slopes.clone(), counted, steps })
}

fn position(problem: &NamedProblem, id: &Id<'_>, step: Option<usize>) -> Result<usize, CertificateError> {
    problem.ids.binary_search(id).map_err(|_| {
        let location = step.map_or_else(String::new, |step| format!("step {step}: "));
        CertificateError { step, message: format!("{location}unknown item {}", quoted(id)) }
    })
}

fn positions(
    problem: &NamedProblem,
    ids: &[Id<'_>],
    step: Option<usize>,
) -> Result<Vec<usize>, CertificateError> {
    ids.iter().map(|id| position(problem, id, step)).collect()
}

fn to_prices(
    problem: &NamedProblem,
    prices: &PricesFile<'_>,
    step: Option<usize>,
) -> Result<DualSolution, CertificateError> {
    let PricesFile { scale, price, count_price, flow } = prices;
    let flow = flow.iter().map(|(item, dep, amount)| {
        Ok((position(problem, item, step)?, position(problem, dep, step)?, amount.0))
    });
    Ok(DualSolution {
        scale: scale.0,
        price: price.0,
        count_price: count_price.0,
        flow: flow.collect::<Result<_, _>>()?,
    })
}

/// Writes a certificate as a file.
///
/// # Errors
/// The error of the writer.
pub fn write_certificate(
    problem: &NamedProblem,
    certificate: &Certificate,
    out: impl Write,
) -> io::Result<()> {
    let id = |position: usize| problem.ids.get(position).map_or(Id::Number(0), Id::borrowed);
    let ids = |positions: &[usize]| positions.iter().map(|position| id(*position)).collect::<Vec<_>>();
    let prices = |prices: &DualSolution| PricesFile {
        scale: Number(prices.scale),
        price: Number(prices.price),
        count_price: Number(prices.count_price),
        flow: prices.flow.iter().map(|(item, dep, amount)| (id(*item), id(*dep), Number(*amount))).collect(),
    };
    let step = |step: &Step| match step {
        Step::DropUnaffordable(items) => StepFile::DropUnaffordable(ids(items)),
        Step::Fix { prices: proof, excluded, included } => {
            StepFile::Fix(FixFile { prices: prices(proof), excluded: ids(excluded), included: ids(included) })
        }
        Step::Branch(item) => StepFile::Branch(id(*item)),
        Step::BranchOnCount(count_max) => StepFile::BranchOnCount(*count_max),
        Step::PruneByBound(proof) => StepFile::PruneByBound(prices(proof)),
        Step::PruneByTable => StepFile::PruneByTable,
    };
    let file = CertificateFile {
        format: Format,
        utility: certificate.selection.utility,
        cost: certificate.selection.cost,
        selected: ids(&certificate.selection.selected),
        slopes: certificate.slopes.clone(),
        counted: ids(&certificate.counted),
        steps: certificate.steps.iter().map(step).collect(),
    };
    let mut out = io::BufWriter::new(out);
    serde_json::to_writer(&mut out, &file)?;
    out.write_all(b"\n")?;
    out.flush()
}
