//! What clusters do with each value, and what it costs: the table that cluster assignment and partitioning
//! decide by.
//!
//! A *web* is a live range of C3 over the control-flow graph: [`super::ranges::split_webs`] has given each
//! one a virtual register of its own, so register and web are the same here. An access counts for the cluster
//! of its instruction. Instructions with a scalar destination run on the scalar unit, which is no cluster and
//! reads lane registers from the main file only.
//!
//! Where warps lose their local registers between strands (C14), a read in a strand that the web's value may be
//! carried into is *far*: no register that was written before serves it, but the main file does, or a copy made
//! in that strand. An instruction at which a strand begins reads the main file.
//!
//! Costs are [`super::costs`]', weighted with block frequencies.

use cranelift_entity::{EntitySet, SecondaryMap};

use super::color;
use super::costs::{Costs, MAX_CLUSTERS};
use super::ranges::{self, LiveView};
use super::strands::Strands;
use heddle_isa::{Inst, OpClass, VReg};
use heddle_mir::{Bank, Function, liveness};

/// For each instruction whether the rest of its block does not read its result. `read` is empty before and behind it; it may
/// serve one block after the other.
pub fn read_late(insts: &[Inst], read: &mut EntitySet<VReg>) -> Vec<bool> {
    let mut late: Vec<bool> = insts
        .iter()
        .rev()
        .map(|inst| {
            let late = inst.dst.as_virt().is_some_and(|(r, _)| !read.remove(r));
            liveness::for_each_use(inst, |r, _| {
                read.insert(r);
            });
            late
        })
        .collect();
    late.reverse();
    insts.iter().for_each(|inst| {
        liveness::for_each_use(inst, |r, _| {
            read.remove(r);
        })
    });
    late
}

/// Weighted accesses to one web, by cluster; reads that only the main file serves apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accesses {
    /// Reads, times words, times frequency.
    pub reads: [f32; MAX_CLUSTERS],
    /// Writes likewise.
    pub writes: [f32; MAX_CLUSTERS],
    /// Price of what a copy right behind each write would wait for its result, times frequency.
    pub waits: [f32; MAX_CLUSTERS],
    /// Reading instructions, counted statically.
    pub read_count: [u16; MAX_CLUSTERS],
    /// Writing instructions, counted statically.
    pub write_count: [u16; MAX_CLUSTERS],
    /// Of reads and writes, those by units that clusters share.
    pub by_shared_units: [f32; MAX_CLUSTERS],
    /// Of the reads, those that are far.
    pub far_reads: [f32; MAX_CLUSTERS],
    /// Far reading instructions, counted statically.
    pub far_count: [u16; MAX_CLUSTERS],
    /// Reads of the scalar unit, and of instructions at which a strand begins.
    pub main_reads: f32,
    /// Some write is guarded: its other lanes keep the old value, so the web stays in one place, a local file if no other cluster
    /// touches it.
    pub guarded: bool,
}

/// What the accesses of a cluster cost that does not own the web.
#[derive(Clone, Copy, Default)]
struct Elsewhere {
    cluster: usize,
    /// Its reads.
    reads: f32,
    /// Its reads and its writes, if these go to the main file.
    price: f32,
}

/// Where a web lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In the main file only.
    Main,
    /// In the main file, with copies in local files for clusters that read it several times (C7).
    Shared,
    /// Owned by a cluster (C4).
    Owner(u8),
}

impl Accesses {
    /// Adds (or with a negative `sign` takes away) a read.
    pub fn read(&mut self, cluster: Option<u8>, weight: f32, sign: f32) {
        match cluster {
            Some(c) => {
                self.reads[usize::from(c)] += sign * weight;
                let n = &mut self.read_count[usize::from(c)];
                *n = if sign > 0.0 { n.saturating_add(1) } else { n.saturating_sub(1) };
            }
            None => self.main_reads += sign * weight,
        }
    }

    /// Adds a read that is far.
    pub fn read_far(&mut self, cluster: u8, weight: f32) {
        self.read(Some(cluster), weight, 1.0);
        self.far_reads[usize::from(cluster)] += weight;
        self.far_count[usize::from(cluster)] = self.far_count[usize::from(cluster)].saturating_add(1);
    }

    /// Reading instructions of a cluster that the owner's register serves if that cluster is the owner.
    pub fn near_count(&self, cluster: usize) -> u16 {
        self.read_count[cluster] - self.far_count[cluster]
    }

    /// Reading instructions of a cluster that the owner's register does not serve.
    pub fn served_elsewhere(&self, cluster: usize, owner: usize) -> u16 {
        if cluster == owner { self.far_count[cluster] } else { self.read_count[cluster] }
    }

    /// Whether the owner's register does not serve all reads.
    pub fn read_elsewhere(&self, owner: usize, clusters: usize) -> bool {
        self.main_reads > 0.0 || (0..clusters).any(|c| self.served_elsewhere(c, owner) > 0)
    }

