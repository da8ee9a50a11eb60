//! Natural loops of a function: headers, nesting, and which blocks lie in which loop.

use cranelift_entity::{EntityRef, SecondaryMap};
use fixedbitset::FixedBitSet;

use heddle_mir::Block;
use heddle_mir::cfg::Cfg;

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block all back edges go to.
    pub header: Block,
    /// Its blocks, inner loops' included.
    pub blocks: Vec<Block>,
    /// Index of the next loop outward.
    pub parent: Option<u32>,
}

/// The loops, outer before inner.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// All loops.
    pub loops: Vec<Loop>,
    /// Innermost loop of each block.
    pub innermost: SecondaryMap<Block, Option<u32>>,
    /// Loop of each header.
    pub header_of: SecondaryMap<Block, Option<u32>>,
    /// Targets of retreating edges that are no natural loop's header (irreducible control flow).
    pub irregular: FixedBitSet,
}

impl Loops {
    /// Finds the loops.
    pub fn new(cfg: &Cfg) -> Self {
        let mut number = vec![usize::MAX; cfg.len];
        cfg.rpo.iter().enumerate().for_each(|(i, b)| number[b.index()] = i);
        let dominators = cfg.dominators();
        let mut result = Loops { irregular: FixedBitSet::with_capacity(cfg.len), ..Default::default() };
        let mut in_loop = FixedBitSet::with_capacity(cfg.len);
        // Headers in reverse post-order: a loop's header comes before the headers inside it.
        for &header in &cfg.rpo {
            let retreating =
                cfg.edges[header].preds.iter().filter(|p| (number[header.index()]..usize::MAX).contains(&number[p.index()]));
            let (latches, others): (Vec<Block>, Vec<Block>) = retreating.copied().partition(|p| dominators.dominates(header, *p));
            if !others.is_empty() {
                result.irregular.insert(header.index());
            }
            if latches.is_empty() {
                continue;
            }
            in_loop.clear();
            in_loop.insert(header.index());
            let mut blocks = vec![header];
            let mut stack = latches;
            while let Some(b) = stack.pop() {
                if number[b.index()] != usize::MAX && !in_loop.put(b.index()) {
                    blocks.push(b);
                    stack.extend(&cfg.edges[b].preds);
                }
            }
            let index = result.loops.len() as u32;
            let parent = result.innermost[header];
            for b in &blocks {
                result.innermost[*b] = Some(index);
            }
            result.header_of[header] = Some(index);
            result.loops.push(Loop { header, blocks, parent });
        }
        result
    }

    /// Whether a block lies in a loop.
    pub fn contains(&self, index: u32, block: Block) -> bool {
        let mut at = self.innermost[block];
        while let Some(l) = at {
            if l == index {
                return true;
            }
            at = self.loops[l as usize].parent;
        }
        false
    }

    /// Whether an edge leaves a loop.
    pub fn leaves(&self, from: Block, to: Block) -> bool {
        self.innermost[from].is_some_and(|l| !self.contains(l, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_loops() {
        let text = "kernel @k stage lowered local 0 private 0 {\n registers s1\nbb0: frequency 1\nbb1: frequency 1\nbb2: frequency 1\n \
                    bras %0, bb2\nbb3: frequency 1\n bras %0, bb1\nbb4: frequency 1\n exit\n}\n";
        let module = heddle_mir::parse::parse_module(text).unwrap();
        let cfg = Cfg::new(&module.functions[0]);
        let loops = Loops::new(&cfg);
        let b = Block::new;
        assert_eq!(loops.loops.len(), 2);
        assert_eq!((loops.header_of[b(1)], loops.header_of[b(2)]), (Some(0), Some(1)));
        assert_eq!(loops.loops[1].parent, Some(0));
        assert!(loops.contains(0, b(2)) && !loops.contains(1, b(3)) && !loops.contains(0, b(4)));
        assert!(loops.leaves(b(2), b(3)) && !loops.leaves(b(3), b(1)) && loops.leaves(b(3), b(4)));
    }
}
