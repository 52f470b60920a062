//! Which variables a condition or a value reads, and whose steps it asks about.

use super::ast::{Condition, Expr, StepFilter, Term, Var};

impl Term {
    const fn reads(self) -> Option<Var> {
        match self {
            Self::Of(var) | Self::Next(var) => Some(var),
            Self::Number(_) | Self::Limit(_) | Self::AboveBound(_) => None,
        }
    }
}

impl Condition {
    /// Adds the variables that it reads. What it takes to step is read by the steps.
    pub(super) fn reads(&self, vars: &mut Vec<Var>) {
        match self {
            Self::True | Self::False | Self::Can(_) => {}
            Self::Flag(var) | Self::Is(var, _) => vars.push(*var),
            Self::Less(a, b) | Self::Same(a, b) => vars.extend(a.reads().into_iter().chain(b.reads())),
            Self::Not(cond) => cond.reads(vars),
            Self::All(conds) | Self::Any(conds) => conds.iter().for_each(|cond| cond.reads(vars)),
            Self::Implies(a, b) => [a, b].into_iter().for_each(|cond| cond.reads(vars)),
        }
    }

    /// Adds those whose steps it asks about, each once.
    pub(super) fn asks(&self, whos: &mut Vec<StepFilter>) {
        match self {
            Self::Can(who) if !whos.contains(who) => whos.push(*who),
            Self::Not(cond) => cond.asks(whos),
            Self::All(conds) | Self::Any(conds) => conds.iter().for_each(|cond| cond.asks(whos)),
            Self::Implies(a, b) => [a, b].into_iter().for_each(|cond| cond.asks(whos)),
            _ => {}
        }
    }
}

impl Expr {
    /// Adds the variables that it reads.
    pub(super) fn reads(&self, vars: &mut Vec<Var>) {
        match self {
            Self::Name(_) | Self::Number(_) => {}
            Self::Test(cond) => cond.reads(vars),
            Self::Of(var) | Self::OneMore(var) | Self::OneLess(var) => vars.push(*var),
            Self::If(cond, yes, no) => {
                cond.reads(vars);
                yes.reads(vars);
                no.reads(vars);
            }
        }
    }
}
