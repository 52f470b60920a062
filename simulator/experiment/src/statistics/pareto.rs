//! Pareto fronts: the policies that no other policy beats in every goal.

/// What is better of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Less is better.
    Minimize,
    /// More is better.
    Maximize,
}

/// Returns the positions of the points that no other point dominates, in ascending order. A point dominates another one if it is at least as
/// good in every goal, and better in one. Equal points are all on the front.
#[must_use]
pub fn pareto_front(points: &[Vec<f64>], goals: &[Goal]) -> Vec<usize> {
    let is_front = |point: &Vec<f64>| !points.iter().any(|other| dominates(other, point, goals));
    points.iter().enumerate().filter(|(_, point)| is_front(point)).map(|(position, _)| position).collect()
}

fn dominates(first: &[f64], second: &[f64], goals: &[Goal]) -> bool {
    let mut is_better = false;
    for ((first, second), goal) in first.iter().zip(second).zip(goals) {
        let (better, worse) = match goal {
            Goal::Minimize => (first < second, first > second),
            Goal::Maximize => (first > second, first < second),
        };
        if worse {
            return false;
        }
        is_better |= better;
    }
    is_better
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_has_no_dominated_point() {
        let points = [vec![1.0, 5.0], vec![2.0, 4.0], vec![2.0, 6.0], vec![3.0, 3.0], vec![3.0, 3.0]];
        assert_eq!(pareto_front(&points, &[Goal::Minimize, Goal::Minimize]), [0, 1, 3, 4]);
        assert_eq!(pareto_front(&points, &[Goal::Minimize, Goal::Maximize]), [0, 2]);
    }
}
