//! Pages of `heddle sweep`, `compare` and `ablate`: one file each, with its figures inside, for light and dark screens, wide and narrow ones.

pub mod ablate;
pub mod compare;
pub mod pareto;

use std::fmt::Write;

/// A value that says nothing to HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A number for people: whole ones with thin groups of digits, others with four significant digits.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    if value == value.trunc() && value.abs() < 1e15 {
        let digits = format!("{:.0}", value.abs());
        let mut out = String::from(if value < 0.0 { "-" } else { "" });
        for (i, c) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i) % 3 == 0 {
                out.push(' ');
            }
            out.push(c);
        }
        return out;
    }
    match value.abs() {
        v if !(1e-4..1e15).contains(&v) => format!("{value:.3e}"),
        v if v >= 1000.0 => number(value.round()),
        v => {
            let decimals = (3 - v.log10().floor() as i32).clamp(0, 8) as usize;
            format!("{value:.decimals$}")
        }
    }
}

/// A ratio as text: `1.0234`.
pub fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), |v| format!("{v:.4}"))
}

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c1e21;--soft:#5c636b;--line:#d6dade;--back:#fff;--mark:#0b62c4;--good:#1b7f3b;--bad:#b3261e;--dim:#9aa3ad}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ea;--soft:#a3abb3;--line:#3a4047;--back:#15181b;--mark:#6db1ff;--good:#6fcf8b;--bad:#ff8a80;--dim:#626b75}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:0 auto;padding:1rem;max-width:72rem}
h1{font-size:1.35rem}h2{font-size:1.1rem;margin-top:2rem}p,li{max-width:46rem}.soft{color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th:first-child,td:first-child,td.t,th.t{text-align:left}thead th{border-bottom:2px solid var(--line)}
.good{color:var(--good)}.bad{color:var(--bad)}
svg{width:100%;height:auto;max-width:60rem}svg text{fill:var(--soft);font-size:12px}
.axis{stroke:var(--line)}.dot{fill:var(--dim);fill-opacity:.6}.best{fill:var(--mark)}.front{stroke:var(--mark);fill:none;stroke-width:1.5}
.bar{fill:var(--mark)}.bar.more{fill:var(--bad)}.bar.less{fill:var(--good)}";

/// A whole page.
pub fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

/// A cell of a table: its text, and a class (`t`: text, `good`, `bad`, or none).
pub type Cell = (String, &'static str);

/// A table that scrolls by itself where the screen is narrow.
pub fn table(columns: &[Cell], rows: &[Vec<Cell>]) -> String {
    let cell = |tag: &str, (text, class): &Cell| {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        format!("<{tag}{class}>{}</{tag}>", escape(text))
    };
    let mut out = String::from("<div class=\"wide\"><table>\n<thead><tr>");
    columns.iter().for_each(|c| out.push_str(&cell("th", c)));
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        row.iter().for_each(|c| out.push_str(&cell("td", c)));
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// A ratio as a class: an increase beyond rounding is `bad`, a decrease `good`; the other way round where more is better.
pub fn judge(ratio: Option<f64>, more_is_better: bool) -> &'static str {
    match ratio {
        Some(r) if r > 1.0005 => ["bad", "good"][usize::from(more_is_better)],
        Some(r) if r < 0.9995 => ["good", "bad"][usize::from(more_is_better)],
        _ => "",
    }
}

/// Horizontal bars of ratios around the line of 1, on a logarithmic scale. Name, ratio; names are shown as they are.
pub fn ratio_bars(rows: &[(String, Option<f64>)], more_is_better: bool) -> String {
    let usable = |r: &Option<f64>| r.filter(|v| *v > 0.0 && v.is_finite());
    let most = rows.iter().filter_map(|(_, r)| usable(r)).map(|r| r.ln().abs()).fold(0.05f64, f64::max);
    let (left, width, line) = (230.0, 560.0, 22.0);
    let middle = left + width / 2.0;
    let height = line * rows.len() as f64 + 10.0;
    let mut out = format!("<svg viewBox=\"0 0 900 {height}\" role=\"img\" aria-label=\"ratios, bars around 1\">\n");
    let _ = writeln!(out, "<line class=\"axis\" x1=\"{middle}\" x2=\"{middle}\" y1=\"0\" y2=\"{height}\"/>");
    for (i, (name, value)) in rows.iter().enumerate() {
        let y = line * i as f64 + 4.0;
        let short: String = if name.chars().count() > 34 { name.chars().take(33).chain(['…']).collect() } else { name.clone() };
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\">{}<title>{}</title></text>",
            left - 8.0,
            y + 13.0,
            escape(&short),
            escape(name)
        );
        if let Some(r) = usable(value) {
            let end = middle + r.ln() / most * width / 2.0;
            let class = match judge(Some(r), more_is_better) {
                "bad" => " more",
                "good" => " less",
                _ => "",
            };
            let (x, w) = (middle.min(end), (end - middle).abs().max(1.0));
            let _ = write!(out, "<rect class=\"bar{class}\" x=\"{x:.1}\" y=\"{y}\" width=\"{w:.1}\" height=\"{}\"/>", line - 8.0);
        }
        let _ = writeln!(out, "<text x=\"{}\" y=\"{:.0}\">{}</text>", left + width + 8.0, y + 13.0, ratio(*value));
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        for (value, text) in [
            (0.0, "0"),
            (1234567.0, "1 234 567"),
            (-1000.0, "-1 000"),
            (0.12345, "0.1235"),
            (12.3456, "12.35"),
            (123456.7, "123 457"),
            (1.5e-9, "1.500e-9"),
            (2.5e20, "2.500e20"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn nothing_in_a_page_is_markup_of_its_values() {
        let evil = "<script>alert('x')</script> & \"y\"";
        let text = page(evil, &table(&[(evil.into(), "t")], &[vec![(evil.into(), "")]]));
        let bars = ratio_bars(&[(evil.into(), Some(1.5))], false);
        for part in [&text, &bars] {
            assert!(!part.contains("<script") && part.contains("&lt;script&gt;"));
        }
        assert!(!text.contains("http"), "no network");
    }

    #[test]
    fn ratios_are_judged_by_what_is_better() {
        assert_eq!([judge(Some(1.1), false), judge(Some(1.1), true), judge(Some(0.9), false)], ["bad", "good", "good"]);
        assert_eq!([judge(Some(1.0), false), judge(None, false)], ["", ""]);
    }
}
