//! Coalescing: a warp's access becomes one transaction for each line that its lanes touch.

use super::Access;
use super::line::{LaneOffsets, LineNumber, MASK_WORD};
use super::lower_levels::{CODE_BASE, PRIVATE_BASE};
use heddle_isa::MemorySpace;
use heddle_target::Machine;

/// One line of a warp's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transaction {
    /// The line.
    pub line: LineNumber,
    /// Its sectors that lanes touch, a bit each.
    pub sectors: u64,
    /// The lanes that touch it, a bit each.
    pub lanes: u64,
}

/// A part of an access: the words of a number of some lanes, or all that some lanes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its number: of the word, or [`Self::WHOLE`].
    pub number: u8,
    /// Its lanes, a bit each.
    pub lanes: u64,
    /// Bytes of a lane.
    pub bytes: u8,
}

impl Part {
    /// The number of the lanes that are not cut, where others are.
    pub const WHOLE: u8 = 4;

    /// All of an access in one.
    pub fn all(access: &Access) -> Part {
        Part { number: 0, lanes: access.mask, bytes: access.bytes as u8 }
    }

    /// The first word of a lane's value that it has.
    #[inline]
    pub fn first_word(self) -> usize {
        match self.number {
            Self::WHOLE => 0,
            word => word.into(),
        }
    }
}

/// Sizes of lines and sectors, which are powers of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineGeometry {
    /// Bytes of a line.
    pub line_bytes: u64,
    /// Bytes of a sector.
    pub sector_bytes: u64,
    line_shift: u32,
    sector_shift: u32,
}

impl LineGeometry {
    fn new(memory: &heddle_target::Memory) -> LineGeometry {
        LineGeometry {
            line_bytes: u64::from(memory.line_bytes),
            sector_bytes: u64::from(memory.sector_bytes),
            line_shift: memory.line_bytes.trailing_zeros(),
            sector_shift: memory.sector_bytes.trailing_zeros(),
        }
    }

    /// The line of a byte of code.
    #[inline]
    pub fn code_line(&self, offset: u64) -> LineNumber {
        (CODE_BASE + offset) >> self.line_shift
    }

    /// All sectors of a line, a bit each.
    #[inline]
    pub fn all_sectors(&self) -> u64 {
        (1 << (self.line_bytes / self.sector_bytes)) - 1
    }
}

/// Cuts accesses into transactions.
pub(super) struct Coalescer {
    /// Sizes of lines and sectors.
    pub geometry: LineGeometry,
    /// Lanes of a warp.
    lanes: u64,
    /// The list of an access that is over, to be filled again.
    spare: Vec<Transaction>,
}

impl Coalescer {
    /// For a machine's lines and warps.
    pub fn new(machine: &Machine) -> Coalescer {
        Coalescer { geometry: LineGeometry::new(&machine.memory), lanes: u64::from(machine.warp_size), spare: Vec::new() }
    }

    /// The parts of an access, which are coalesced one after the other. Private memory is laid out word by word; of vectors that do
    /// not begin at a multiple of their size, those that are in two sectors (of at most 64 bytes) are cut into words.
    #[inline]
    pub fn parts(&self, access: &Access) -> impl Iterator<Item = Part> + use<> {
        let vector = matches!(access.bytes, 8 | 16);
        let whole = |lanes: u64, number: u8| Part { number, lanes, bytes: access.bytes as u8 };
        let (cut, rest) = match vector {
            true if access.space == MemorySpace::Private => (access.mask, None),
            true => match self.crossing(access) {
                0 => (0, Some(whole(access.mask, 0))),
                cut => (cut, Some(whole(access.mask & !cut, Part::WHOLE)).filter(|rest| rest.lanes != 0)),
            },
            false => (0, Some(whole(access.mask, 0))),
        };
        let words = if cut == 0 { 0 } else { access.bytes as u8 / 4 };
        (0..words).map(move |number| Part { number, lanes: cut, bytes: 4 }).chain(rest)
    }

    /// The lanes of an access whose bytes are in two sectors, or in two words of a [`ByteMask`](super::line::ByteMask).
    #[inline]
    fn crossing(&self, access: &Access) -> u64 {
        let active = |lane: usize| (access.mask >> lane & 1).wrapping_neg();
        let bits = access.addresses.iter().enumerate().fold(0, |bits, (lane, address)| bits | address & active(lane));
        if bits & u64::from(access.bytes - 1) == 0 {
            return 0;
        }
        let border = self.geometry.sector_bytes.min(MASK_WORD);
        let crosses = |address: u64| (address & (border - 1)) + u64::from(access.bytes) > border;
        let lanes = access.addresses.iter().enumerate().filter(|(_, address)| crosses(**address));
        lanes.fold(0, |lanes, (lane, _)| lanes | 1 << lane) & access.mask
    }

