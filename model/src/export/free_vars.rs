//! The variables and step filters that a condition or an expression uses.

use super::ast::{Condition, Expr, StepFilter, Term, Var};

impl Term {
    const fn var(self) -> Option<Var> {
        match self {
            Self::Of(var) | Self::Next(var) => Some(var),
            Self::Number(_) | Self::Limit(_) | Self::AboveBound(_) => None,
        }
    }
}

impl Condition {
    /// Adds the variables that it reads. The variables of a filtered step are collected from the steps.
    pub(super) fn collect_vars(&self, vars: &mut Vec<Var>) {
        match self {
            Self::True | Self::False | Self::Can(_) => {}
            Self::Flag(var) | Self::Is(var, _) => vars.push(*var),
            Self::Less(a, b) | Self::Same(a, b) => vars.extend(a.var().into_iter().chain(b.var())),
            Self::Not(cond) => cond.collect_vars(vars),
            Self::All(conds) | Self::Any(conds) => conds.iter().for_each(|cond| cond.collect_vars(vars)),
            Self::Implies(a, b) => [a, b].into_iter().for_each(|cond| cond.collect_vars(vars)),
        }
    }

    /// Adds the step filters that it uses, each once.
    pub(super) fn collect_filters(&self, filters: &mut Vec<StepFilter>) {
        match self {
            Self::Can(filter) => {
                if !filters.contains(filter) {
                    filters.push(*filter);
                }
            }
            Self::Not(cond) => cond.collect_filters(filters),
            Self::All(conds) | Self::Any(conds) => {
                conds.iter().for_each(|cond| cond.collect_filters(filters))
            }
            Self::Implies(a, b) => [a, b].into_iter().for_each(|cond| cond.collect_filters(filters)),
            Self::True | Self::False | Self::Flag(_) | Self::Is(..) | Self::Less(..) | Self::Same(..) => {}
        }
    }
}

impl Expr {
    /// Adds the variables that it reads.
    pub(super) fn collect_vars(&self, vars: &mut Vec<Var>) {
        match self {
            Self::Name(_) | Self::Number(_) => {}
            Self::Test(cond) => cond.collect_vars(vars),
            Self::Of(var) | Self::OneMore(var) | Self::OneLess(var) => vars.push(*var),
            Self::If(cond, yes, no) => {
                cond.collect_vars(vars);
                yes.collect_vars(vars);
                no.collect_vars(vars);
            }
        }
    }
}
