//! The tables of `verify`, for nodes whose open candidates form a forest: the maximum utility within every cost.
//!
//! The recurrence goes through the candidates in preorder: either include the candidate and continue with the next one, or exclude
//! it with its dependents (Johnson and Niemi, 1983). With the largest tree last, only logarithmically many rows are kept.

use super::bound::{NodeStatus, Subproblem};
use super::error::VerifyErrorKind;
use super::limits::ROW_MAX;
use alloc::vec;
use alloc::vec::Vec;

/// The open candidates in preorder, and for each the end of its subtree.
struct Preorder {
    items: Vec<usize>,
    ends: Vec<usize>,
}

impl Subproblem<'_> {
    /// Checks that no set reaches a goal. Returns the number of cells used.
    pub(super) fn prune_by_table(&self, cells_max: usize) -> Result<usize, VerifyErrorKind> {
        let preorder = self.preorder()?;
        let Some(available) = self.remaining_budget() else { return Ok(0) };
        let width = usize::try_from(available).ok().and_then(|available| available.checked_add(1));
        let width = width.filter(|width| *width <= ROW_MAX).ok_or(VerifyErrorKind::TableTooLarge)?;
        let cells = preorder.items.len().checked_add(1).and_then(|rows| rows.checked_mul(width));
        let cells = cells.filter(|cells| *cells <= cells_max).ok_or(VerifyErrorKind::TableTooLarge)?;
        let row = self.last_row(&preorder, width).ok_or(VerifyErrorKind::Overflow)?;
        let best = |available: i128| {
            let available = usize::try_from(available).unwrap_or(usize::MAX).min(width.saturating_sub(1));
            row.get(available).copied().unwrap_or(u64::MAX)
        };
        if self.can_reach_goal(|available| best(available).into()) {
            Err(VerifyErrorKind::BoundTooWeak)
        } else {
            Ok(cells)
        }
    }

    /// Returns the preorder, if each open candidate has at most one open dependency and no cycle exists.
    fn preorder(&self) -> Result<Preorder, VerifyErrorKind> {
        let (mut parents, mut children) = (vec![None; self.items.len()], vec![Vec::new(); self.items.len()]);
        let mut roots = Vec::new();
        let open = || (0..self.items.len()).filter(|item| self.status.get(*item) == Some(&NodeStatus::Open));
        for item in open() {
            let deps = self.items.get(item).map_or(&[][..], |item| &item.deps);
            let mut deps = deps.iter().filter(|dep| **dep != item && self.check_open(**dep).is_ok());
            let first = deps.next().copied();
            if deps.any(|dep| Some(*dep) != first) {
                return Err(VerifyErrorKind::NotAForest { item });
            }
            match first.and_then(|first| children.get_mut(first)) {
                Some(siblings) => siblings.push(item),
                None => roots.push(item),
            }
            if let Some(parent) = parents.get_mut(item) {
                *parent = first;
            }
        }
        let mut sizes = vec![1_usize; self.items.len()];
        for item in preorder_from(&roots, &children).into_iter().rev() {
            let size = sizes.get(item).copied().unwrap_or_default();
            let parent = parents.get(item).copied().flatten().and_then(|parent| sizes.get_mut(parent));
            parent.into_iter().for_each(|parent| *parent = parent.saturating_add(size));
        }
        let size = |item: &usize| core::cmp::Reverse(sizes.get(*item).copied().unwrap_or_default());
        roots.sort_by_key(size);
        children.iter_mut().for_each(|siblings| siblings.sort_by_key(size));
        let items = preorder_from(&roots, &children);
        // A cycle has no root, so the walk does not reach it.
        let mut is_reached = vec![false; self.items.len()];
        items
            .iter()
            .for_each(|item| is_reached.get_mut(*item).into_iter().for_each(|reached| *reached = true));
        if let Some(item) = open().find(|item| is_reached.get(*item) == Some(&false)) {
            return Err(VerifyErrorKind::NotAForest { item });
        }
        let ends = items.iter().enumerate().map(|(index, item)| index.saturating_add(size(item).0)).collect();
        Ok(Preorder { items, ends })
    }

    /// Returns the maximum utility of open candidates within every cost below `width`.
    fn last_row(&self, preorder: &Preorder, width: usize) -> Option<Vec<u64>> {
        let count = preorder.items.len();
        // For each row, the last index that reads it; the loop below runs backwards.
        let mut last_reader: Vec<usize> = (0..=count).map(|index| index.saturating_sub(1)).collect();
        for (index, end) in preorder.ends.iter().enumerate() {
            let last_reader = last_reader.get_mut(*end)?;
            *last_reader = index.min(*last_reader);
        }
        let mut rows: Vec<Vec<u64>> = vec![Vec::new(); count.checked_add(1)?];
        *rows.get_mut(count)? = vec![0; width];
        for (index, (item, end)) in preorder.items.iter().zip(&preorder.ends).enumerate().rev() {
            let (item, after) = (self.items.get(*item)?, index.checked_add(1)?);
            let (excluded, included) = (rows.get(*end)?, rows.get(after)?);
            let utility = u64::try_from(item.utility).ok()?;
            let cost = usize::try_from(item.cost).unwrap_or(usize::MAX).min(width);
            let mut row = Vec::with_capacity(width);
            row.extend_from_slice(excluded.get(..cost)?);
            let both = excluded.get(cost..)?.iter().zip(included);
            row.extend(both.map(|(excluded, included)| (*excluded).max(included.saturating_add(utility))));
            *rows.get_mut(index)? = row;
            for row in [after, *end] {
                if last_reader.get(row) == Some(&index) {
                    *rows.get_mut(row)? = Vec::new();
                }
            }
        }
        rows.first_mut().map(core::mem::take)
    }
}

/// Returns the preorder from these roots, the last child first.
fn preorder_from(roots: &[usize], children: &[Vec<usize>]) -> Vec<usize> {
    let (mut order, mut open) = (Vec::new(), roots.to_vec());
    while let Some(item) = open.pop() {
        order.push(item);
        open.extend(children.get(item).into_iter().flatten());
    }
    order
}
