//! Simulated over measured: how far apart, and whether in the same order; with a plot.

use std::fmt::Write;

/// A kernel's times in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The kernel.
    pub name: String,
    /// On the GPU.
    pub measured: f64,
    /// On the simulated machine.
    pub simulated: f64,
}

/// What pairs amount to.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlation {
    /// Pairs.
    pub count: usize,
    /// Mean of |simulated − measured| / measured.
    pub mean_error: f64,
    /// Geometric mean of simulated / measured.
    pub mean_ratio: f64,
    /// Spearman's coefficient: of the ranks.
    pub rank: f64,
    /// Pearson's coefficient of the logarithms.
    pub logarithmic: f64,
}

/// Of two pairs or more that are positive; nothing otherwise.
pub fn correlation(pairs: &[Pair]) -> Option<Correlation> {
    let pairs: Vec<&Pair> = pairs.iter().filter(|p| p.measured > 0.0 && p.simulated > 0.0).collect();
    if pairs.len() < 2 {
        return None;
    }
    let n = pairs.len() as f64;
    let errors = pairs.iter().map(|p| (p.simulated - p.measured).abs() / p.measured);
    let logarithms = |of: fn(&Pair) -> f64| pairs.iter().map(|p| of(p).ln()).collect::<Vec<f64>>();
    let (measured, simulated) = (logarithms(|p| p.measured), logarithms(|p| p.simulated));
    Some(Correlation {
        count: pairs.len(),
        mean_error: errors.sum::<f64>() / n,
        mean_ratio: ((simulated.iter().sum::<f64>() - measured.iter().sum::<f64>()) / n).exp(),
        rank: pearson(&ranks(&measured), &ranks(&simulated)),
        logarithmic: pearson(&measured, &simulated),
    })
}

/// Ranks from 1; equal values have the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut result = vec![0.0; values.len()];
    let mut at = 0;
    while at < order.len() {
        let same = order[at..].iter().take_while(|i| values[**i] == values[order[at]]).count();
        let mean = at as f64 + (same as f64 + 1.0) / 2.0;
        order[at..at + same].iter().for_each(|i| result[*i] = mean);
        at += same;
    }
    result
}

/// Pearson's coefficient; 0 where one side does not vary.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
    let (ma, mb) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        ab += (x - ma) * (y - mb);
        aa += (x - ma).powi(2);
        bb += (y - mb).powi(2);
    }
    if aa > 0.0 && bb > 0.0 { ab / (aa * bb).sqrt() } else { 0.0 }
}

