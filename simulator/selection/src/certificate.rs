//! Certificates as JSON files: why an answer is the best, told with the names of items.
//!
//! What a certificate says is the kernel's; here ids stand in the place of positions. A file that is no certificate is an error;
//! one that does not fit the problem, or proves nothing, is refuted.

use super::error::{LocatedError, ProblemFileError, locate_json_error, quoted};
use super::format::{Id, Object};
use super::problem::{NamedProblem, bytes_of, text_of};
use orchestrion_kernel::selection::{Certificate, DualSolution, Selection, Step, verify};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;

/// How every certificate begins.
pub const CERTIFICATE_BEGINS: &str = "{\"format\":\"orchestrion-certificate/1\",";

/// Why an answer is the best.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CertificateFile<'a> {
    /// What kind of file this is.
    #[serde(borrow)]
    format: Format<'a>,
    /// The most utility that fits.
    utility: u64,
    /// The least that as much utility costs.
    cost: u64,
    /// The items of the answer, in the order of their ids.
    #[serde(borrow)]
    selected: Vec<Id<'a>>,
    /// Slopes at which utility is compared with cost, where bounds are rounded; eight at most.
    slopes: Vec<u64>,
    /// The items that splits count and tolls are asked for.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    counted: Vec<Id<'a>>,
    /// The tree of cases in preorder: each step is about the first case that is not closed yet.
    #[serde(borrow)]
    steps: Vec<StepFile<'a>>,
}

/// One step. An item that is decided decides others: what it needs comes in with it, what needs it stays out with it.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StepFile<'a> {
    /// These are out: each costs, with what it needs, more than there is.
    #[serde(borrow)]
    Drop(Vec<Id<'a>>),
    /// Under these prices, some are out and some are in.
    #[serde(borrow)]
    Reduce(ReduceFile<'a>),
    /// Two cases: with this item, then without it.
    #[serde(borrow)]
    Branch(Id<'a>),
    /// Two cases: so many counted items at most, then more.
    Split(u64),
    /// Under these prices, no choice of the case is better.
    #[serde(borrow)]
    Close(PricesFile<'a>),
    /// No choice of the case is better, as a table of costs shows that is worked out again: no open item needs two.
    Table,
}

/// What is decided, and why.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReduceFile<'a> {
    /// The proof.
    #[serde(borrow)]
    prices: PricesFile<'a>,
    /// What no better choice has.
    #[serde(borrow)]
    out: Vec<Id<'a>>,
    /// What every better choice has.
    #[serde(borrow, rename = "in")]
    within: Vec<Id<'a>>,
}

/// An item weighs scale · utility - price · cost - toll (if it is counted), and hands weight to what it depends on.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PricesFile<'a> {
    /// Of a unit of utility.
    scale: Number,
    /// Of a unit of cost.
    price: Number,
    /// Of a counted item; below zero, what it is rewarded with.
    toll: Number,
    /// Who hands on weight, to whom, and how much.
    #[serde(borrow)]
    flow: Vec<(Id<'a>, Id<'a>, Number)>,
}

/// The text that names the format, and no other.
#[derive(Debug)]
struct Format<'a>(Cow<'a, str>);

const FORMAT: &str = "orchestrion-certificate/1";

impl Serialize for Format<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Format<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == FORMAT {
            return Ok(Self(FORMAT.into()));
        }
        Err(D::Error::custom(format_args!("`format` is {text:?}; expected {FORMAT:?}")))
    }
}

impl JsonSchema for Format<'_> {
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

/// A whole number of up to 127 bits, as digits in a text: readers of JSON seldom keep so many.
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
        let wrong = |_| D::Error::custom(format_args!("{text:?} is no whole number of 127 bits in digits"));
        text.parse().map(Self).map_err(wrong)
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

/// What a certificate says of an answer, and whether it proves that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyResult {
    /// The utility that is to be the most that fits.
    pub utility: u64,
    /// The cost that is to be the least for it.
    pub cost: u64,
    /// How many steps there are.
    pub steps: usize,
    /// Why it is not proven, if it is not.
    pub refuted: Option<CertificateError>,
}

/// What a certificate does not prove; reads as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateError {
    /// The step, from 1 on; none if it is the certificate as a whole.
    pub step: Option<usize>,
    told: String,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told)
    }
}

/// Holds a file against a problem.
///
/// # Errors
/// [`ProblemError`] for a file that cannot be read, or is no certificate.
pub fn verify_file(named: &NamedProblem, path: &Path) -> Result<VerifyResult, ProblemFileError> {
    verify_bytes(named, &path.display().to_string(), &bytes_of(path)?)
}

