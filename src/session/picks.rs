//! Which launches are meant: `sgemm*:2-3,7`, a pattern of kernels' names and which launches of each.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use glob::Pattern;

/// A pattern of kernels' names, and which launches of each such kernel it means.
#[derive(Clone, Debug, PartialEq)]
struct Pick {
    kernels: Pattern,
    /// Launches of a kernel, counted from 1; none: all.
    launches: Vec<RangeInclusive<u64>>,
}

/// Picks of launches, separated by commas: `NAME`, `NAME:3`, `NAME:2-3`, `NAME:5-`, `NAME:1,4-6`. In a name,
/// `*` stands for any characters, `?` for one, `[ab]` for one of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picks {
    picks: Vec<Pick>,
    text: String,
}

impl FromStr for Picks {
    type Err = String;

    fn from_str(text: &str) -> Result<Picks, String> {
        let mut picks: Vec<Pick> = Vec::new();
        for part in text.split(',') {
            // No name begins with a digit: it is another range of the pick before.
            if part.starts_with(|c: char| c.is_ascii_digit()) {
                let last = picks.last_mut().filter(|p| !p.launches.is_empty());
                let last = last.ok_or_else(|| format!("`{part}` follows no `NAME:RANGE`, as in sgemm*:2-3,{part}"))?;
                last.launches.push(range(part)?);
                continue;
            }
            let (name, ranges) = part.split_once(':').map_or((part, None), |(n, r)| (n, Some(r)));
            if name.is_empty() {
                return Err(format!("`{part}` names no kernel; `*` stands for all"));
            }
            let kernels = Pattern::new(name).map_err(|e| format!("`{name}` is no pattern of names: {e}"))?;
            picks.push(Pick { kernels, launches: ranges.map(range).transpose()?.into_iter().collect() });
        }
        Ok(Picks { picks, text: text.into() })
    }
}

/// `3`, `2-5`, `5-`.
fn range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let wrong = || format!("`{text}` is no range of launches; they are counted from 1: 3, 2-5, 5-");
    let number = |t: &str| t.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(wrong);
    let (first, last) = match text.split_once('-') {
        None => (number(text)?, number(text)?),
        Some((first, "")) => (number(first)?, u64::MAX),
        Some((first, last)) => (number(first)?, number(last)?),
    };
    if first > last { Err(wrong()) } else { Ok(first..=last) }
}

impl fmt::Display for Picks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The launches of one kernel that picks mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PickedLaunches(Vec<RangeInclusive<u64>>);

impl PickedLaunches {
    /// Those of a kernel.
    pub fn of(picks: &[Picks], kernel: &str) -> PickedLaunches {
        let mut ranges = Vec::new();
        for pick in picks.iter().flat_map(|p| &p.picks).filter(|p| p.kernels.matches(kernel)) {
            match pick.launches.is_empty() {
                true => ranges.push(1..=u64::MAX),
                false => ranges.extend(pick.launches.iter().cloned()),
            }
        }
        PickedLaunches(ranges)
    }

    /// Whether the launch of this number, counted from 1 among the kernel's, is one of them.
    pub fn contains(&self, occurrence: u64) -> bool {
        self.0.iter().any(|r| r.contains(&occurrence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(picks: &str, kernel: &str) -> Vec<u64> {
        let picks = [picks.parse::<Picks>().unwrap()];
        let launches = PickedLaunches::of(&picks, kernel);
        (1..=10).filter(|n| launches.contains(*n)).collect()
    }

    #[test]
    fn names_and_ranges_pick_launches() {
        assert_eq!(picked("sgemm*:2-3", "sgemm_nn"), [2, 3]);
        assert!(picked("sgemm*:2-3", "gemm").is_empty());
        assert_eq!(picked("*:10", "any"), [10]);
        assert_eq!(picked("step:9-", "step"), [9, 10]);
        assert_eq!(picked("step", "step").len(), 10);
        assert_eq!(picked("a:1,4-5,b?:7", "a"), [1, 4, 5]);
        assert_eq!(picked("a:1,4-5,b?:7", "b2"), [7]);
        assert_eq!(picked("a:2,*:3", "a"), [2, 3]);
    }

    #[test]
    fn what_is_no_pick_is_said() {
        for (text, part) in [
            ("", "names no kernel"),
            (":3", "names no kernel"),
            ("a:", "no range"),
            ("a:0", "counted from 1"),
            ("a:3-2", "no range"),
            ("a:x", "no range"),
            ("a,3", "follows no"),
            ("3", "follows no"),
            ("a[", "no pattern"),
        ] {
            let message = text.parse::<Picks>().unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
