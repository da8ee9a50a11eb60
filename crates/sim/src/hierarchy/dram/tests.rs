//! Exact cycles of short sequences, one parameter at a time; the closed forms stand at the top of the module.

use super::*;
use proptest::prelude::*;

/// Two channels of four banks of rows of 1 KiB, of which a hit takes 100 cycles and a sector 4 on the bus.
fn description() -> heddle_target::Dram {
    heddle_target::Dram {
        channels: 2,
        banks: 4,
        row_bytes: 1024,
        row_hit: 100,
        row_miss: 150,
        row_cycle: 40,
        interval: 4,
        hash: false,
        ..heddle_target::Machine::default_machine().memory.dram
    }
}

/// What requests (bank, row, sectors, write, cycle) to one channel take.
fn serve(d: heddle_target::Dram, requests: &[(u64, u64, u32, bool, u64)]) -> Vec<u64> {
    let mut dram = Dram::new(&d);
    // Row, bank, column, channel, 8 bits of column, without folding: row << 13 | bank << 11.
    requests.iter().map(|(bank, row, sectors, write, now)| dram.access(row << 13 | bank << 11, *sectors, *write, *now)).collect()
}

/// Reads of a sector each.
fn reads(d: heddle_target::Dram, requests: &[(u64, u64, u64)]) -> Vec<u64> {
    serve(d, &requests.iter().map(|(bank, row, now)| (*bank, *row, 1, false, *now)).collect::<Vec<_>>())
}

#[test]
fn rows_stay_open_and_the_bus_takes_turns() {
    let mut d = Dram::new(&heddle_target::Dram { hash: true, ..description() });
    assert_eq!(d.access(0, 4, false, 0), 150 + 16);
    // The same row: behind the first transfer.
    assert_eq!(d.access(128, 4, false, 0), 16 + 100 + 16);
    // The other channel is idle.
    assert_eq!(d.access(256, 1, false, 0), 150 + 4);
    assert_eq!((d.row_hits, d.row_misses), (1, 2));
    // Later the row is still open.
    assert_eq!(d.access(0, 1, false, 1000), 1000 + 100 + 4);
}

#[test]
fn another_row_of_the_bank_waits_for_the_row_cycle() {
    assert_eq!(reads(description(), &[(0, 0, 0), (0, 1, 0), (1, 0, 0)]), [154, 40 + 154, 8 + 154]);
    // An activation each, a row cycle apart.
    assert_eq!(reads(description(), &[(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0)]), [154, 194, 234, 274]);
    assert_eq!(reads(description(), &[(0, 0, 0), (0, 1, 39), (0, 0, 79)]), [154, 194, 79 + 104]);
    // One for the row that is opened at 40 is a hit; without tRCD nothing but the bus is waited for.
    assert_eq!(reads(description(), &[(0, 0, 0), (0, 1, 0), (0, 1, 0)])[2], 8 + 104);
    // Behind the last request for it a row of which another one took the place is closed.
    assert_eq!(reads(description(), &[(0, 0, 0), (0, 1, 0), (0, 0, 154)]), [154, 194, 154 + 104]);
    assert_eq!(reads(description(), &[(0, 0, 0), (0, 1, 0), (0, 0, 155)]), [154, 194, 155 + 154]);
}

/// Requests may wait for four rows of a bank at once.
#[test]
fn four_rows_wait() {
    let four = [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 0, 1)];
    assert_eq!(reads(description(), &four)[4], 16 + 104);
    let five = [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0), (0, 0, 1)];
    assert_eq!(reads(description(), &five)[5], 200 + 154);
}

#[test]
fn the_bus_is_taken_for_the_sectors_or_for_t_ccd() {
    let hits = |t_ccd| {
        let d = heddle_target::Dram { t_ccd, ..description() };
        serve(d, &[(0, 0, 1, false, 0), (0, 0, 1, false, 0), (0, 0, 3, false, 0), (0, 0, 1, false, 0)])
    };
    assert_eq!(hits(0), [154, 4 + 104, 8 + 112, 20 + 104]);
    assert_eq!(hits(4), hits(0));
    assert_eq!(hits(5), [154, 5 + 104, 10 + 112, 22 + 104]);
    assert_eq!(hits(12), [154, 12 + 104, 24 + 112, 36 + 104]);
}

#[test]
fn a_row_is_accessed_t_rcd_after_its_activation_and_t_rp_after_another() {
    let d = heddle_target::Dram { t_rcd: 30, t_rp: 20, ..description() };
    // A closed bank; a hit on the row that is being opened; another row; the row that was closed.
    assert_eq!(reads(d, &[(0, 0, 0), (0, 0, 0)]), [30 + 104, 30 + 104]);
    assert_eq!(reads(d, &[(0, 0, 0), (0, 1, 100)]), [134, 100 + 20 + 30 + 104]);
    // The row cycle is longer than the precharge, then as long, then shorter.
    assert_eq!(reads(d, &[(0, 0, 0), (0, 1, 10), (1, 0, 10)]), [134, 40 + 30 + 104, 10 + 30 + 104]);
    assert_eq!(reads(d, &[(0, 0, 0), (0, 1, 20)])[1], 40 + 30 + 104);
    assert_eq!(reads(d, &[(0, 0, 0), (0, 1, 21)])[1], 41 + 30 + 104);
    // The bus and the activation are waited for at the same time.
    let busy = [(1, 0, 8, false, 0), (0, 0, 1, false, 0), (2, 0, 1, false, 20)];
    assert_eq!(serve(d, &busy), [30 + 100 + 32, 32 + 104, 50 + 104]);
    // Without tRCD, tRP comes before the activation all the same.
    assert_eq!(reads(heddle_target::Dram { t_rp: 20, ..description() }, &[(0, 0, 0), (0, 1, 100)]), [154, 120 + 154]);
}

