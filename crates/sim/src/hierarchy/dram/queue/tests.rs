//! In which order a channel serves what waits, and when.

use super::*;

/// A channel of four banks: a hit takes 100 cycles, a miss 30 to activate and 20 to precharge before, a sector 4.
fn description() -> heddle_target::Dram {
    heddle_target::Dram {
        scheduler: heddle_target::DramScheduler::FrFcfs,
        queue: 8,
        starvation: 0,
        channels: 1,
        banks: 4,
        row_bytes: 1024,
        row_hit: 100,
        row_miss: 999,
        row_cycle: 60,
        t_rcd: 30,
        t_rp: 20,
        interval: 4,
        hash: false,
        ..heddle_target::Machine::default_machine().memory.dram
    }
}

/// Requests of a sector (bank, row, arrival): who is served when, and when it is done, in the order of service.
fn serve(d: heddle_target::Dram, requests: &[(u64, u64, u64)]) -> Vec<(u32, u64, u64)> {
    let mut dram = Dram::new(&d);
    for (bank, row, arrives) in requests {
        dram.enqueue(row << 12 | bank << 10, 1, false, *arrives);
    }
    let mut chosen = Vec::new();
    dram.advance(u64::MAX, &mut chosen);
    assert_eq!(dram.row_hits + dram.row_misses, requests.len() as u64);
    chosen.into_iter().map(|c| (c.number, c.at, c.done)).collect()
}

#[test]
fn requests_for_the_open_row_go_first() {
    // The third is for the row that the first opens; the second waits until the bank can close it.
    let all = serve(description(), &[(0, 0, 0), (0, 1, 1), (0, 0, 2)]);
    assert_eq!(all, [(0, 0, 134), (2, 4, 134), (1, 40, 40 + 20 + 30 + 104)]);
    // In order of age otherwise: of those of a cycle the one made first.
    let all = serve(description(), &[(0, 0, 5), (1, 0, 3), (2, 0, 3)]);
    assert_eq!(all, [(1, 3, 137), (2, 7, 141), (0, 11, 145)]);
}

#[test]
fn banks_that_can_open_a_row_go_before_one_that_cannot() {
    // Bank 0 cannot open another row before cycle 60, less the 20 to close one.
    let all = serve(description(), &[(0, 0, 0), (0, 1, 0), (1, 0, 10), (0, 0, 39), (0, 0, 45)]);
    // The next activation is at 63, and the one after it not before 123.
    assert_eq!(all, [(0, 0, 134), (2, 10, 144), (3, 39, 143), (1, 43, 43 + 154), (4, 103, 103 + 154)]);
}

#[test]
fn a_queue_of_one_is_in_order() {
    let d = heddle_target::Dram { queue: 1, ..description() };
    let all = serve(d, &[(0, 0, 0), (0, 1, 1), (0, 0, 2), (1, 0, 3)]);
    assert_eq!(all.iter().map(|s| s.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let order = |queue| {
        let d = heddle_target::Dram { queue, ..description() };
        serve(d, &[(0, 0, 0), (0, 1, 1), (0, 2, 1), (0, 0, 2)]).into_iter().map(|s| s.0).collect::<Vec<_>>()
    };
    assert_eq!((order(2), order(3)), (vec![0, 1, 2, 3], vec![0, 3, 1, 2]));
}

#[test]
fn the_oldest_goes_first_when_it_has_waited_long_enough() {
    // A stream of hits, one every 4 cycles, keeps the second request waiting.
    let mut requests = vec![(0, 0, 0), (0, 1, 1)];
    requests.extend((0..100).map(|i| (0, 0, 2 + 4 * i)));
    let served = |starvation| {
        let d = heddle_target::Dram { starvation, ..description() };
        serve(d, &requests).into_iter().find(|s| s.0 == 1).map(|s| s.1)
    };
    assert_eq!(served(0), Some(404), "behind all");
    assert_eq!(served(200), Some(204), "the bus is free every 4 cycles, first 200 cycles after cycle 1 at 204");
    assert_eq!(served(203), Some(204));
    assert_eq!(served(204), Some(208));
    // Nobody else is served while its bank is not ready.
    let d = heddle_target::Dram { starvation: 10, ..description() };
    let all = serve(d, &[(0, 0, 0), (0, 1, 1), (1, 0, 11), (0, 0, 12)]);
    assert_eq!(all.iter().map(|s| (s.0, s.1)).collect::<Vec<_>>(), [(0, 0), (1, 40), (2, 44), (3, 100)]);
}

#[test]
fn nothing_is_chosen_in_a_refresh() {
    let d = heddle_target::Dram { t_refi: 1000, t_rfc: 50, ..description() };
    assert_eq!(
        serve(d, &[(0, 0, 990), (0, 0, 1000), (0, 1, 1001)]),
        [(0, 990, 990 + 134), (1, 1050, 1050 + 134), (2, 1090, 1090 + 154)]
    );
}

#[test]
fn choices_do_not_depend_on_how_far_the_channel_is_let_at_once() {
    let requests: Vec<(u64, u64, u64)> = (0..200u64).map(|i| (i * 7 % 4, i * 13 % 5, 3 * i + i * 31 % 40)).collect();
    let d = heddle_target::Dram { t_refi: 300, t_rfc: 20, t_ras: 30, starvation: 100, ..description() };
    let whole = serve(d, &requests);
    for step in [1, 7, 50] {
        let (mut dram, mut chosen) = (Dram::new(&d), Vec::new());
        let mut sorted: Vec<_> = requests.iter().enumerate().collect();
        // Each is made 40 cycles before it can arrive.
        sorted.sort_by_key(|(i, _)| *i);
        let mut made = sorted.into_iter().peekable();
        for now in (0..2000).step_by(step) {
            while let Some((_, (bank, row, arrives))) = made.next_if(|(i, _)| 3 * *i < now + 40) {
                dram.enqueue(row << 12 | bank << 10, 1, false, *arrives);
            }
            dram.advance(now as u64, &mut chosen);
        }
        dram.advance(u64::MAX, &mut chosen);
        let stepped: Vec<_> = chosen.iter().map(|c| (c.number, c.at, c.done)).collect();
        assert_eq!(stepped, whole, "{step}");
    }
}

#[test]
fn one_that_waits_can_be_served_at_once() {
    let mut dram = Dram::new(&description());
    let numbers: Vec<_> = [(0, 0), (0, 4096), (0, 8192)].iter().map(|(t, a)| dram.enqueue(*a, 1, false, *t)).collect();
    assert_eq!(dram.serve_at_once(numbers[2], 7), Some(Chosen { number: 2, at: 7, done: 7 + 134 }));
    assert_eq!(dram.serve_at_once(numbers[2], 7), None);
    let mut chosen = Vec::new();
    dram.advance(48, &mut chosen);
    // The bus is free again at 11, the bank can be closed at 47.
    assert_eq!(chosen, [Chosen { number: 0, at: 47, done: 47 + 154 }]);
}
