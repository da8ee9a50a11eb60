//! Colouring of live ranges with aligned tuples, shared by all register files (C2, C10, C12).
//!
//! # Problem
//! Ranges that overlap must get disjoint registers; a range of width 2 or 4 needs consecutive registers aligned to its width.
//!
//! # Algorithm
//! The interference graph of live ranges is coloured greedily in the order of the ranges' starts. On straight-line code that order is a
//! perfect elimination order of the (interval) graph, so the number of colours is minimal up to alignment; with control flow
//! ranges have holes and it is a good heuristic (Hack, "Register allocation for programs in SSA form", 2007). The graph is never built:
//! interference is overlap, looked up per register in the sorted segments already placed there, so time and memory stay near n log n
//! where an explicit graph would be quadratic. Copies are coalesced by preference: a range first tries the colour that makes its copies
//! vanish. When no colour is free, the cheapest of the range itself and the sets of ranges that block it at each position is given up
//! to the spiller.

use cranelift_entity::SecondaryMap;

use crate::isa::VReg;

/// A preference: this range wants the colour of `other` plus `offset`.
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// The other range.
    pub other: VReg,
    /// Wanted difference of the first registers.
    pub offset: i16,
    /// Executions of the copy that would vanish.
    pub weight: f32,
}

/// A live range to colour.
#[derive(Clone, Debug)]
pub struct Range {
    /// The virtual register.
    pub reg: VReg,
    /// Registers it needs: 1, 2 or 4.
    pub width: u8,
    /// Cost of giving it up; infinite if it must get a colour.
    pub weight: f32,
    /// Half-open intervals of program points, sorted and disjoint, not empty.
    pub segments: Vec<(u32, u32)>,
    /// Preferences.
    pub hints: Vec<Hint>,
}

/// The outcome.
#[derive(Clone, Debug, Default)]
pub struct Coloring {
    /// First register of each coloured range.
    pub color: SecondaryMap<VReg, Option<u16>>,
    /// Ranges given up.
    pub spilled: Vec<VReg>,
    /// Number of registers used.
    pub used: u32,
}

/// No colour for a range that cannot be spilled.
#[derive(Debug)]
pub struct OutOfRegisters;

/// A segment placed in a register.
#[derive(Clone, Copy)]
struct Placed {
    start: u32,
    end: u32,
    range: u32,
}