#[test]
fn a_row_is_closed_t_ras_after_its_activation() {
    let d = heddle_target::Dram { t_ras: 60, t_rp: 20, t_rcd: 30, ..description() };
    assert_eq!(reads(d, &[(0, 0, 0), (0, 1, 0)])[1], 60 + 20 + 30 + 104);
    assert_eq!(reads(d, &[(0, 0, 5), (0, 1, 64)])[1], 65 + 20 + 30 + 104);
    assert_eq!(reads(d, &[(0, 0, 5), (0, 1, 66)])[1], 66 + 20 + 30 + 104);
    assert_eq!(reads(d, &[(0, 0, 0), (1, 1, 0)])[1], 134, "another bank");
}

#[test]
fn banks_of_a_channel_are_activated_t_rrd_apart() {
    let d = heddle_target::Dram { t_rrd: 25, t_rcd: 30, ..description() };
    assert_eq!(reads(d, &[(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 74)]), [134, 25 + 134, 50 + 134, 75 + 134]);
    assert_eq!(reads(d, &[(0, 0, 0), (1, 0, 26)])[1], 26 + 134);
}

#[test]
fn a_written_row_is_closed_t_wr_after_the_write() {
    let d = heddle_target::Dram { t_wr: 15, t_rcd: 30, ..description() };
    let next = |write, now| serve(d, &[(0, 0, 1, write, 0), (0, 1, 1, false, now)])[1];
    // The row is there at 30, its sector at 34; `row-hit` is the way of what is read.
    assert_eq!((next(true, 0), next(false, 0)), (34 + 15 + 134, 40 + 134));
    assert_eq!((next(true, 48), next(true, 50)), (49 + 134, 50 + 134));
    // Behind another bank's on the bus, and where `row-miss` stands for tRCD: at once.
    assert_eq!(serve(d, &[(1, 0, 8, false, 0), (0, 0, 1, true, 0), (0, 1, 1, false, 0)])[2], 36 + 15 + 134);
    let plain = heddle_target::Dram { t_rcd: 0, t_wr: 55, ..d };
    assert_eq!(serve(plain, &[(0, 0, 1, true, 0), (0, 1, 1, false, 0)])[1], 54 + 55 + 154);
    // A hit need not wait.
    assert_eq!(serve(d, &[(0, 0, 1, true, 0), (0, 0, 1, false, 40)])[1], 40 + 104);
}

#[test]
fn the_bus_turns() {
    let d = heddle_target::Dram { t_rtw: 7, t_wtr: 9, ..description() };
    let all = |directions: [bool; 4]| serve(d, &directions.map(|w| (0, 0, 1, w, 0)));
    assert_eq!(all([false, false, false, false]), [154, 4 + 104, 8 + 104, 12 + 104]);
    assert_eq!(all([true, true, true, true]), [154, 4 + 104, 8 + 104, 12 + 104]);
    assert_eq!(all([false, true, true, false]), [154, 11 + 104, 15 + 104, 28 + 104]);
    assert_eq!(all([true, false, true, true]), [154, 13 + 104, 24 + 104, 28 + 104]);
    // Not where the bus has been idle for as long.
    assert_eq!(serve(d, &[(0, 0, 1, false, 0), (0, 0, 1, true, 10)])[1], 11 + 104);
    assert_eq!(serve(d, &[(0, 0, 1, false, 0), (0, 0, 1, true, 12)])[1], 12 + 104);
}

#[test]
fn refreshes_close_rows_and_stop_the_channel() {
    let d = heddle_target::Dram { t_refi: 1000, t_rfc: 50, t_rcd: 30, t_rp: 20, ..description() };
    // None at cycle 0.
    assert_eq!(reads(d, &[(0, 0, 0)]), [134]);
    // In a refresh; behind it; the row was open before, and is closed without a precharge.
    assert_eq!(reads(d, &[(0, 0, 0), (0, 0, 1000)])[1], 1050 + 134);
    assert_eq!(reads(d, &[(0, 0, 0), (0, 0, 1049)])[1], 1050 + 134);
    assert_eq!(reads(d, &[(0, 0, 0), (0, 1, 1051)])[1], 1051 + 134);
    assert_eq!(reads(d, &[(0, 0, 0), (0, 0, 999)])[1], 999 + 104);
    // Opened behind the refresh it is open.
    assert_eq!(reads(d, &[(0, 0, 1060), (0, 0, 1900)])[1], 1900 + 104);
    assert_eq!(reads(d, &[(0, 0, 1060), (0, 0, 2020)])[1], 2050 + 134);
    // An activation that would fall into a refresh.
    assert_eq!(reads(d, &[(0, 0, 970), (0, 1, 985)])[1], 1050 + 134);
    // Each channel, without time for it.
    let d = heddle_target::Dram { t_rfc: 0, ..d };
    assert_eq!(reads(d, &[(0, 0, 0), (0, 0, 1000)])[1], 1000 + 134);
}

