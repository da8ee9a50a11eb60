//! The page of a sweep: its configurations in the plane of the first two objectives, the Pareto front, and the front as a table.

use std::fmt::Write;

use super::{Cell, escape, number, page as whole, table};
use crate::explore::engine::Status;
use crate::explore::pareto::{Candidate, Front};
use crate::explore::plan::{Objective, Plan};
use crate::explore::results::settings;

/// Configurations off the front that are drawn at most; of more every n-th is.
const MOST_DOTS: usize = 4000;
/// Cases with a plot of their own at most.
const MOST_CASES: usize = 24;

/// The page.
pub fn page(plan: &Plan, fronts: &[Front]) -> String {
    let mut body = String::new();
    let axes: Vec<String> = plan.axes.iter().map(|a| format!("{} ({} values)", a.name, a.values.len())).collect();
    let _ = writeln!(
        body,
        "<p class=\"soft\">{} points: {} configurations × {} cases. {}</p>",
        plan.len(),
        plan.configurations.len(),
        plan.cases.len(),
        escape(&axes.join(", "))
    );
    for (i, front) in fronts.iter().take(MOST_CASES + 1).enumerate() {
        let title = match (front.case, plan.cases.len()) {
            (Some(case), _) => case.to_string(),
            (None, 1) => plan.cases[0].name.clone(),
            (None, n) => format!("All {n} cases (geometric means)"),
        };
        let inner = section(plan, front);
        let title = escape(&title);
        if i == 0 {
            let _ = writeln!(body, "<h2>{title}</h2>\n{inner}");
        } else {
            let _ = writeln!(body, "<details><summary>{title}</summary>\n{inner}</details>");
        }
    }
    if fronts.len() > MOST_CASES + 1 {
        let _ = writeln!(body, "<p>{} more cases are in the result files only.</p>", fronts.len() - MOST_CASES - 1);
    }
    whole(&format!("Sweep {}", plan.name), &body)
}

fn section(plan: &Plan, front: &Front) -> String {
    let mut out = String::new();
    let best: Vec<&Candidate> = front.candidates.iter().filter(|c| c.optimal).collect();
    let _ = write!(out, "<p>{} of {} configurations are Pareto-optimal", best.len(), front.candidates.len());
    let goals: Vec<String> = plan.objectives.iter().map(|o| escape(&goal(o))).collect();
    let _ = write!(out, " ({}).", goals.join(", "));
    if front.left_out > 0 {
        let _ = write!(
            out,
            " Not shown: {} in which a case did not end as <code>{}</code> or an objective has no value.",
            front.left_out,
            Status::Passed
        );
    }
    out.push_str("</p>\n");
    if plan.objectives.len() >= 2 && !front.candidates.is_empty() {
        out.push_str(&scatter(plan, front));
    }
    let variant = (!plan.variants.is_empty()).then(|| ("variant".to_string(), "t"));
    let columns: Vec<Cell> = plan
        .objectives
        .iter()
        .map(|o| (o.name.clone(), ""))
        .chain(variant)
        .chain(plan.axes.iter().map(|a| (a.name.clone(), "")))
        .collect();
    let mut rows = best;
    rows.sort_by(|a, b| a.values[0].total_cmp(&b.values[0]));
    let rows: Vec<Vec<Cell>> = rows
        .iter()
        .map(|c| {
            let values = c.values.iter().map(|v| (number(*v), ""));
            let cells = settings(plan, c.configuration).into_iter().map(|v| (v.as_str().map_or(v.to_string(), String::from), ""));
            values.chain(cells).collect()
        })
        .collect();
    out.push_str(&table(&columns, &rows));
    out
}

fn goal(o: &Objective) -> String {
    format!("{} {}", if o.maximise { "maximise" } else { "minimise" }, o.name)
}

