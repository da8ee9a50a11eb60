//! Answers that are made of others, and loads that get their bytes late.

use super::*;

/// A reply to a ticket at a cycle, of bytes that are all alike, of which `far` sectors came from memory.
fn reply(ticket: Ticket, ready: u64, byte: u8, far: u32) -> Reply {
    Reply::new(ticket, ready, far, Box::new([byte; LONGEST_LINE]))
}

#[test]
fn an_answer_is_made_of_others() {
    let mut d = Deferred::default();
    let [a, b] = [1, 2].map(|not_before| d.new_ticket(None, not_before));
    let whole = d.new_ticket(Some(Box::new([9; LONGEST_LINE])), 3);
    assert_eq!((d.answer(b).not_before, d.answer(b).ready), (2, PENDING));
    let parts: SectorTickets = [(a, 0b001), (b, 0b110)].into_iter().collect();
    d.defer(Continuation::Combine(Box::new(Combination { ticket: whole, base: 15, parts })));
    d.record_reply(reply(a, 10, 1, 0));
    assert!(d.take_known().is_none());
    d.record_reply(reply(b, 20, 2, 0));
    let Some(Continuation::Combine(mut of)) = d.take_known() else { panic!("both have come") };
    assert_eq!((of.ticket, of.base), (whole, 15));
    d.combine(&of, 32);
    assert_eq!(d.answer(whole).ready, 20);
    assert_eq!([0, 31, 32, 95, 96].map(|byte| d.answer(whole).line()[byte]), [1, 1, 2, 2, 9]);
    of.base = 25;
    d.combine(&of, 32);
    assert_eq!(d.answer(whole).ready, 25, "what was known comes last");
}

#[test]
fn a_load_gets_its_bytes_around_those_that_it_keeps() {
    let mut d = Deferred::default();
    let [a, b] = [1, 2].map(|not_before| d.new_ticket(None, not_before));
    let mut offsets = [0; 64];
    (offsets[1], offsets[2]) = (4, 64);
    let (line, keep) = ([9; LONGEST_LINE], [0b1111, 0, 0, 0]);
    let kept = KeptLine { part: 0, lanes: 0b111, line, keep, parts: [(a, 0b001)].into_iter().collect() };
    let offsets: SmallVec<[LaneOffsets; 1]> = std::iter::once(offsets).collect();
    let (kept, asked) = (vec![kept], vec![a, b]);
    let mixed = PendingLoad { kept, offsets: offsets.clone(), bytes: 4, asked, ready: 12, far: 1, ..PendingLoad::default() };
    let lines = std::iter::once(PendingLine { part: 0, lanes: 0b101, ticket: b, asked: true }).collect();
    let mut known = [[0; 64]; 4];
    known[0][1] = 7;
    let known = Some(Box::new(known));
    let rest = PendingLoad { lines, offsets, bytes: 4, far: 2, known, ..PendingLoad::default() };
    d.defer(Continuation::Load(Box::new(mixed)));
    d.defer(Continuation::Load(Box::new(rest)));
    d.record_reply(reply(a, 10, 1, 4));
    d.record_reply(reply(b, 30, 2, 8));
    let mut next = || {
        let Some(Continuation::Load(mut load)) = d.take_known() else { panic!("a load has come") };
        let mut out = [[0; 64]; 4];
        d.complete(&mut load, &mut out, 32);
        (out[0][..4].to_vec(), load.ready, load.far)
    };
    let mixed = next();
    assert_eq!(mixed.0, [0x0909_0909, 0x0101_0101, 0x0909_0909, 0]);
    assert_eq!((mixed.1, mixed.2), (12, 13), "it waits for its lines, and counts what it asked for");
    assert_eq!(next(), (vec![0x0202_0202, 7, 0x0202_0202, 0], 30, 10));
    d.forget();
    assert!(!d.waits_for_answers());
}