#[test]
fn a_launch_begins_with_idle_channels_and_open_rows() {
    let d = heddle_target::Dram { t_ras: 60, t_rrd: 25, t_wr: 15, t_wtr: 9, t_rcd: 30, ..description() };
    let mut dram = Dram::new(&d);
    dram.access(0, 4, true, 500);
    dram.restart_clock();
    assert_eq!(dram.access(0, 1, false, 100), 100 + 104);
    dram.restart_clock();
    assert_eq!(dram.access(1 << 13, 1, false, 1), 1 + 134);
}

#[test]
fn parts_of_addresses() {
    let decode = |mapping: &str, hash, address| {
        let d = heddle_target::Dram { mapping: mapping.parse().unwrap(), hash, ..description() };
        AddressDecoder::new(&d).decode(address)
    };
    // 10 bits of column, 2 of bank, 1 of channel.
    let bits = |row: u64, bank: u64, high: u64, channel: u64, low: u64| row << 13 | bank << 11 | high << 9 | channel << 8 | low;
    assert_eq!(decode("row:bank:column:channel:column.8", false, bits(5, 3, 2, 1, 77)), (1, 3, 5));
    assert_eq!(decode("row:bank:channel:column", false, 5 << 13 | 3 << 11 | 1 << 10 | 0x3ff), (1, 3, 5));
    assert_eq!(decode("row:column:bank:channel:column.7", false, 5 << 13 | 7 << 10 | 2 << 8 | 1 << 7 | 127), (1, 2, 5));
    // Lower bits of the row below the bank.
    assert_eq!(decode("row:bank:row.3:channel:column", false, 2 << 16 | 1 << 14 | 6 << 11 | 1 << 10 | 9), (1, 1, 2 << 3 | 6));
    // More bits of column than a row has.
    assert_eq!(decode("row:bank:column:channel:column.20", false, 5 << 13 | 3 << 11 | 1 << 10 | 0x3ff), (1, 3, 5));
    // Folding: of the channel bits 7 and 13 above it, of the bank the row's lower two pairs.
    let channel_at = |bit: u32| decode("row:bank:column:channel:column.8", true, 1 << bit).0;
    assert_eq!((8..24).filter(|b| channel_at(*b) == 1).collect::<Vec<_>>(), [8, 15, 21]);
    let bank_at = |bit: u32| decode("row:bank:column:channel:column.8", true, 1 << bit).1;
    assert_eq!((8..20).map(bank_at).collect::<Vec<_>>(), [0, 0, 0, 1, 2, 1, 2, 1, 2, 0, 0, 0]);
}

proptest! {
    /// The default mapping: blocks of 256 bytes round the channels, rows round the banks, upper bits folded in.
    #[test]
    fn the_default_mapping(address in 0u64..1 << 40, channels in 1u32..20, banks in 1u32..40, log in 8u32..13, hash: bool) {
        let d = heddle_target::Dram { channels, banks, row_bytes: 1 << log, hash, ..description() };
        let (channels, banks) = (u64::from(channels), u64::from(banks));
        let block = address / 256;
        let page = (block / channels * 256 + address % 256) >> log;
        let fold = |upper: u64| if hash { upper } else { 0 };
        let channel = (block ^ fold(block >> 7) ^ fold(block >> 13)) % channels;
        let bank = (page ^ fold(page / banks) ^ fold(page / banks / banks)) % banks;
        prop_assert_eq!(AddressDecoder::new(&d).decode(address), (channel as usize, bank as usize, page / banks));
    }

    /// Whatever the parameters, no request is served before it comes, and time spent waiting is never less with a longer one.
    #[test]
    fn longer_parameters_never_finish_a_lone_bank_sooner(
        rows in proptest::collection::vec((0u64..3, any::<bool>(), 0u64..400), 1..30),
        which in 0usize..7,
        cycles in 1u32..60,
    ) {
        let base = heddle_target::Dram { t_rcd: 10, ..description() };
        let mut longer = base;
        let field = [&mut longer.t_rp, &mut longer.t_ras, &mut longer.t_ccd, &mut longer.t_rrd, &mut longer.t_wr, &mut longer.t_rtw, &mut longer.t_wtr];
        *field.into_iter().nth(which).unwrap() = cycles;
        let mut now = 0;
        let requests: Vec<_> = rows.iter().map(|(row, write, gap)| { now += gap + 400; (0, *row, 1, *write, now) }).collect();
        for ((a, b), r) in serve(base, &requests).iter().zip(serve(longer, &requests)).zip(&requests) {
            prop_assert!(*a <= b && *a >= r.4 + 104);
        }
    }
}
