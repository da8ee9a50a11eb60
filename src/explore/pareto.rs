//! Pareto fronts: the configurations for which no other one is at least as good in every objective and better
//! in one.
//!
//! A configuration that ran several cases counts with the geometric mean over them. Left out, and counted,
//! are configurations in which a case did not pass or an objective has no value (or, for a mean, none above
//! 0).

use serde_json::Value;

use super::axes;
use super::geometric_mean;
use super::journal::Finished;
use super::plan::{Configuration, Objective, Plan};

/// A configuration in the plane of objectives.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Which.
    pub configuration: &'a Configuration,
    /// One value for each objective.
    pub values: Vec<f64>,
    /// No other is better.
    pub optimal: bool,
}

/// All configurations of a case, or of all cases together.
#[derive(Debug)]
pub struct Front<'a> {
    /// The case; `None` for all.
    pub case: Option<&'a str>,
    /// Those that have a value for each objective, in order of their numbers.
    pub candidates: Vec<Candidate<'a>>,
    /// How many have none.
    pub left_out: usize,
}

/// The front of all cases together, and if there are several that of each.
pub fn fronts<'a>(plan: &'a Plan, finished: &Finished) -> Vec<Front<'a>> {
    let all: Vec<usize> = (0..plan.cases.len()).collect();
    let mut result = vec![front(plan, finished, None, &all)];
    if all.len() > 1 {
        result.extend(all.iter().map(|c| front(plan, finished, Some(&plan.cases[*c].name), &[*c])));
    }
    result
}

fn front<'a>(plan: &'a Plan, finished: &Finished, case: Option<&'a str>, cases: &[usize]) -> Front<'a> {
    let count = plan.configurations.len();
    let mut candidates = Vec::new();
    for (i, configuration) in plan.configurations.iter().enumerate() {
        let results: Option<Vec<_>> =
            cases.iter().map(|c| Some(&finished.get(plan.point(c * count + i + 1)?.id)?.result)).collect();
        let Some(results) = results.filter(|r| r.iter().all(|r| r.status == super::engine::Status::Passed)) else { continue };
        let value = |o: &Objective| -> Option<f64> {
            let axis = plan.values(configuration).find(|(a, _)| a.name == o.name);
            if let Some((_, v)) = axis {
                return axes::json(v).as_f64();
            }
            let values: Option<Vec<f64>> = results.iter().map(|r| r.metrics.get(&o.name).and_then(Value::as_f64)).collect();
            match values?.as_slice() {
                [one] => Some(*one),
                several => geometric_mean(several),
            }
        };
        let values: Option<Vec<f64>> = plan.objectives.iter().map(value).collect();
        candidates.extend(values.map(|values| Candidate { configuration, values, optimal: false }));
    }
    mark_optimal(&mut candidates, &plan.objectives);
    Front { case, left_out: count - candidates.len(), candidates }
}

/// One line of settings for several, as the values of each column, if the lines are all combinations of them.
/// No two lines are the same.
pub fn merged(lines: &[Vec<String>]) -> Option<Vec<Vec<&str>>> {
    let columns = lines.first()?.len();
    let values: Vec<Vec<&str>> = (0..columns)
        .map(|i| {
            let mut seen: Vec<&str> = Vec::new();
            for line in lines {
                if !seen.contains(&line[i].as_str()) {
                    seen.push(&line[i]);
                }
            }
            seen
        })
        .collect();
    // As the lines are all different, counting them is enough.
    (values.iter().map(Vec::len).product::<usize>() == lines.len()).then_some(values)
}

/// Marks what nothing dominates. Of equal ones all are marked.
fn mark_optimal(candidates: &mut [Candidate], objectives: &[Objective]) {
    // As costs.
    let costs: Vec<Vec<f64>> = candidates
        .iter()
        .map(|c| c.values.iter().zip(objectives).map(|(v, o)| if o.maximise { -v } else { *v }).collect())
        .collect();
    // In lexical order a dominating point comes before what it dominates, so comparing with the front found
    // so far is enough.
    let mut order: Vec<usize> = (0..costs.len()).collect();
    let lexical = |a: &Vec<f64>, b: &Vec<f64>| {
        let pairs = a.iter().zip(b).map(|(x, y)| x.total_cmp(y));
        pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    };
    order.sort_by(|a, b| lexical(&costs[*a], &costs[*b]).then(a.cmp(b)));
    let mut front: Vec<usize> = Vec::new();
    for i in order {
        let dominates = |f: &usize| {
            let pairs = || costs[*f].iter().zip(&costs[i]);
            pairs().all(|(a, b)| a <= b) && pairs().any(|(a, b)| a < b)
        };
        if !front.iter().any(dominates) {
            candidates[i].optimal = true;
            front.push(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_products_are_one_line() {
        let lines = |list: &[[&str; 2]]| -> Vec<Vec<String>> { list.iter().map(|l| l.map(String::from).to_vec()).collect() };
        let product = lines(&[["1", "a"], ["1", "b"], ["2", "a"], ["2", "b"]]);
        assert_eq!(merged(&product), Some(vec![vec!["1", "2"], vec!["a", "b"]]));
        assert_eq!(merged(&product[..3]), None);
        assert_eq!(merged(&product[..1]), Some(vec![vec!["1"], vec!["a"]]));
    }

    fn optimal(points: &[&[f64]], maximise: &[bool]) -> Vec<usize> {
        let configuration = Configuration::empty();
        let mut candidates: Vec<Candidate> =
            points.iter().map(|p| Candidate { configuration: &configuration, values: p.to_vec(), optimal: false }).collect();
        let objectives: Vec<Objective> = maximise.iter().map(|m| Objective { name: String::new(), maximise: *m }).collect();
        mark_optimal(&mut candidates, &objectives);
        (0..points.len()).filter(|i| candidates[*i].optimal).collect()
    }

    #[test]
    fn fronts_by_hand() {
        let points: &[&[f64]] = &[&[1.0, 9.0], &[2.0, 5.0], &[2.0, 6.0], &[3.0, 5.0], &[4.0, 1.0], &[4.0, 1.0]];
        assert_eq!(optimal(points, &[false, false]), [0, 1, 4, 5]);
        assert_eq!(optimal(points, &[false, true]), [0]);
        assert_eq!(optimal(points, &[true, false]), [4, 5]);
        assert_eq!(optimal(&[&[1.0, 1.0, 2.0], &[1.0, 1.0, 1.0], &[0.0, 5.0, 9.0]], &[false; 3]), [1, 2]);
    }

    #[test]
    fn the_front_is_that_of_the_definition() {
        use rand::{Rng, SeedableRng};
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        for _ in 0..200 {
            let points: Vec<Vec<f64>> =
                (0..30).map(|_| (0..3).map(|_| f64::from(random.random_range(0..8u32))).collect()).collect();
            let views: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
            let better = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| x <= y) && a != b;
            let expected: Vec<usize> = (0..30).filter(|i| !(0..30).any(|j| better(&points[j], &points[*i]))).collect();
            assert_eq!(optimal(&views, &[false; 3]), expected);
        }
    }
}
