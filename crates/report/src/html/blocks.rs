//! What pages of tables and charts are made of: numbers for people, cells, rows, and the page around them.
//!
//! This side gathers figures as JSON; a script of the page (`explore.js`) draws them for the width it finds, in light and dark.

use serde_json::{Value, json};

use super::assemble;

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

/// Cells of a table that are text, or judged, have a class: `t`, `good`, `bad`.
pub fn cell(text: impl Into<String>, class: &str) -> Value {
    let text: String = text.into();
    if class.is_empty() { text.into() } else { json!([text, class]) }
}

/// A row of a table.
pub fn row(cells: Vec<Value>) -> Value {
    json!({ "cells": cells })
}

/// A page of what `explore.js` can draw: `data` has `title`, `about`, `notes`, and `choices` of blocks.
pub fn page(data: &Value) -> String {
    let style = concat!(include_str!("style.css"), include_str!("explore.css"));
    let script = concat!(include_str!("draw.js"), include_str!("explore.js"));
    assemble(data["title"].as_str().unwrap_or_default(), style, data, script)
}

/// A ratio as a class: an increase beyond rounding is `bad`, a decrease `good`; the other way round where more is better.
pub fn judge(ratio: Option<f64>, more_is_better: bool) -> &'static str {
    match ratio {
        Some(r) if r > 1.0005 => ["bad", "good"][usize::from(more_is_better)],
        Some(r) if r < 0.9995 => ["good", "bad"][usize::from(more_is_better)],
        _ => "",
    }
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
        let evil = "</script><script>alert('x')</script> & \"y\"";
        let text = page(&json!({ "title": evil, "about": [evil], "choices": [] }));
        assert_eq!(text.matches("</script>").count(), 2, "the page's own");
        assert!(!text.replace("http://www.w3.org/2000/svg", "").contains("://"), "no network");
    }

    #[test]
    fn ratios_are_judged_by_what_is_better() {
        assert_eq!([judge(Some(1.1), false), judge(Some(1.1), true), judge(Some(0.9), false)], ["bad", "good", "good"]);
        assert_eq!([judge(Some(1.0), false), judge(None, false)], ["", ""]);
    }
}