    /// Adds or takes away a write; `wait`: what a copy right behind it waits for it, as a price.
    pub fn write(&mut self, cluster: u8, weight: f32, wait: f32, sign: f32) {
        self.waits[usize::from(cluster)] += sign * wait;
        self.writes[usize::from(cluster)] += sign * weight;
        let n = &mut self.write_count[usize::from(cluster)];
        *n = if sign > 0.0 { n.saturating_add(1) } else { n.saturating_sub(1) };
    }

    /// Whether the owner's copy has to be in the main file too: another cluster writes the web, or the owner's
    /// register does not serve all reads.
    pub fn leaves(&self, owner: usize, clusters: usize) -> bool {
        self.read_elsewhere(owner, clusters) || (0..clusters).any(|c| c != owner && self.write_count[c] > 0)
    }

    /// Cost of the web if a cluster owns it, with the code of C5 to C9; or some number that is `most` or more, if it is.
    /// `elsewhere`: what the accesses of each cluster cost if it does not own the web, nor writes it for an owner.
    fn owned(&self, owner: usize, elsewhere: &[Elsewhere], costs: &Costs, most: f32) -> f32 {
        let (main_read, main_write) = costs.main;
        let mut sum = main_read * self.main_reads;
        let owner_reads = self.near_count(owner) > 0;
        for other in elsewhere {
            let c = other.cluster;
            let (reads, writes) = (self.reads[c], self.writes[c]);
            let (local_read, local_write) = costs.local[c];
            if c == owner {
                let far = self.far_reads[c];
                sum += local_read * (reads - far) + local_write * writes + self.main_reads_cost(c, far, self.far_count[c], costs);
                sum += costs.shared_wire * self.by_shared_units[c];
                if self.read_elsewhere(owner, costs.clusters) {
                    // C5
                    sum += writes * (local_read + main_write + costs.copy) + self.waits[c];
                    sum += f32::from(self.write_count[c]) * costs.fetch;
                }
            } else if writes <= 0.0 {
                sum += other.price;
            } else {
                let n = f32::from(self.read_count[c]);
                let back = if owner_reads { main_read + costs.local[owner].1 + costs.copy } else { 0.0 };
                // C8 or C9, then the owner's copy.
                sum += if owner_reads || n > 0.0 { self.waits[c] } else { 0.0 };
                let copies = u8::from(owner_reads) + u8::from(n > 0.0 && costs.usable[c]);
                sum += f32::from(self.write_count[c]) * f32::from(copies) * costs.fetch;
                sum += if n > 0.0 && costs.usable[c] {
                    writes * (local_write + local_read + main_write + costs.copy + back) + (local_read * reads).min(other.reads)
                } else {
                    writes * (main_write + back) + other.reads
                };
            }
            if sum >= most {
                break;
            }
        }
        sum
    }

    /// Cost of reads of a cluster that the main register serves, or a copy of it (C7).
    fn main_reads_cost(&self, cluster: usize, reads: f32, count: u16, costs: &Costs) -> f32 {
        let (main_read, _) = costs.main;
        let each = main_read * reads;
        if count < 2 || !costs.usable[cluster] {
            return each;
        }
        let (local_read, local_write) = costs.local[cluster];
        let copied = reads / f32::from(count) * (main_read + local_write + costs.copy) + local_read * reads + costs.fetch;
        each.min(copied + costs.shared_wire * self.by_shared_units[cluster])
    }

    /// The home of least cost: on ties the main file, then the lowest cluster.
    pub fn best(&self, costs: &Costs) -> (Home, f32) {
        let (main_read, main_write) = costs.main;
        // Of the clusters that touch the web.
        let (mut elsewhere, mut touching) = ([Elsewhere::default(); MAX_CLUSTERS], 0);
        let (mut main, mut shared) = (main_read * self.main_reads, main_read * self.main_reads);
        for c in 0..costs.clusters {
            let (reads, writes) = (self.reads[c], self.writes[c]);
            if reads == 0.0 && writes == 0.0 {
                continue;
            }
            let served = self.main_reads_cost(c, reads, self.read_count[c], costs);
            let price = main_write * writes + served;
            elsewhere[touching] = Elsewhere { cluster: c, reads: served, price };
            touching += 1;
            main += main_read * reads + main_write * writes;
            shared += price;
        }
        let elsewhere = &elsewhere[..touching];
        let mut best = (Home::Main, main);
        if self.guarded && !self.is_of_one_cluster() {
            return best;
        }
        if shared < best.1 - 1e-4 && !self.guarded {
            best = (Home::Shared, shared);
        }
        let owners = (0..costs.clusters).filter(|c| costs.usable[*c] && self.read_count[*c] + self.write_count[*c] > 0);
        for owner in owners {
            let cost = self.owned(owner, elsewhere, costs, best.1);
            if cost < best.1 - 1e-4 {
                best = (Home::Owner(owner as u8), cost);
            }
        }
        best
    }

