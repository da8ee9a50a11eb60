//! Which launches are meant: `sgemm*:2-3,7`, a pattern of kernels' names and which launches of each.

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use glob::Pattern;

/// Some of the launches of a kind, counted from 1: all of a range, or one in so many.
#[derive(Clone, Debug, PartialEq)]
struct Numbers {
    range: RangeInclusive<u64>,
    step: u64,
}

impl Numbers {
    const ALL: Numbers = Numbers { range: 1..=u64::MAX, step: 1 };

    fn contains(&self, number: u64) -> bool {
        self.range.contains(&number) && (number - self.range.start()).is_multiple_of(self.step)
    }
}

/// Of what the launches are counted.
#[derive(Clone, Debug, PartialEq)]
enum Of {
    /// Launches of each kernel whose name matches.
    Kernels(Pattern),
    /// All launches of the program.
    Program,
    /// Launches of each hash of code and sizes that matches.
    Alike(Pattern),
}

/// What is counted, and which launches of each.
#[derive(Clone, Debug, PartialEq)]
struct Pick {
    of: Of,
    launches: Vec<Numbers>,
}

/// Picks of launches, separated by commas. `NAME`, `NAME:3`, `NAME:2-3`, `NAME:5-`, `NAME:1,4-6`: launches of
/// each kernel of that name, in which `*` stands for any characters, `?` for one, `[ab]` for one of several.
/// `#3`, `#10-20`: launches of the program, whatever their kernel. `@HASH`, `@HASH:3`: launches of the same code
/// and sizes, by their hash; `@*:1` is the first launch of each kind. `/10` behind a range is one in ten of it.
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
                let last = picks.last_mut().filter(|p| p.launches != [Numbers::ALL]);
                let last = last.ok_or_else(|| format!("`{part}` follows no `NAME:RANGE`, as in sgemm*:2-3,{part}"))?;
                last.launches.push(numbers(part)?);
                continue;
            }
            if let Some(range) = part.strip_prefix('#') {
                picks.push(Pick { of: Of::Program, launches: vec![numbers(range)?] });
                continue;
            }
            let (name, ranges) = part.split_once(':').map_or((part, None), |(n, r)| (n, Some(r)));
            let (name, alike) = name.strip_prefix('@').map_or((name, false), |hash| (hash, true));
            if name.is_empty() {
                let what = if alike { "hash" } else { "kernel" };
                return Err(format!("`{part}` names no {what}; `*` stands for all"));
            }
            let pattern = Pattern::new(name).map_err(|e| format!("`{name}` is no pattern of names: {e}"))?;
            let launches = vec![ranges.map(numbers).transpose()?.unwrap_or(Numbers::ALL)];
            picks.push(Pick { of: if alike { Of::Alike(pattern) } else { Of::Kernels(pattern) }, launches });
        }
        Ok(Picks { picks, text: text.into() })
    }
}

/// `3`, `2-5`, `5-`, and each with a step: `5-/10`; `/10` alone is of all.
fn numbers(text: &str) -> Result<Numbers, String> {
    let wrong = || format!("`{text}` is no range of launches; they are counted from 1: 3, 2-5, 5-, 1-/10");
    let number = |t: &str| t.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(wrong);
    let (range, step) = match text.split_once('/') {
        Some((range, step)) => (range, number(step)?),
        None => (text, 1),
    };
    let (first, last) = match range.split_once('-') {
        None if range.is_empty() && step > 1 => (1, u64::MAX),
        None => (number(range)?, number(range)?),
        Some((first, "")) => (number(first)?, u64::MAX),
        Some((first, last)) => (number(first)?, number(last)?),
    };
    if first > last { Err(wrong()) } else { Ok(Numbers { range: first..=last, step }) }
}

impl fmt::Display for Picks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Picks {
    /// Whether some picks ask for hashes of code and sizes.
    pub fn need_hashes(picks: &[Picks]) -> bool {
        picks.iter().flat_map(|p| &p.picks).any(|p| matches!(p.of, Of::Alike(_)))
    }

    /// Whether picks can mean one launch only: one number, of the program or of a kernel that is named in full.
    pub fn mean_one(picks: &[Picks]) -> bool {
        let mut all = picks.iter().flat_map(|p| &p.picks);
        let (Some(pick), None) = (all.next(), all.next()) else { return false };
        let one = matches!(&pick.launches[..], [n] if n.range.start() == n.range.end());
        one && match &pick.of {
            Of::Program => true,
            Of::Kernels(name) | Of::Alike(name) => !name.as_str().contains(['*', '?', '[']),
        }
    }

    /// Picks in which a number alone is one of the program: `10` and `3,5-7` are `#10` and `#3,5-7`.
    ///
    /// # Errors
    /// What is no pick.
    pub fn numbered(text: &str) -> Result<Picks, String> {
        let bare = text.starts_with(|c: char| c.is_ascii_digit());
        if bare { format!("#{text}").parse() } else { text.parse() }
    }
}

/// Counts launches, and says which of them picks mean.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    picks: Vec<Picks>,
    program: Counted,
    kernels: HashMap<String, Counted>,
    hashes: HashMap<String, Counted>,
}

/// Launches that are counted together.
#[derive(Clone, Debug, Default)]
struct Counted {
    launches: u64,
    picked: PickedLaunches,
}

