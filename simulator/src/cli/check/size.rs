//! The estimated size of the models that a scope file bounds: too large ones are refused before they are explored.

use super::plan::CheckPlan;
use super::search::SearchArgs;
use crate::scope_file::{ScopeSource, Setting};
use miette::Result;
use orchestrion_kernel::Policy;
use orchestrion_model::estimate::{NARROW, SizeEstimate, WIDE, estimate_size};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{Model, Scope};
use orchestrion_report::text::{grouped, sanitize};
use orchestrion_yaml::{LabeledError, ReadError};

/// The most product states that are explored without a limit: 12 GB at 24 bytes each.
const PRODUCTS_MAX: f64 = 5e8;

/// Returns an error if a model of a scope file is too large to enumerate, unless a limit ends its exploration. A model that is as
/// large as at a named scope is not estimated.
pub(super) fn ensure_enumerable(plan: &CheckPlan, search: &SearchArgs) -> Result<()> {
    let Some(file) = plan.file.as_ref().filter(|_| !search.has_limit()) else { return Ok(()) };
    for policy in &plan.policies {
        for model in plan.models.iter().filter(|model| file.changes(&plan.scope, **model)) {
            let size = estimate(policy, *model, &plan.scope, WIDE, search);
            if size.products > PRODUCTS_MAX {
                return Err(too_large(file, policy, *model, plan, search, size).into());
            }
        }
    }
    Ok(())
}

fn estimate(policy: &Policy, model: Model, scope: &Scope, width: usize, search: &SearchArgs) -> SizeEstimate {
    estimate_size(&KernelUnderTest::unmodified(policy.clone()), model, scope, width, search.jobs())
}

/// Describes a model that is too large, with the setting without which it is smallest.
fn too_large(
    file: &ScopeSource,
    policy: &Policy,
    model: Model,
    plan: &CheckPlan,
    search: &SearchArgs,
    size: SizeEstimate,
) -> ReadError {
    let of_setting = |setting: &Setting, width| {
        let model = setting.model.unwrap_or(model);
        estimate(policy, model, &setting.scope, width, search).products
    };
    // Narrow probes find the setting, and a wide one its size.
    let compared =
        file.settings(&plan.scope).into_iter().map(|setting| (of_setting(&setting, NARROW), setting));
    let smallest = compared.min_by(|(one, _), (other, _)| one.total_cmp(other));
    let smallest = smallest.map(|(_, setting)| (of_setting(&setting, WIDE), setting));
    let error = LabeledError::new(
        format!(
            "the model `{}` is too large to enumerate under the policy {}: about {} product states by an estimate, \
             expected at most {}",
            model.name,
            sanitize(&policy.name),
            rounded(size.products),
            rounded(PRODUCTS_MAX)
        ),
        format!(
            "{}; or set a limit with --max-states, --max-memory or --timeout, and what it leaves is inconclusive; or \
             try random deep runs with --simulate. More than {} states need more than 12 GB, at 24 bytes each",
            if plan.models.len() > 1 {
                "write smaller bounds or shorter lists"
            } else {
                "open fewer parts, or write smaller bounds or shorter lists"
            },
            rounded(PRODUCTS_MAX)
        ),
    );
    file.error(match smallest {
        Some((products, setting)) if products < size.products / 2.0 => error.with_label(
            setting.span,
            format!("contributes most: about {} without {}", rounded(products), setting.name),
        ),
        _ => error.with_label(file.open_span(), "together too large"),
    })
}

/// Writes a number with one significant digit, such as 3·10^11.
fn rounded(number: f64) -> String {
    if number < 1e4 {
        return grouped(number.round() as u64);
    }
    let exponent = number.log10().floor();
    let digit = (number / 10_f64.powf(exponent)).round();
    let (digit, exponent) = if digit > 9.0 { (1.0, exponent + 1.0) } else { (digit, exponent) };
    format!("{digit}·10^{exponent}")
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn numbers_have_one_digit() {
        for (number, expected) in
            [(1.0, "1"), (4_579.0, "4,579"), (60_071.0, "6·10^4"), (9.7e8, "1·10^9"), (3.2e11, "3·10^11")]
        {
            assert_eq!(rounded(number), expected);
        }
    }
}