/// Colours ranges with `registers` registers.
///
/// # Errors
/// [`OutOfRegisters`] if ranges of infinite weight do not fit.
pub fn color(ranges: &mut [Range], registers: u32) -> Result<Coloring, OutOfRegisters> {
    ranges.sort_by_key(|r| (r.segments[0].0, u32::MAX - r.segments[r.segments.len() - 1].1, r.reg));
    let ranges = &*ranges;
    let mut index: SecondaryMap<VReg, u32> = SecondaryMap::with_default(u32::MAX);
    for (i, r) in ranges.iter().enumerate() {
        index[r.reg] = i as u32;
    }
    let mut files: Vec<Vec<Placed>> = vec![Vec::new(); registers as usize];
    let mut result = Coloring::default();
    for (i, range) in ranges.iter().enumerate() {
        let width = u32::from(range.width);
        let free = |files: &[Vec<Placed>], base: u32, width: u32, segments: &[(u32, u32)]| {
            base + width <= registers && (base..base + width).all(|r| !overlaps(&files[r as usize], segments))
        };
        let mut chosen = None;
        // Preferences, heaviest copy first.
        let mut hints: smallvec::SmallVec<[&Hint; 4]> = range.hints.iter().collect();
        hints.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        for hint in &hints {
            if let Some(other) = result.color[hint.other] {
                let base = i32::from(other) + i32::from(hint.offset);
                if base >= 0 && base % width as i32 == 0 && free(&files, base as u32, width, &range.segments) {
                    chosen = Some(base as u32);
                    break;
                }
            }
        }
        if chosen.is_none() {
            // A word of a tuple that has no colour yet: sit where the tuple can follow.
            for hint in &hints {
                let Some(tuple) = ranges.get(index[hint.other] as usize) else { continue };
                let tuple_width = u32::from(tuple.width);
                if result.color[hint.other].is_some() || tuple.width <= range.width || hint.offset < 0 {
                    continue;
                }
                let offset = hint.offset as u32;
                chosen = (0..registers / tuple_width).map(|b| b * tuple_width).find(|base| {
                    free(&files, base + offset, width, &range.segments) && free(&files, *base, tuple_width, &tuple.segments)
                });
                if let Some(base) = chosen {
                    chosen = Some(base + offset);
                    break;
                }
            }
        }
        let chosen =
            chosen.or_else(|| (0..registers / width).map(|b| b * width).find(|b| free(&files, *b, width, &range.segments)));
        let base = match chosen {
            Some(base) => base,
            None => {
                // Give up the cheapest: this range, or everything that blocks it somewhere.
                let mut best: Option<(f32, u32, Vec<u32>)> = None;
                for base in (0..registers / width).map(|b| b * width) {
                    let mut blockers = Vec::new();
                    for r in base..base + width {
                        collect_overlaps(&files[r as usize], &range.segments, &mut blockers);
                    }
                    blockers.sort_unstable();
                    blockers.dedup();
                    let cost: f32 = blockers.iter().map(|b| ranges[*b as usize].weight).sum();
                    if best.as_ref().is_none_or(|(c, ..)| cost < *c) {
                        best = Some((cost, base, blockers));
                    }
                }
                match best {
                    Some((cost, base, blockers)) if cost < range.weight => {
                        for b in blockers {
                            let victim = &ranges[b as usize];
                            if let Some(c) = result.color[victim.reg].take() {
                                for r in c..c + u16::from(victim.width) {
                                    files[r as usize].retain(|p| p.range != b);
                                }
                                result.spilled.push(victim.reg);
                            }
                        }
                        base
                    }
                    _ if range.weight.is_finite() => {
                        result.spilled.push(range.reg);
                        continue;
                    }
                    _ => return Err(OutOfRegisters),
                }
            }
        };
        result.color[range.reg] = Some(base as u16);
        for r in base..base + width {
            let file = &mut files[r as usize];
            for &(start, end) in &range.segments {
                let at = file.partition_point(|p| p.start < start);
                file.insert(at, Placed { start, end, range: i as u32 });
            }
        }
        result.used = result.used.max(base + width);
    }
    Ok(result)
}

fn overlaps(file: &[Placed], segments: &[(u32, u32)]) -> bool {
    match file.last() {
        None => return false,
        Some(last) if last.end <= segments[0].0 => return false,
        _ => {}
    }
    segments.iter().any(|&(start, end)| {
        let at = file.partition_point(|p| p.end <= start);
        file.get(at).is_some_and(|p| p.start < end)
    })
}

fn collect_overlaps(file: &[Placed], segments: &[(u32, u32)], found: &mut Vec<u32>) {
    for &(start, end) in segments {
        let mut at = file.partition_point(|p| p.end <= start);
        while let Some(p) = file.get(at).filter(|p| p.start < end) {
            found.push(p.range);
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    fn range(reg: usize, width: u8, segments: &[(u32, u32)]) -> Range {
        Range { reg: VReg::new(reg), width, weight: 1.0, segments: segments.to_vec(), hints: Vec::new() }
    }

    #[test]
    fn tuples_are_aligned_and_disjoint() {
        let mut ranges = vec![range(0, 1, &[(0, 10)]), range(1, 2, &[(1, 9)]), range(2, 4, &[(2, 8)]), range(3, 1, &[(3, 4)])];
        let c = color(&mut ranges, 8).unwrap();
        let at = |i| c.color[VReg::new(i)].unwrap();
        assert_eq!((at(0), at(1), at(2), at(3)), (0, 2, 4, 1));
        assert!(c.spilled.is_empty());
    }

    #[test]
    fn the_cheapest_range_is_given_up() {
        let mut ranges = vec![range(0, 1, &[(0, 10)]), range(1, 1, &[(1, 9)]), range(2, 1, &[(2, 8)])];
        ranges[1].weight = 0.5;
        let c = color(&mut ranges, 2).unwrap();
        assert_eq!(c.spilled, [VReg::new(1)]);
        for r in &mut ranges {
            r.weight = f32::INFINITY;
        }
        assert!(color(&mut ranges, 2).is_err());
    }

    #[test]
    fn holes_are_used() {
        let mut ranges = vec![range(0, 1, &[(0, 2), (8, 10)]), range(1, 1, &[(2, 8)])];
        assert_eq!(color(&mut ranges, 1).unwrap().used, 1);
    }
}