    /// Device address of byte `offset` of a lane's private memory: words of all lanes side by side. `base`:
    /// the warp's first byte.
    #[inline]
    pub fn private_address(&self, base: u64, lane: u64, offset: u64) -> u64 {
        PRIVATE_BASE + base + (offset / 4 * self.lanes + lane) * 4 + offset % 4
    }

    /// The transactions of an access, in order of the lanes that touch their lines first; `offsets` gets each
    /// lane's byte in its line. `part`: one of [`Self::parts`]. The list is to be given back to
    /// [`Self::recycle`].
    #[inline]
    pub fn coalesce(&mut self, access: &Access, part: Part, offsets: &mut LaneOffsets) -> Vec<Transaction> {
        let mut transactions = std::mem::take(&mut self.spare);
        transactions.clear();
        let private = access.space == MemorySpace::Private;
        let first_byte = 4 * part.first_word() as u64;
        let only = if private || first_byte > 0 { None } else { self.one_line(access, part.lanes, offsets) };
        if let Some(only) = only {
            transactions.push(only);
            return transactions;
        }
        let LineGeometry { line_bytes, line_shift, sector_shift, .. } = self.geometry;
        let inside = line_bytes - 1;
        // Where each line is in the list, plus 1: a hash table with twice as many places as there are lanes at most.
        let mut places = [0u8; 128];
        let mut mask = part.lanes;
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let address = if private {
                self.private_address(access.private, lane as u64, access.addresses[lane] + first_byte)
            } else {
                access.addresses[lane] + first_byte
            };
            let (line, offset) = (address >> line_shift, address & inside);
            offsets[lane] = offset as u8;
            let sector = 1 << (offset >> sector_shift);
            if let Some(t) = transactions.last_mut().filter(|t| t.line == line) {
                t.sectors |= sector;
                t.lanes |= 1 << lane;
                continue;
            }
            let mut at = (line ^ line >> 7) as usize % places.len();
            loop {
                match places[at] {
                    0 => {
                        transactions.push(Transaction { line, sectors: sector, lanes: 1 << lane });
                        places[at] = transactions.len() as u8;
                        break;
                    }
                    place => {
                        let t = &mut transactions[usize::from(place) - 1];
                        if t.line == line {
                            t.sectors |= sector;
                            t.lanes |= 1 << lane;
                            break;
                        }
                    }
                }
                at = (at + 1) % places.len();
            }
        }
        transactions
    }

    /// The transaction of a load by lane 0 alone whose bytes lie in one sector, and where in the line they begin.
    #[inline]
    pub fn one_lane(&self, address: u64) -> (Transaction, usize) {
        let LineGeometry { line_bytes, line_shift, sector_shift, .. } = self.geometry;
        let offset = address & (line_bytes - 1);
        (Transaction { line: address >> line_shift, sectors: 1 << (offset >> sector_shift), lanes: 1 }, offset as usize)
    }

    /// Takes a list back whose access is over.
    #[inline]
    pub fn recycle(&mut self, transactions: Vec<Transaction>) {
        self.spare = transactions;
    }

    /// The frequent case: all lanes in one line.
    #[inline]
    fn one_line(&self, access: &Access, lanes: u64, offsets: &mut LaneOffsets) -> Option<Transaction> {
        let LineGeometry { line_bytes, line_shift, sector_shift, .. } = self.geometry;
        let inside = line_bytes - 1;
        let first = access.addresses[lanes.trailing_zeros() as usize % access.addresses.len()];
        let (mut different, mut sectors) = (0, 0);
        for (lane, (address, offset)) in access.addresses.iter().zip(offsets.iter_mut()).enumerate() {
            let active = (lanes >> lane & 1).wrapping_neg();
            different |= (address ^ first) & !inside & active;
            sectors |= (1 << ((address & inside) >> sector_shift)) & active;
            *offset = (address & inside) as u8;
        }
        (different == 0 && lanes != 0).then(|| Transaction { line: first >> line_shift, sectors, lanes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_isa::CachePolicy;

    fn coalesce(space: MemorySpace, addresses: &[u64], bytes: u32, part: usize) -> (Vec<Transaction>, LaneOffsets) {
        let mut coalescer = Coalescer::new(&heddle_target::testing::mixed::<String>(&[]));
        let mask = (1 << addresses.len()) - 1;
        let access = Access { sm: 0, now: 0, space, policy: CachePolicy::Default, addresses, mask, bytes, private: 0 };
        let mut offsets = [0; 64];
        let part = coalescer.parts(&access).nth(part).unwrap();
        (coalescer.coalesce(&access, part, &mut offsets), offsets)
    }

    #[test]
    fn lanes_of_a_line_share_a_transaction() {
        let line = u64::from(heddle_target::testing::mixed::<String>(&[]).memory.line_bytes);
        let sector = u64::from(heddle_target::testing::mixed::<String>(&[]).memory.sector_bytes);
        let base = 16 * line;
        let (one, offsets) = coalesce(MemorySpace::Global, &[base, base + 4, base + sector], 4, 0);
        assert_eq!(one, [Transaction { line: 16, sectors: 0b11, lanes: 0b111 }]);
        assert_eq!(offsets[..3], [0, 4, sector as u8]);
        // Lines come in the order of the lanes that touch them first.
        let (two, _) = coalesce(MemorySpace::Global, &[base + line, base, base + line + sector], 4, 0);
        assert_eq!(
            two,
            [Transaction { line: 17, sectors: 0b11, lanes: 0b101 }, Transaction { line: 16, sectors: 0b1, lanes: 0b010 }]
        );
    }

    #[test]
    fn words_of_private_memory_lie_side_by_side() {
        let machine = heddle_target::testing::mixed::<String>(&[]);
        let line = u64::from(machine.memory.line_bytes);
        // Every lane's bytes 8 to 15, in two parts of a word each.
        let addresses = vec![8; 4];
        for part in 0..2 {
            let (all, offsets) = coalesce(MemorySpace::Private, &addresses, 8, part);
            let at = PRIVATE_BASE + (2 + part as u64) * u64::from(machine.warp_size) * 4;
            assert_eq!(all.len(), 1);
            assert_eq!(all[0].line, at / line);
            assert_eq!(offsets[..4], [0, 4, 8, 12].map(|b| (at % line) as u8 + b));
        }
    }

    #[test]
    fn lanes_that_are_not_active_do_not_matter() {
        let machine = heddle_target::testing::mixed::<String>(&[]);
        let line = u64::from(machine.memory.line_bytes);
        let addresses = [9 * line, 16 * line + 8, 9 * line, 16 * line, 16 * line + line - 4, 3 * line];
        let of = |mask, space| {
            let access =
                Access { sm: 0, now: 0, space, policy: CachePolicy::Default, addresses: &addresses, mask, bytes: 4, private: 0 };
            Coalescer::new(&machine)
                .coalesce(&access, Part::all(&access), &mut [0; 64])
                .iter()
                .map(|t| (t.line, t.lanes))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(0b01_1010, MemorySpace::Global), [(16, 0b01_1010)]);
        assert_eq!(of(0b11_1010, MemorySpace::Global), [(16, 0b01_1010), (3, 0b10_0000)]);
        assert_eq!(of(0b10_0000, MemorySpace::Global), [(3, 0b10_0000)]);
        assert!(of(0, MemorySpace::Global).is_empty() && of(0, MemorySpace::Private).is_empty());
    }

    #[test]
    fn vectors_in_two_sectors_are_cut_into_words() {
        let machine = heddle_target::testing::mixed::<String>(&[]);
        let (line, sector) = (u64::from(machine.memory.line_bytes), u64::from(machine.memory.sector_bytes));
        let of = |addresses: &[u64], bytes: u32| {
            let (space, policy, mask) = (MemorySpace::Global, CachePolicy::Default, (1 << addresses.len()) - 1);
            let access = Access { sm: 0, now: 0, space, policy, addresses, mask, bytes, private: 0 };
            let coalescer = Coalescer::new(&machine);
            coalescer.parts(&access).map(|p| (p.first_word(), p.lanes, p.bytes)).collect::<Vec<_>>()
        };
        assert_eq!(of(&[line, line + 16, 0], 16), [(0, 0b111, 16)]);
        assert_eq!(of(&[line + 4, line + 16, 0], 16), [(0, 0b111, 16)], "each in its sector");
        let last = sector - 8;
        let words = |lanes: u64| (0..4).map(move |word| (word, lanes, 4));
        assert_eq!(of(&[line, last, 4], 16), words(0b010).chain([(0, 0b101, 16)]).collect::<Vec<_>>());
        assert_eq!(of(&[last, line + last], 16), words(0b11).collect::<Vec<_>>(), "none is whole");
        assert_eq!(of(&[sector - 4, 8], 8), [(0, 0b01, 4), (1, 0b01, 4), (0, 0b10, 8)]);
        // Words of lanes that are cut lie where they lie.
        let (transactions, offsets) = coalesce(MemorySpace::Global, &[16 * line + line - 8], 16, 2);
        assert_eq!(transactions, [Transaction { line: 17, sectors: 1, lanes: 1 }]);
        assert_eq!(offsets[0], 0);
    }
}