/// Holds the bytes of a file against a problem. `name` is what errors call it.
///
/// # Errors
/// As [`verify_file`].
pub fn verify_bytes(
    named: &NamedProblem,
    name: &str,
    bytes: &[u8],
) -> Result<VerifyResult, ProblemFileError> {
    let parsed = text_of(bytes).and_then(|text| {
        serde_json::from_str::<Object<CertificateFile<'_>>>(text).map_err(|error| {
            let (at, told) = locate_json_error(text, &error);
            let help = "`orchestrion context solve PROBLEM --certify FILE` writes one; \
                        orchestrion export schema --of certificate says what it is";
            LocatedError { at: Some(at), what: format!("no certificate: {told}"), help: help.into() }
        })
    });
    let Object(file) = parsed.map_err(|fault| ProblemFileError::in_file(name, bytes, fault))?;
    let refuted = match certificate(named, &file) {
        Err(refuted) => Some(refuted),
        Ok(certificate) => verify(&named.problem, &certificate).err().map(|doubt| CertificateError {
            step: doubt.step.map(|step| step + 1),
            told: doubt.told(|item| named.ids.get(item).map_or_else(String::new, quoted)),
        }),
    };
    Ok(VerifyResult { utility: file.utility, cost: file.cost, steps: file.steps.len(), refuted })
}

/// Puts positions in the place of ids.
fn certificate(named: &NamedProblem, file: &CertificateFile<'_>) -> Result<Certificate, CertificateError> {
    let selected = positions(named, &file.selected, None)?;
    let counted = positions(named, &file.counted, None)?;
    let mut steps = Vec::with_capacity(file.steps.len());
    for (index, step) in file.steps.iter().enumerate() {
        let at = Some(index + 1);
        steps.push(match step {
            StepFile::Drop(out) => Step::DropUnaffordable(positions(named, out, at)?),
            StepFile::Reduce(ReduceFile { prices: own, out, within }) => Step::Fix {
                prices: prices(named, own, at)?,
                out: positions(named, out, at)?,
                within: positions(named, within, at)?,
            },
            StepFile::Branch(id) => Step::Branch(position(named, id, at)?),
            StepFile::Split(quota) => Step::BranchOnCount(*quota),
            StepFile::Close(own) => Step::PruneByBound(prices(named, own, at)?),
            StepFile::Table => Step::PruneByTable,
        });
    }
    let selection = Selection { selected, utility: file.utility, cost: file.cost };
    Ok(Certificate { selection, slopes: file.slopes.clone(), counted, steps })
}

fn position(named: &NamedProblem, id: &Id<'_>, step: Option<usize>) -> Result<usize, CertificateError> {
    named.ids.binary_search_by(|own| own.cmp(id)).map_err(|_| {
        let told = format!("{} is named, and the problem has no such item", quoted(id));
        CertificateError {
            step,
            told: step.map_or_else(|| told.clone(), |step| format!("step {step}: {told}")),
        }
    })
}

fn positions(
    named: &NamedProblem,
    ids: &[Id<'_>],
    step: Option<usize>,
) -> Result<Vec<usize>, CertificateError> {
    ids.iter().map(|id| position(named, id, step)).collect()
}

fn prices(
    named: &NamedProblem,
    prices: &PricesFile<'_>,
    step: Option<usize>,
) -> Result<DualSolution, CertificateError> {
    let PricesFile { scale, price, toll, flow } = prices;
    let flow = flow
        .iter()
        .map(|(item, dep, amount)| Ok((position(named, item, step)?, position(named, dep, step)?, amount.0)));
    Ok(DualSolution {
        scale: scale.0,
        price: price.0,
        count_price: toll.0,
        flow: flow.collect::<Result<_, _>>()?,
    })
}

/// Writes a certificate as a file.
///
/// # Errors
/// What writing comes to.
pub fn write_certificate(
    named: &NamedProblem,
    certificate: &Certificate,
    out: impl io::Write,
) -> io::Result<()> {
    let id = |position: usize| named.ids.get(position).map_or(Id::Number(0), Id::lent);
    let ids = |positions: &[usize]| positions.iter().map(|position| id(*position)).collect::<Vec<_>>();
    let prices = |prices: &DualSolution| PricesFile {
        scale: Number(prices.scale),
        price: Number(prices.price),
        toll: Number(prices.count_price),
        flow: prices.flow.iter().map(|(item, dep, amount)| (id(*item), id(*dep), Number(*amount))).collect(),
    };
    let step = |step: &Step| match step {
        Step::DropUnaffordable(out) => StepFile::Drop(ids(out)),
        Step::Fix { prices: own, out, within } => {
            StepFile::Reduce(ReduceFile { prices: prices(own), out: ids(out), within: ids(within) })
        }
        Step::Branch(item) => StepFile::Branch(id(*item)),
        Step::BranchOnCount(quota) => StepFile::Split(*quota),
        Step::PruneByBound(own) => StepFile::Close(prices(own)),
        Step::PruneByTable => StepFile::Table,
    };
    let file = CertificateFile {
        format: Format(FORMAT.into()),
        utility: certificate.selection.utility,
        cost: certificate.selection.cost,
        selected: ids(&certificate.selection.selected),
        slopes: certificate.slopes.clone(),
        counted: ids(&certificate.counted),
        steps: certificate.steps.iter().map(step).collect(),
    };
    let mut out = io::BufWriter::new(out);
    serde_json::to_writer(&mut out, &file)?;
    io::Write::write_all(&mut out, b"\n")?;
    io::Write::flush(&mut out)
}