/// One axis of the plot.
struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    /// Of the drawing.
    start: f64,
    end: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64> + Clone, start: f64, end: f64) -> Scale {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        let logarithmic = low > 0.0 && high / low > 20.0;
        let (low, high) = if low == high {
            let margin = if low == 0.0 { 1.0 } else { low.abs() * 0.05 };
            (low - margin, high + margin)
        } else if logarithmic {
            let margin = (high / low).powf(0.04);
            (low / margin, high * margin)
        } else {
            let margin = (high - low) * 0.04;
            (low - margin, high + margin)
        };
        Scale { low, high, logarithmic, start, end }
    }

    fn at(&self, value: f64) -> f64 {
        let share = match self.logarithmic {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        self.start + share * (self.end - self.start)
    }

    /// Round values within the scale.
    fn ticks(&self) -> Vec<f64> {
        let steps = [1.0, 2.0, 5.0];
        if self.logarithmic {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let all: Vec<f64> = decades.flat_map(|d| steps.map(|s| s * 10f64.powi(d))).collect();
            let inside: Vec<f64> = all.into_iter().filter(|v| (self.low..=self.high).contains(v)).collect();
            return if inside.len() > 8 {
                inside.into_iter().filter(|v| v.log10().fract().abs() < 1e-9).collect()
            } else {
                inside
            };
        }
        let rough = (self.high - self.low) / 6.0;
        let decade = 10f64.powf(rough.log10().floor());
        let step = steps.iter().chain(&[10.0]).map(|s| s * decade).find(|s| *s >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        (first..first + 12).map(|i| i as f64 * step).take_while(|v| *v <= self.high).collect()
    }
}

/// The plot of the first two objectives.
fn scatter(plan: &Plan, front: &Front) -> String {
    let (width, height) = (760.0, 420.0);
    let (x_goal, y_goal) = (&plan.objectives[0], &plan.objectives[1]);
    let x = Scale::new(front.candidates.iter().map(|c| c.values[0]), 80.0, width - 20.0);
    let y = Scale::new(front.candidates.iter().map(|c| c.values[1]), height - 50.0, 14.0);
    let mut out = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{} against {}\">\n",
        escape(&y_goal.name),
        escape(&x_goal.name)
    );
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{}\" y2=\"{}\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            y.start,
            y.end,
            y.start + 16.0,
            number(tick)
        );
    }
    for tick in y.ticks() {
        let at = y.at(tick);
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            x.start,
            x.end,
            x.start - 6.0,
            at + 4.0,
            number(tick)
        );
    }
    let scale = |s: &Scale| if s.logarithmic { ", logarithmic" } else { "" };
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}{}</text>",
        x.end,
        height - 12.0,
        escape(&goal(x_goal)),
        scale(&x)
    );
    let _ = writeln!(
        out,
        "<text x=\"14\" y=\"{}\" transform=\"rotate(-90 14 {})\" text-anchor=\"end\">{}{}</text>",
        y.end,
        y.end,
        escape(&goal(y_goal)),
        scale(&y)
    );
    let dots: Vec<&Candidate> = front.candidates.iter().filter(|c| !c.optimal).collect();
    let stride = dots.len().div_ceil(MOST_DOTS).max(1);
    let best: Vec<&Candidate> = front.candidates.iter().filter(|c| c.optimal).collect();
    // With more objectives the front is no line in this plane.
    if plan.objectives.len() == 2 {
        let mut line = best.clone();
        line.sort_by(|a, b| a.values[0].total_cmp(&b.values[0]));
        let mut points = String::new();
        for (i, c) in line.iter().enumerate() {
            if i > 0 {
                let _ = write!(points, " {:.1},{:.1}", x.at(c.values[0]), y.at(line[i - 1].values[1]));
            }
            let _ = write!(points, " {:.1},{:.1}", x.at(c.values[0]), y.at(c.values[1]));
        }
        let _ = writeln!(out, "<polyline class=\"front\" points=\"{}\"/>", points.trim_start());
    }
    for (class, radius, list) in [("dot", 3, dots.iter().step_by(stride).collect::<Vec<_>>()), ("best", 4, best.iter().collect())]
    {
        for c in list {
            let words = plan.describe(c.configuration);
            let values: Vec<String> =
                plan.objectives.iter().zip(&c.values).map(|(o, v)| format!("{} {}", o.name, number(*v))).collect();
            let _ = writeln!(
                out,
                "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{}</title></circle>",
                x.at(c.values[0]),
                y.at(c.values[1]),
                escape(&format!("{words}: {}", values.join(", ")))
            );
        }
    }
    out.push_str("</svg>\n");
    if stride > 1 {
        let _ = writeln!(out, "<p class=\"soft\">Of the grey points one in {stride} is drawn.</p>");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_hold_their_values_and_have_round_ticks() {
        for values in [vec![3.0, 9.5], vec![1.0, 1e6], vec![5.0, 5.0], vec![0.0, 0.0], vec![-4.0, 12.0]] {
            let s = Scale::new(values.iter().copied(), 0.0, 100.0);
            for v in &values {
                assert!((0.0..=100.0).contains(&s.at(*v)), "{values:?}");
            }
            let ticks = s.ticks();
            assert!((2..=12).contains(&ticks.len()), "{values:?}: {ticks:?}");
            assert!(ticks.iter().all(|t| (s.low..=s.high).contains(t)));
        }
        assert!(Scale::new([1.0, 1e6].into_iter(), 0.0, 1.0).logarithmic);
    }
}