/// A page with the plot, simulated over measured on logarithmic axes, and the pairs.
pub fn page(title: &str, pairs: &[Pair]) -> String {
    const SIZE: f64 = 560.0;
    const EDGE: f64 = 60.0;
    let all = pairs.iter().flat_map(|p| [p.measured, p.simulated]).filter(|v| *v > 0.0);
    let (low, high) = all.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
    let (low, high) = if low < high { (low.log10().floor(), high.log10().ceil()) } else { (0.0, 1.0) };
    let place = |v: f64| EDGE + (v.log10() - low) / (high - low).max(1.0) * SIZE;
    let (x, y) = (place, |v: f64| 2.0 * EDGE + SIZE - place(v));
    let mut svg = String::new();
    for decade in low as i32..=high as i32 {
        let v = 10f64.powi(decade);
        let _ = write!(
            svg,
            r##"<path d="M{0:.1} {1:.1}V{2:.1}M{1:.1} {3:.1}H{4:.1}" stroke="#ddd"/>"##,
            x(v),
            EDGE,
            EDGE + SIZE,
            y(v),
            EDGE + SIZE
        );
        let _ = write!(svg, r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{v}</text>"#, x(v), EDGE + SIZE + 18.0);
        let _ = write!(svg, r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{v}</text>"#, EDGE - 6.0, y(v) + 4.0);
    }
    let (a, b) = (10f64.powf(low), 10f64.powf(high));
    let _ = write!(svg, r##"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="#888"/>"##, x(a), y(a), x(b), y(b));
    for p in pairs.iter().filter(|p| p.measured > 0.0 && p.simulated > 0.0) {
        let _ = write!(
            svg,
            r##"<circle cx="{:.1}" cy="{:.1}" r="4" fill="#2563eb" fill-opacity="0.7"><title>{}: measured {:.2} µs, simulated {:.2} µs</title></circle>"##,
            x(p.measured),
            y(p.simulated),
            text(&p.name),
            p.measured,
            p.simulated
        );
    }
    let width = SIZE + 2.0 * EDGE;
    let summary = correlation(pairs).map_or("Fewer than two kernels ran on both.".to_string(), |c| {
        format!(
            "{} kernels. Mean error {:.1} %, geometric mean of simulated over measured {:.3}, rank correlation {:.3}, correlation of logarithms {:.3}.",
            c.count, c.mean_error * 100.0, c.mean_ratio, c.rank, c.logarithmic
        )
    });
    let mut rows = String::new();
    for p in pairs {
        let _ = write!(
            rows,
            "<tr><td>{}</td><td>{:.2}</td><td>{:.2}</td><td>{:.3}</td></tr>",
            text(&p.name),
            p.measured,
            p.simulated,
            p.simulated / p.measured
        );
    }
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>\
         <style>body{{font:15px sans-serif;max-width:60em;margin:2em auto}}text{{font:12px sans-serif;fill:#555}}\
         td,th{{text-align:right;padding:.1em .7em}}td:first-child,th:first-child{{text-align:left}}</style>\
         <h1>{0}</h1><p>{summary}</p>\
         <svg viewBox=\"0 0 {width} {width}\" role=\"img\" aria-label=\"Simulated over measured microseconds\">{svg}\
         <text x=\"{1:.1}\" y=\"{2:.1}\" text-anchor=\"middle\">measured, µs</text>\
         <text x=\"14\" y=\"{1:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {1:.1})\">simulated, µs</text></svg>\
         <table><tr><th>kernel</th><th>measured, µs</th><th>simulated, µs</th><th>ratio</th></tr>{rows}</table></html>\n",
        text(title),
        width / 2.0,
        width - 8.0
    )
}

/// Text of a page.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(values: &[(f64, f64)]) -> Vec<Pair> {
        values.iter().enumerate().map(|(i, (m, s))| Pair { name: format!("k{i}"), measured: *m, simulated: *s }).collect()
    }

    #[test]
    fn errors_ratios_and_ranks_are_known() {
        let c = correlation(&pairs(&[(1.0, 2.0), (10.0, 5.0), (100.0, 400.0)])).unwrap();
        assert_eq!(c.count, 3);
        assert!((c.mean_error - (1.0 + 0.5 + 3.0) / 3.0).abs() < 1e-12);
        assert!((c.mean_ratio - (2.0f64 * 0.5 * 4.0).powf(1.0 / 3.0)).abs() < 1e-12);
        assert_eq!(c.rank, 1.0);
        let twice = correlation(&pairs(&[(1.0, 2.0), (3.0, 6.0), (50.0, 100.0)])).unwrap();
        assert!((twice.logarithmic - 1.0).abs() < 1e-12 && (twice.mean_ratio - 2.0).abs() < 1e-12);
        let reversed = correlation(&pairs(&[(1.0, 9.0), (2.0, 8.0), (3.0, 7.0)])).unwrap();
        assert!((reversed.rank + 1.0).abs() < 1e-12);
        // Of four, two neighbours are exchanged: 1 − 6 · 2 / (4 · 15).
        let c = correlation(&pairs(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0)])).unwrap();
        assert!((c.rank - 0.8).abs() < 1e-12);
    }

    #[test]
    fn what_did_not_run_is_no_pair() {
        assert_eq!(correlation(&pairs(&[(1.0, 2.0)])), None);
        assert_eq!(correlation(&pairs(&[(1.0, 2.0), (0.0, 3.0), (4.0, 0.0)])), None);
        assert_eq!(correlation(&pairs(&[(1.0, 2.0), (0.0, 3.0), (2.0, 4.0)])).unwrap().count, 2);
        let c = correlation(&pairs(&[(1.0, 2.0), (1.0, 3.0)])).unwrap();
        assert_eq!((c.rank, c.logarithmic), (0.0, 0.0), "one side does not vary");
    }

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(ranks(&[5.0, 5.0, 5.0]), [2.0, 2.0, 2.0]);
    }

    #[test]
    fn the_page_has_a_point_and_a_row_for_each() {
        let mut all = pairs(&[(1.5, 2.0), (10.0, 5.0), (100.0, 400.0)]);
        all[0].name = "a<b".into();
        let page = page("machine & GPU", &all);
        assert_eq!(page.matches("<circle ").count(), 3);
        assert_eq!(page.matches("<tr><td>").count(), 3);
        assert!(page.contains("machine &amp; GPU") && page.contains("a&lt;b") && !page.contains("a<b"));
        assert!(page.contains("rank correlation 1.000"));
        // On the diagonal of 1 to 1000 lies what is as measured.
        let one = super::page("t", &pairs(&[(1.0, 1.0), (1000.0, 1000.0)]));
        assert!(one.contains(r#"cx="60.0" cy="620.0""#) && one.contains(r#"cx="620.0" cy="60.0""#), "{one}");
        assert!(super::page("t", &[]).contains("Fewer than two kernels"));
    }
}
