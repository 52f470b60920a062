//! The estimated size of the models that a scope file bounds: too large ones are refused before they are explored.

use super::search::SearchArgs;
use crate::cli::progress::ProgressLine;
use miette::Result;
use orchestrion_kernel::Policy;
use orchestrion_model::estimate::{SizeEstimate, estimate_size};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{Model, Scope};
use orchestrion_project::scope_file::{ScopeSource, Setting};
use orchestrion_report::text::{grouped, sanitize};
use orchestrion_yaml::{LabeledError, ReadError};
use std::time::Instant;

/// The most product states that are explored without a limit: 12 GB at 24 bytes each.
const PRODUCTS_MAX: f64 = 5e8;

/// What is explored within the bounds of a scope file.
pub(in crate::cli) struct BoundedModels<'a> {
    pub(in crate::cli) file: &'a ScopeSource,
    pub(in crate::cli) scope: &'a Scope,
    pub(in crate::cli) models: &'a [Model],
    pub(in crate::cli) policies: &'a [&'a Policy],
}

impl BoundedModels<'_> {
    /// Returns an error if a model is too large to enumerate, unless a limit ends its exploration. A model that is as large as at a
    /// named scope is not estimated. `instead` is what a user can do instead of exploring it.
    pub(in crate::cli) fn ensure_enumerable(
        &self,
        search: &SearchArgs,
        instead: &str,
        quiet: bool,
    ) -> Result<()> {
        if search.has_limit() {
            return Ok(());
        }
        for policy in self.policies {
            for model in self.models.iter().filter(|model| self.file.changes(self.scope, **model)) {
                let estimates = Estimates { policy, search, quiet };
                let size = estimates.of(*model, self.scope, PRODUCTS_MAX, "the size");
                if size.products > PRODUCTS_MAX {
                    return Err(self.too_large(&estimates, *model, size, instead).into());
                }
            }
        }
        Ok(())
    }

    /// Describes a model that is too large, with the setting without which it is smallest.
    fn too_large(
        &self,
        estimates: &Estimates<'_>,
        model: Model,
        size: SizeEstimate,
        instead: &str,
    ) -> ReadError {
        let Self { file, scope, models, .. } = self;
        // Small samples are enough to compare the settings.
        let without = |setting: &Setting| {
            let subject = format!("the size without {}", setting.name);
            estimates.of(setting.model.unwrap_or(model), &setting.scope, 0.0, &subject).products
        };
        let sizes = file.settings(scope).into_iter().map(|setting| (without(&setting), setting));
        let smallest = sizes.min_by(|(one, _), (other, _)| one.total_cmp(other));
        let error = LabeledError::new(
            format!(
                "the model `{}` is too large to enumerate under the policy {}: about {} product states by an estimate, \
                 expected at most {}",
                model.name,
                sanitize(&estimates.policy.name),
                rounded(size.products),
                rounded(PRODUCTS_MAX)
            ),
            format!(
                "{}; or set a limit with --max-states, --max-memory or --timeout, and what it leaves is inconclusive; or \
                 {instead}. More than {} states need more than 12 GB, at 24 bytes each",
                if models.len() > 1 {
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
}

/// What all estimates under a policy have in common.
struct Estimates<'a> {
    policy: &'a Policy,
    search: &'a SearchArgs,
    quiet: bool,
}

impl Estimates<'_> {
    /// Estimates the size of a model, and shows the progress. `subject` is what the progress line says is estimated.
    fn of(&self, model: Model, scope: &Scope, precise_up_to: f64, subject: &str) -> SizeEstimate {
        let kernel = KernelUnderTest::unmodified(self.policy.clone());
        let (mut line, start) = (ProgressLine::new(model.name, self.quiet), Instant::now());
        let size = estimate_size(&kernel, model, scope, precise_up_to, self.search.jobs(), &mut |progress| {
            let text = format!(
                "estimating {subject}: about {} product states to depth {}",
                rounded(progress.products),
                progress.depth
            );
            line.show(start.elapsed(), text);
        });
        line.finish();
        size
    }
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
