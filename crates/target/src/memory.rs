//! The rows of the memory part of a description (K1): caches, network, DRAM, system memory, work-group
//! memory, address generation.

use crate::describe::*;
use crate::mapping::AddressMapping;
use crate::validate;
use crate::words::{DramScheduler, Replacement, SetIndex, WritePolicy};

tables! {
    /// Memory.
    Memory {
        /// Line of all caches.
        line_bytes: u32 => across(validate::line_bytes, "a power of two from sector-bytes to 256").of("bytes");
        /// Sector of a line: the unit of transfer.
        sector_bytes: u32 => powers_of_two(16, 256).of("bytes");
        /// Cycles of an access to work-group memory.
        local_latency: u32 => cycles();
        /// Cycles of a constant-bank access.
        argument_latency: u32 => cycles();
        /// Banks of work-group memory, 4 bytes wide each.
        local_banks: u32 => integers(1, 1024).of("banks");
        /// Energy of a 4-byte access to work-group memory.
        local_word_pj: f64 => picojoules();
        /// Device memory.
        device_bytes: u64 => sizes(1 << 16, 1 << 40).simulator_only();
        /// Whether an access of 8 or 16 bytes of device memory may begin at any word. Of lanes whose bytes are in two sectors it is
        /// performed word by word.
        unaligned_vectors: bool = true => any("both make a machine");
        /// Surface descriptors of a launch (G7).
        surfaces: u32 => integers(0, 256).of("descriptors");
        /// Components that an element of a typed surface has at most (G4).
        surface_components: u32 => integers(1, 4).of("components");
        /// Cycles that the address-generation unit adds to an access.
        surface_latency: u32 => cycles();
        /// Energy of an address made of global ids, a lane.
        surface_address_pj: f64 => picojoules();
        /// Data L1 of an SM: global and private memory.
        data: DataCache => fields();
        /// Uniform L1 of an SM: `ldu`, textures.
        uniform: Cache => fields();
        /// Constant L1 of an SM.
        constant: Cache => fields();
        /// Instruction L1 of an SM.
        instruction: InstructionCache => fields();
        /// L1.5 of a group of SMs, behind instruction, uniform and constant L1.
        l15: SharedCache => fields().simulator_only();
        /// Translation of addresses on the way from an SM to L2: of what misses its L1 caches, and of stores.
        tlb: Tlb = Tlb::NONE => fields().simulator_only();
        /// Translation of what misses an SM's TLB, for all SMs.
        l2_tlb: SharedTlb = SharedTlb::NONE => fields().simulator_only();
        /// L2 of the device.
        l2: SecondLevel => fields();
        /// Between SMs and L2.
        network: Network => fields();
        /// Device memory.
        dram: Dram => fields();
        /// The host's memory.
        system: SystemMemory => fields().simulator_only();
    }

    /// The data L1.
    DataCache: Copy {
        /// Size.
        bytes: u32
            => across(validate::cache_sizes, "a multiple of ways x line-bytes, at most 1 GiB").of("bytes").simulator_only();
        /// Lines of a set.
        ways: u32 => integers(1, 1024).of("lines").simulator_only();
        /// Cycles of a hit, and to find a miss.
        latency: u32 => cycles();
        /// Lines that may be on their way at once (miss status holding registers).
        misses: u32 => integers(1, 100_000).of("lines").simulator_only();
        /// Energy of reading or writing a sector.
        sector_pj: f64 => picojoules().simulator_only();
        /// Requests that wait for a miss on its way beside the first, at most (0: no limit); one more stops the
        /// load-store unit until the miss has returned.
        merges: u32 = 0 => integers(0, 100_000).of("requests").simulator_only();
        /// Which line of a set makes room for another one, evict-first lines before others.
        replacement: Replacement = Replacement::Lru => any("every policy makes a machine").simulator_only();
        /// How a line number becomes the number of a set.
        index: SetIndex = SetIndex::Hashed => any("both make a machine").simulator_only();
        /// Where stores to private memory go.
        write: WritePolicy = WritePolicy::Back => any("both make a machine").simulator_only();
        /// Whether a store that finds no line makes one; without, it goes to the next level.
        write_allocate: bool = true => any("both make a machine").simulator_only();
    }

    /// A first-level cache.
    Cache: Copy {
        /// Size.
        bytes: u32
            => across(validate::cache_sizes, "a multiple of ways x line-bytes, at most 1 GiB").of("bytes").simulator_only();
        /// Lines of a set.
        ways: u32 => integers(1, 1024).of("lines").simulator_only();
        /// Cycles of a hit, and to find a miss.
        latency: u32 => cycles();
        /// Lines that may be on their way at once (miss status holding registers).
        misses: u32 => integers(1, 100_000).of("lines").simulator_only();
        /// Energy of reading or writing a sector.
        sector_pj: f64 => picojoules().simulator_only();
        /// Requests that wait for a miss on its way beside the first, at most (0: no limit); one more stops the
        /// load-store unit until the miss has returned.
        merges: u32 = 0 => integers(0, 100_000).of("requests").simulator_only();
        /// Which line of a set makes room for another one, evict-first lines before others.
        replacement: Replacement = Replacement::Lru => any("every policy makes a machine").simulator_only();
        /// How a line number becomes the number of a set.
        index: SetIndex = SetIndex::Hashed => any("both make a machine").simulator_only();
    }

    /// The instruction L1.
    InstructionCache: Copy {
        /// Size.
        bytes: u32
            => across(validate::cache_sizes, "a multiple of ways x line-bytes, at most 1 GiB").of("bytes").simulator_only();
        /// Lines of a set.
        ways: u32 => integers(1, 1024).of("lines").simulator_only();
        /// Cycles of a hit, and to find a miss.
        latency: u32 => cycles();
        /// Lines that may be on their way at once (miss status holding registers).
        misses: u32 => integers(1, 100_000).of("lines").simulator_only();
        /// Energy of reading or writing a sector.
        sector_pj: f64 => picojoules().simulator_only();
        /// Which line of a set makes room for another one, evict-first lines before others.
        replacement: Replacement = Replacement::Lru => any("every policy makes a machine").simulator_only();
        /// How a line number becomes the number of a set.
        index: SetIndex = SetIndex::Hashed => any("both make a machine").simulator_only();
        /// Lines that are fetched ahead of the one that a warp comes to, one behind the other; 0: none.
        prefetch: u32 = 2 => integers(0, 64).of("lines").simulator_only();
    }

    /// The L1.5.
    SharedCache: Copy {
        /// SMs that share one.
        sms: u32 => integers(1, 1024).of("SMs");
        /// Size.
        bytes: u32 => across(validate::cache_sizes, "a multiple of ways x line-bytes, at most 1 GiB").of("bytes");
        /// Lines of a set.
        ways: u32 => integers(1, 1024).of("lines");
        /// Cycles of a hit, and to find a miss.
        latency: u32 => cycles();
        /// Energy of reading or writing a sector.
        sector_pj: f64 => picojoules();
        /// Which line of a set makes room for another one, evict-first lines before others.
        replacement: Replacement = Replacement::Lru => any("every policy makes a machine");
        /// How a line number becomes the number of a set.
        index: SetIndex = SetIndex::Hashed => any("both make a machine");
    }

    /// The L2.
    SecondLevel: Copy {
        /// Size of all slices.
        bytes: u32
            => across(validate::cache_sizes, "a multiple of ways x line-bytes x slices, at most 1 GiB")
                .of("bytes")
                .simulator_only();
        /// Lines of a set.
        ways: u32 => integers(1, 1024).of("lines").simulator_only();
        /// Slices, each with its own port.
        slices: u32 => integers(1, 256).of("slices").simulator_only();
        /// Cycles of a hit, and to find a miss.
        latency: u32 => cycles();
        /// Whether upper bits of the line number are folded into the slice's, so that power-of-two pitches
        /// spread over slices; otherwise lines go round the slices.
        slice_hash: bool = true => any("both make a machine").simulator_only();
        /// Cycles a slice is busy with a sector.
        interval: u32 => cycles().simulator_only();
        /// Cycles a slice is busy with one lane's atomic.
        atomic_interval: u32 => cycles().simulator_only();
        /// Energy of reading or writing a sector.
        sector_pj: f64 => picojoules().simulator_only();
        /// Which line of a set makes room for another one, evict-first lines before others.
        replacement: Replacement = Replacement::Lru => any("every policy makes a machine").simulator_only();
        /// How a line number becomes the number of a set.
        index: SetIndex = SetIndex::Hashed => any("both make a machine").simulator_only();
        /// Where stores go.
        write: WritePolicy = WritePolicy::Back => any("both make a machine").simulator_only();
        /// Whether a store that finds no line makes one; without, it goes to the next level.
        write_allocate: bool = true => any("both make a machine").simulator_only();
    }

    /// An SM's translation look-aside buffer.
    Tlb: Copy {
        /// Pages that it knows; 0: there is none. Without any TLB addresses need no translation.
        entries: u32 = 0 => across(validate::tlb_sizes, "0 to 65536, a multiple of ways").of("pages");
        /// Pages of a set.
        ways: u32 = 16 => integers(1, 1024).of("pages");
        /// Size of a page, of both TLBs.
        page_bytes: u32 = 65536 => powers_of_two(4096, 1 << 30).of("bytes");
        /// Cycles that it adds to a request.
        latency: u32 = 0 => cycles();
        /// Which page of a set makes room for another one.
        replacement: Replacement = Replacement::Lru => any("every policy makes a machine");
    }

    /// The TLB that all SMs share, and the page walks behind it.
    SharedTlb: Copy {
        /// Pages that it knows; 0: there is none.
        entries: u32 = 0 => across(validate::tlb_sizes, "0 to 65536, a multiple of ways").of("pages");
        /// Pages of a set.
        ways: u32 = 16 => integers(1, 1024).of("pages");
        /// Cycles that it adds to a request that misses the SM's TLB.
        latency: u32 = 0 => cycles();
        /// Cycles of a page walk, for a page that no TLB knows.
        walk_latency: u32 = 500 => cycles();
        /// Page walks at once.
        walks: u32 = 8 => integers(1, 1024).of("walks");
        /// Which page of a set makes room for another one.
        replacement: Replacement = Replacement::Lru => any("every policy makes a machine");
    }

    /// The network between SMs and L2.
    Network: Copy {
        /// Cycles one way.
        latency: u32 => cycles();
        /// Cycles an SM's port is busy with a sector, in each direction.
        interval: u32 => cycles().simulator_only();
        /// Cycles of requests that wait at an SM's port before its load-store unit has to.
        queue: u32 => cycles().simulator_only();
        /// Cycles a slice's port is busy with a sector, in each direction; 0: it takes any number at once.
        slice_interval: u32 = 0 => cycles().simulator_only();
        /// Energy of moving a sector.
        sector_pj: f64 => picojoules().simulator_only();
    }

    /// Device memory.
    Dram: Copy {
        /// Channels.
        channels: u32 => integers(1, 256).of("channels").simulator_only();
        /// Banks of a channel.
        banks: u32 => integers(1, 256).of("banks").simulator_only();
        /// Bytes of an open row.
        row_bytes: u32 => across(validate::row_bytes, "a power of two from line-bytes to 65536").of("bytes").simulator_only();
        /// Cycles to a sector of the open row.
        row_hit: u32 => cycles();
        /// Cycles to a sector of another row: precharge and activate first.
        row_miss: u32 => cycles().simulator_only();
        /// Cycles between two activations of a bank.
        row_cycle: u32 => cycles().simulator_only();
        /// Cycles a channel is busy with a sector.
        interval: u32 => cycles().simulator_only();
        /// In which order a channel serves requests.
        scheduler: DramScheduler = DramScheduler::InOrder
            => across(validate::scheduler, "fr-fcfs: row-hit of 4 or more").simulator_only();
        /// Requests of a channel among which fr-fcfs chooses; more wait behind them.
        queue: u32 = 32 => integers(1, 4096).of("requests").simulator_only();
        /// Cycles after which the oldest request goes before all others (fr-fcfs); 0: never.
        starvation: u32 = 1000 => cycles().simulator_only();
        /// From an activation to the first access (tRCD). 0: `row-miss` covers precharge, activation and access;
        /// otherwise an access of a row that is not open ends `row-hit` after this, and `row-miss` has no effect.
        t_rcd: u32 = 0 => cycles().simulator_only();
        /// From a precharge to the activation (tRP), where another row is open.
        t_rp: u32 = 0 => cycles().simulator_only();
        /// From an activation to the precharge (tRAS); 0: not modelled.
        t_ras: u32 = 0 => cycles().simulator_only();
        /// Between two accesses of a channel at least (tCCD).
        t_ccd: u32 = 0 => cycles().simulator_only();
        /// Between activations of two banks of a channel (tRRD); 0: not modelled.
        t_rrd: u32 = 0 => cycles().simulator_only();
        /// From the end of a write to the precharge of its bank (tWR); 0: not modelled.
        t_wr: u32 = 0 => cycles().simulator_only();
        /// Added between a read and a write behind it on a channel (tRTW).
        t_rtw: u32 = 0 => cycles().simulator_only();
        /// Added between a write and a read behind it on a channel (tWTR).
        t_wtr: u32 = 0 => cycles().simulator_only();
        /// Between two refreshes of a channel (tREFI); 0: none. A refresh closes all rows.
        t_refi: u32 = 0 => cycles().simulator_only();
        /// Cycles of a refresh, in which the channel does nothing else (tRFC).
        t_rfc: u32 = 0
            => across(validate::refresh, "less than t-refi, or 0").of("cycles").simulator_only();
        /// Parts of an address from its upper bits to its lower ones: `row`, `bank`, `column`, `channel`, each
        /// once as it is; `row` and `column` also with a number of bits, as `column.8`.
        mapping: AddressMapping = AddressMapping::INTERLEAVED
            => across(validate::mapping, "`row` first, bits of `column` for a line at least last").simulator_only();
        /// Whether upper bits are folded into channel and bank, so that power-of-two pitches spread over them.
        hash: bool = true => any("both make a machine").simulator_only();
        /// Energy of reading or writing a sector.
        sector_pj: f64 => picojoules().simulator_only();
        /// Energy of opening a row.
        activate_pj: f64 => picojoules().simulator_only();
    }

    /// The host's memory behind its link.
    SystemMemory: Copy {
        /// Cycles of an access.
        latency: u32 => cycles();
        /// Cycles the link is busy with a sector (or a smaller transaction).
        interval: u32 => cycles();
        /// Energy of moving a sector.
        sector_pj: f64 => picojoules();
    }
}

impl Tlb {
    /// No TLB.
    const NONE: Tlb = Tlb { entries: 0, ways: 16, page_bytes: 65536, latency: 0, replacement: Replacement::Lru };
}

impl SharedTlb {
    /// No TLB.
    const NONE: SharedTlb =
        SharedTlb { entries: 0, ways: 16, latency: 0, walk_latency: 500, walks: 8, replacement: Replacement::Lru };
}

impl Memory {
    /// Cycles of a load that misses all caches and finds its DRAM row open: what the compiler plans with.
    pub fn far_latency(&self) -> u32 {
        self.data.latency + 2 * self.network.latency + self.l2.latency + self.dram.row_hit
    }
}