#[test]
fn lanes_that_are_cut_and_others_get_their_words() {
    let mut d = Deferred::default();
    let [cut, whole] = [1, 2].map(|not_before| d.new_ticket(None, not_before));
    let line = |part, lanes, ticket| PendingLine { part, lanes, ticket, asked: true };
    let mut load = PendingLoad {
        lines: [line(1, 0b01, cut), line(Part::WHOLE, 0b10, whole)].into_iter().collect(),
        ..PendingLoad::default()
    };
    load.offsets.resize(usize::from(Part::WHOLE) + 1, [0; 64]);
    load.set_bytes(Part { number: 1, lanes: 0b01, bytes: 4 });
    load.set_bytes(Part { number: Part::WHOLE, lanes: 0b10, bytes: 8 });
    d.defer(Continuation::Load(Box::new(load)));
    d.record_reply(reply(cut, 10, 1, 0));
    d.record_reply(reply(whole, 10, 2, 0));
    let Some(Continuation::Load(mut load)) = d.take_known() else { panic!("a load has come") };
    let mut out = [[0; 64]; 4];
    d.complete(&mut load, &mut out, 32);
    assert_eq!([0, 1, 2].map(|word| out[word][..2].to_vec()), [vec![0, 0x0202_0202], vec![0x0101_0101, 0x0202_0202], vec![0, 0]]);
    d.forget();
}

#[test]
fn a_load_that_is_not_completed_keeps_its_answers() {
    let mut d = Deferred::default();
    let [line, whole] = [1, 2].map(|not_before| d.new_ticket(None, not_before));
    let lines = std::iter::once(PendingLine { part: 0, lanes: 1, ticket: line, asked: true }).collect();
    let offsets = std::iter::once([0; 64]).collect();
    d.defer(Continuation::Load(Box::new(PendingLoad { lines, offsets, bytes: 4, ..PendingLoad::default() })));
    let parts: SectorTickets = std::iter::once((line, 0b1)).collect();
    d.defer(Continuation::Combine(Box::new(Combination { ticket: whole, base: 0, parts })));
    d.record_reply(reply(line, 10, 5, 0));
    let Some(Continuation::Load(mut load)) = d.take_known() else { panic!("the load is the first") };
    let Some(combination) = d.take_known() else { panic!("both have come") };
    let Continuation::Combine(of) = &combination else { panic!("it is the second") };
    // The load has not read the bytes, which the other answer gets, too.
    d.combine(of, 32);
    d.release(&combination);
    d.forget();
    assert_eq!((d.answer(whole).line()[0], d.answer(line).line()[0]), (5, 5));
    let mut out = [[0; 64]; 4];
    d.complete(&mut load, &mut out, 32);
    assert_eq!((out[0][0], load.ready), (0x0505_0505, 10));
    d.forget();
    assert!(!d.waits_for_answers());
}

#[test]
fn answers_are_kept_as_long_as_something_waits_for_them() {
    let mut d = Deferred::default();
    let [first, second, third] = [1, 2, 3].map(|not_before| d.new_ticket(None, not_before));
    d.defer(Continuation::Fetch(7, first));
    d.defer(Continuation::Fetch(8, second));
    d.record_reply(reply(first, 10, 1, 0));
    // It has come, and what waits for it has not gone on.
    d.forget();
    assert_eq!((d.answers.len(), d.answer(first).ready), (3, 10));
    let Some(gone) = d.take_known() else { panic!("the first has come") };
    assert!(matches!(gone, Continuation::Fetch(7, _)) && d.take_known().is_none());
    d.release(&gone);
    d.forget();
    assert_eq!((d.answers.len(), d.answer(second).not_before), (2, 2));
    d.record_reply(reply(second, 20, 1, 0));
    let Some(gone) = d.take_known() else { panic!("the second has come") };
    d.release(&gone);
    d.forget();
    assert_eq!((d.answers.len(), d.answer(third).not_before), (1, 3));
    assert_eq!((d.new_ticket(None, 4), d.answer(third + 1).not_before), (third + 1, 4));
}