impl Counted {
    /// One more of them: whether it is picked.
    fn begin(&mut self) -> bool {
        self.launches += 1;
        self.picked.contains(self.launches)
    }
}

impl Selection {
    /// Of launches that have not begun.
    pub fn new(picks: &[Picks]) -> Selection {
        let program = Counted { launches: 0, picked: PickedLaunches::of_program(picks) };
        Selection { picks: picks.into(), program, ..Selection::default() }
    }

    /// The next launch: whether it is picked. `hash`: of its code and sizes, if it is known.
    pub fn begin(&mut self, kernel: &str, hash: Option<&str>) -> bool {
        if self.picks.is_empty() {
            return false;
        }
        let picks = &self.picks;
        let new = |picked| Counted { launches: 0, picked };
        let of_program = self.program.begin();
        let of_kernel = match self.kernels.get_mut(kernel) {
            Some(known) => known.begin(),
            None => self.kernels.entry(kernel.into()).or_insert(new(PickedLaunches::of(picks, kernel))).begin(),
        };
        let of_hash = hash.is_some_and(|hash| match self.hashes.get_mut(hash) {
            Some(known) => known.begin(),
            None => self.hashes.entry(hash.into()).or_insert(new(PickedLaunches::alike(picks, hash))).begin(),
        });
        of_program || of_kernel || of_hash
    }
}

/// The launches of one kernel, of one hash, or of the program, that picks mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PickedLaunches(Vec<Numbers>);

impl PickedLaunches {
    fn chosen(picks: &[Picks], is_meant: impl Fn(&Of) -> bool) -> PickedLaunches {
        let meant = picks.iter().flat_map(|p| &p.picks).filter(|p| is_meant(&p.of));
        PickedLaunches(meant.flat_map(|p| p.launches.iter().cloned()).collect())
    }

    /// Those of a kernel.
    pub fn of(picks: &[Picks], kernel: &str) -> PickedLaunches {
        PickedLaunches::chosen(picks, |of| matches!(of, Of::Kernels(pattern) if pattern.matches(kernel)))
    }

    /// Those of a hash of code and sizes.
    pub fn alike(picks: &[Picks], hash: &str) -> PickedLaunches {
        PickedLaunches::chosen(picks, |of| matches!(of, Of::Alike(pattern) if pattern.matches(hash)))
    }

    /// Those of the program.
    pub fn of_program(picks: &[Picks]) -> PickedLaunches {
        PickedLaunches::chosen(picks, |of| matches!(of, Of::Program))
    }

    /// Whether the launch of this number, counted from 1 among what is counted, is one of them.
    pub fn contains(&self, number: u64) -> bool {
        self.0.iter().any(|r| r.contains(number))
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
    fn one_in_so_many_and_numbers_of_the_program() {
        assert_eq!(picked("a:2-/3", "a"), [2, 5, 8]);
        assert_eq!(picked("a:/5", "a"), [1, 6]);
        assert_eq!(picked("a:2-6/2,9", "a"), [2, 4, 6, 9]);
        assert!(picked("#1-", "a").is_empty());
        let picks = ["a:1,#3,7-/2".parse::<Picks>().unwrap()];
        let program = PickedLaunches::of_program(&picks);
        assert_eq!((1..=10).filter(|n| program.contains(*n)).collect::<Vec<_>>(), [3, 7, 9]);
        assert!(!Picks::need_hashes(&picks));
    }

    #[test]
    fn hashes_pick_launches() {
        let picks = ["@ab*:2-,c".parse::<Picks>().unwrap()];
        assert!(Picks::need_hashes(&picks));
        let of = |hash: &str| (1..=3).filter(|n| PickedLaunches::alike(&picks, hash).contains(*n)).collect::<Vec<u64>>();
        assert_eq!((of("abcd"), of("cd")), (vec![2, 3], vec![]));
    }

    #[test]
    fn launches_are_counted_by_kernel_hash_and_program() {
        let mut selection = Selection::new(&["a:2,#4,@ff:2".parse().unwrap()]);
        let launches = [("a", "01"), ("a", "01"), ("b", "ff"), ("b", "02"), ("c", "ff"), ("a", "01")];
        let picked: Vec<bool> = launches.iter().map(|(kernel, hash)| selection.begin(kernel, Some(hash))).collect();
        assert_eq!(picked, [false, true, false, true, true, false]);
        assert!(!Selection::new(&[]).begin("a", None));
    }

    #[test]
    fn numbers_alone_are_of_the_program_and_some_picks_mean_one_launch() {
        let picks = [Picks::numbered("3,5-6").unwrap()];
        let program = PickedLaunches::of_program(&picks);
        assert_eq!((1..=10).filter(|n| program.contains(*n)).collect::<Vec<_>>(), [3, 5, 6]);
        assert!(Picks::numbered("0").unwrap_err().contains("counted from 1") && Picks::numbered("").is_err());
        let one = |text: &str| Picks::mean_one(&[Picks::numbered(text).unwrap()]);
        assert!(one("7") && one("step:2") && one("@ab:1"));
        assert!(!one("7,8") && !one("step") && !one("s*:2") && !one("7-9") && !one("a:1,b:1"));
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
            ("#", "no range"),
            ("#x", "no range"),
            ("@:1", "names no hash"),
            ("a:1/0", "no range"),
            ("a:/1", "no range"),
            ("a:2/", "no range"),
        ] {
            let message = text.parse::<Picks>().unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
