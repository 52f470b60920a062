//! The tables of `verify`, for cases in which no candidate needs two: the most utility within every cost.
//!
//! In preorder a candidate is taken, and the next one is looked at, or it is left out with all that needs it (Johnson and
//! Niemi, 1983). With the largest tree last, only logarithmically many rows are kept at a time.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]

use super::bound::{NodeStatus, Subproblem};
use super::error::VerifyErrorKind;
use alloc::vec;
use alloc::vec::Vec;

/// So many values may be worked out for one certificate.
pub const CELLS_MAX: usize = 1 << 29;
/// So many values may a row have.
pub const ROW_MAX: usize = 1 << 22;

/// Open candidates in preorder, and where in it the tree of each one ends.
struct Preorder {
    items: Vec<usize>,
    ends: Vec<usize>,
}

impl Subproblem<'_> {
    /// Works out the best set within the budgets of both goals: how many values that took, if it reaches neither.
    pub(super) fn close_by_table(&self, cells_left: usize) -> Result<usize, VerifyErrorKind> {
        let preorder = self.preorder()?;
        let Some(room) = self.room() else { return Ok(0) };
        let width = usize::try_from(room).ok().and_then(|room| room.checked_add(1));
        let width = width.filter(|width| *width <= ROW_MAX).ok_or(VerifyErrorKind::TableTooLarge)?;
        let cells = preorder.items.len().checked_add(1).and_then(|rows| rows.checked_mul(width));
        let cells = cells.filter(|cells| *cells <= cells_left).ok_or(VerifyErrorKind::TableTooLarge)?;
        let row = self.last_row(&preorder, width).ok_or(VerifyErrorKind::Overflow)?;
        let best = |room: i128| {
            let room = usize::try_from(room).unwrap_or(usize::MAX).min(width.saturating_sub(1));
            row.get(room).copied().unwrap_or(u64::MAX)
        };
        if self.is_reached_by(|room| best(room).into()) {
            Err(VerifyErrorKind::BoundTooWeak)
        } else {
            Ok(cells)
        }
    }

    /// The order; no candidate may need two that are open, and none may need itself through others.
    fn preorder(&self) -> Result<Preorder, VerifyErrorKind> {
        let (mut above, mut below) = (vec![None; self.items.len()], vec![Vec::new(); self.items.len()]);
        let mut roots = Vec::new();
        let open = || (0..self.items.len()).filter(|item| self.fate.get(*item) == Some(&NodeStatus::Open));
        for item in open() {
            let needs = self.items.get(item).map_or(&[][..], |item| &item.needs);
            let mut needs = needs.iter().filter(|dep| **dep != item && self.is_open(**dep).is_ok());
            let first = needs.next().copied();
            if needs.any(|dep| Some(*dep) != first) {
                return Err(VerifyErrorKind::NotAForest { item });
            }
            match first.and_then(|first| below.get_mut(first)) {
                Some(users) => users.push(item),
                None => roots.push(item),
            }
            if let Some(above) = above.get_mut(item) {
                *above = first;
            }
        }
        let mut sizes = vec![1_usize; self.items.len()];
        for item in walk(&roots, &below).into_iter().rev() {
            let size = sizes.get(item).copied().unwrap_or_default();
            let above = above.get(item).copied().flatten().and_then(|above| sizes.get_mut(above));
            above.into_iter().for_each(|above| *above = above.saturating_add(size));
        }
        let size = |item: &usize| core::cmp::Reverse(sizes.get(*item).copied().unwrap_or_default());
        roots.sort_by_key(size);
        below.iter_mut().for_each(|users| users.sort_by_key(size));
        let items = walk(&roots, &below);
        // On a ring nothing is a root, and nothing is walked.
        let mut is_walked = vec![false; self.items.len()];
        items.iter().for_each(|item| is_walked.get_mut(*item).into_iter().for_each(|walked| *walked = true));
        if let Some(item) = open().find(|item| is_walked.get(*item) == Some(&false)) {
            return Err(VerifyErrorKind::NotAForest { item });
        }
        let ends = items.iter().enumerate().map(|(place, item)| place.saturating_add(size(item).0)).collect();
        Ok(Preorder { items, ends })
    }

    /// The most utility of open candidates within every cost below the width.
    fn last_row(&self, preorder: &Preorder, width: usize) -> Option<Vec<u64>> {
        let count = preorder.items.len();
        // The first place, from the end, that still reads each row.
        let mut last: Vec<usize> = (0..=count).map(|place| place.saturating_sub(1)).collect();
        for (place, end) in preorder.ends.iter().enumerate() {
            let last = last.get_mut(*end)?;
            *last = place.min(*last);
        }
        let mut rows: Vec<Vec<u64>> = vec![Vec::new(); count.checked_add(1)?];
        *rows.get_mut(count)? = vec![0; width];
        for (place, (item, end)) in preorder.items.iter().zip(&preorder.ends).enumerate().rev() {
            let (item, after) = (self.items.get(*item)?, place.checked_add(1)?);
            let (left, taken) = (rows.get(*end)?, rows.get(after)?);
            let utility = u64::try_from(item.utility).ok()?;
            let cost = usize::try_from(item.cost).unwrap_or(usize::MAX).min(width);
            let mut row = Vec::with_capacity(width);
            row.extend_from_slice(left.get(..cost)?);
            let both = left.get(cost..)?.iter().zip(taken);
            row.extend(both.map(|(left, taken)| (*left).max(taken.saturating_add(utility))));
            *rows.get_mut(place)? = row;
            for done in [after, *end] {
                if last.get(done) == Some(&place) {
                    *rows.get_mut(done)? = Vec::new();
                }
            }
        }
        rows.first_mut().map(core::mem::take)
    }
}

/// Preorder from some roots, the last of those below first.
fn walk(roots: &[usize], below: &[Vec<usize>]) -> Vec<usize> {
    let (mut order, mut open) = (Vec::new(), roots.to_vec());
    while let Some(item) = open.pop() {
        order.push(item);
        open.extend(below.get(item).into_iter().flatten());
    }
    order
}