    /// Whether of the clusters only one touches the web, and nothing else reads it.
    fn is_of_one_cluster(&self) -> bool {
        let touching = self.read_count.iter().zip(&self.write_count).filter(|(r, w)| **r + **w > 0).count();
        touching == 1 && self.main_reads <= 0.0 && self.far_count.iter().all(|n| *n == 0)
    }

    /// The publication's owner (C4): most accesses, counted statically; ties go to the fewest copies, then
    /// the lowest cluster.
    pub fn publication_owner(&self, costs: &Costs) -> Home {
        let count = |c: usize| u32::from(self.read_count[c]) + u32::from(self.write_count[c]);
        let copies = |owner: usize| -> u32 {
            let others = |c: &usize| *c != owner;
            let read_elsewhere = self.read_elsewhere(owner, costs.clusters);
            let mut n = if read_elsewhere { u32::from(self.write_count[owner]) } else { 0 };
            for c in (0..costs.clusters).filter(others) {
                let (r, w) = (self.read_count[c], u32::from(self.write_count[c]));
                n += if w > 0 { w * if r > 0 { 2 } else { 1 } } else { u32::from(r >= 2) };
            }
            n
        };
        let candidates = (0..costs.clusters).filter(|c| costs.usable[*c] && count(*c) > 0);
        match candidates.min_by_key(|c| (std::cmp::Reverse(count(*c)), copies(*c), *c)) {
            Some(owner) if !self.guarded => Home::Owner(owner as u8),
            _ => Home::Main,
        }
    }
}

/// For each vector register the one that stands for it: copies between registers that never hold different
/// values at a time are no accesses, and what they connect is one web (phis and their inputs).
pub fn representatives(function: &Function) -> SecondaryMap<VReg, Option<VReg>> {
    let view = LiveView::of(function, |r| function.vregs[r].bank == Bank::Vector);
    let graph = ranges::interference(function, &view, Bank::Vector, |_| false);
    let mut result = SecondaryMap::with_capacity(function.vregs.len());
    for (node, first) in graph.nodes.iter().zip(color::coalesced(&graph)) {
        result[node.reg] = Some(graph.nodes[first as usize].reg);
    }
    result
}

/// The cluster whose registers an instruction names: none on the scalar unit and for control.
pub fn cluster_of(function: &Function, inst: &Inst) -> Option<u8> {
    let scalar =
        matches!(inst.dst.as_virt(), Some((reg, _)) if function.vregs[reg].bank == Bank::Scalar) || inst.writes_scalar_register();
    (!scalar && inst.class() != OpClass::Control).then_some(inst.cluster)
}

/// Calls `f(register, words, is_write)` for each vector register an instruction names.
pub fn for_each_vector(function: &Function, inst: &Inst, mut f: impl FnMut(VReg, u8, bool)) {
    let vector = |r: VReg| function.vregs[r].bank == Bank::Vector;
    for (i, s) in inst.srcs.iter().enumerate() {
        if let Some((r, _)) = s.as_virt().filter(|(r, _)| vector(*r)) {
            f(r, inst.src_words(i).max(1), false);
        }
    }
    if let Some((r, _)) = inst.dst.as_virt().filter(|(r, _)| vector(*r)) {
        f(r, inst.dst_words().max(1), true);
    }
}

/// Accesses to every vector register.
pub fn accesses(function: &Function, costs: &Costs, strands: &Strands) -> SecondaryMap<VReg, Accesses> {
    let mut table: SecondaryMap<VReg, Accesses> = SecondaryMap::with_capacity(function.vregs.len());
    table.resize(function.vregs.len());
    let mut read = EntitySet::with_capacity(function.vregs.len());
    for &block in &function.layout {
        let data = &function.blocks[block];
        let mut place = strands.walk(block);
        let late = read_late(&data.insts, &mut read);
        for (i, inst) in data.insts.iter().enumerate() {
            place.step(inst);
            let cluster = cluster_of(function, inst);
            let reader = cluster.filter(|_| !inst.strand);
            let shares = cluster.filter(|c| costs.shared[inst.class() as usize] >> c & 1 == 1);
            for_each_vector(function, inst, |reg, words, write| {
                let weight = data.frequency * f32::from(words);
                if let Some(c) = shares {
                    table[reg].by_shared_units[usize::from(c)] += weight;
                }
                if !write {
                    match reader.filter(|_| place.carries(reg)) {
                        Some(c) => table[reg].read_far(c, weight),
                        None => table[reg].read(reader, weight, 1.0),
                    }
                } else if let Some(c) = cluster {
                    table[reg].write(c, weight, data.frequency * costs.wait(inst, late[i]), 1.0);
                    table[reg].guarded |= inst.guard.is_some();
                }
            });
        }
    }
    table
}
