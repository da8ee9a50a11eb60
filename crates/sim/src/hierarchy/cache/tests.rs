//! Lines that come and go, dirty bytes, sectors on their way.

use super::*;

/// Two ways of lines of 128 bytes.
fn organization(lines: u32) -> Organization {
    Organization {
        bytes: lines * 128,
        ways: 2,
        line_bytes: 128,
        sector_bytes: 32,
        misses: 4,
        merges: 0,
        replacement: Replacement::Lru,
        index: SetIndex::Hashed,
        slices: 1,
        number: 0,
    }
}

fn cache(lines: u32) -> Cache {
    Cache::new(&organization(lines))
}

fn bytes(n: u8) -> Vec<u8> {
    vec![n; 128]
}

/// Byte `b` only.
fn byte(b: usize) -> ByteMask {
    let mut m = [0; 4];
    m[b / 64] = 1 << (b % 64);
    m
}

/// Which sectors of a line are on their way with which ticket.
fn pending(c: &Cache, frame: LineFrame, sectors: u64) -> Vec<(Ticket, u64)> {
    let mut parts = SectorTickets::new();
    c.pending(frame, sectors, &mut parts);
    parts.to_vec()
}

#[test]
fn evict_first_lines_go_before_older_ones() {
    let mut c = cache(2);
    c.allocate(1, false);
    c.allocate(2, true);
    let (_, e) = c.allocate(3, false);
    assert_eq!(e.evict_first, Some(true));
    assert!(c.find(1).is_some() && c.find(2).is_none());
    let (_, e) = c.allocate(4, false);
    assert_eq!(e.evict_first, Some(false));
    assert!(c.find(1).is_none() && c.find(3).is_some());
}

#[test]
fn lines_are_found_in_sets_of_any_size() {
    for ways in [1, 2, 3, 8, 12, 16, 20] {
        let mut c = Cache::new(&Organization { ways, ..organization(60 * ways) });
        let lines = || (0..600u64 * u64::from(ways)).map(|n| n * n + 7 * n);
        lines().for_each(|line| drop(c.allocate(line, false)));
        let mut found = 0;
        for line in lines() {
            let frame = c.tags.iter().position(|tag| *tag == line);
            assert_eq!(c.find(line).map(|f| f.0), frame, "{ways} ways, line {line}");
            found += u32::from(frame.is_some());
        }
        assert_eq!((found, c.find(3)), (60 * ways, None), "n² + 7n is never 3");
        let gone = c.tags[0];
        assert!(c.discard(gone) && c.find(gone).is_none());
    }
}

#[test]
fn fills_go_around_dirty_bytes() {
    let mut c = cache(8);
    let (p, _) = c.allocate(5, false);
    c.write(p, &bytes(7), &byte(3), WriteKind::Dirty);
    assert_eq!(c.valid(p), 0);
    c.fill(p, 1, &bytes(9), 10);
    assert_eq!((c.bytes(p)[2], c.bytes(p)[3], c.valid(p)), (9, 7, 1));
    assert_eq!((c.ready(p, 1), c.ready(p, 2)), (10, 0));
    let dirty = c.take(p).unwrap();
    assert_eq!((dirty.line, dirty.bytes), (5, byte(3)));
    assert!(c.find(5).is_none());
}

#[test]
fn bytes_may_stay_where_the_line_is_from() {
    let mut c = cache(8);
    let (p, _) = c.allocate(5, false);
    c.leave_bytes(p);
    c.fill(p, 0b11, &[], 10);
    c.write(p, &[], &byte(3), WriteKind::Dirty);
    assert_eq!((c.has_bytes(p), c.valid(p), c.is_dirty(p), c.ready(p, 0b11)), (false, 0b11, true, 10));
    assert!(c.lines_mut().next().is_none() && c.clean_lines().next().is_none() && c.dirty_lines().next().is_none());
    assert_eq!(c.clean(p), Some(Box::new(DirtyLine { line: 5, data: Vec::new(), bytes: byte(3) })));
    c.take_bytes().for_each(|(line, room)| room.fill(line as u8));
    assert_eq!((c.has_bytes(p), c.valid(p), c.bytes(p)[0]), (true, 0b11, 5));
    // It has some of the line: they stay.
    c.leave_bytes(p);
    assert!(c.has_bytes(p));
    let (q, _) = c.allocate(6, false);
    c.leave_bytes(q);
    c.take(q);
    assert_eq!((c.allocate(6, false).0, c.has_bytes(q)), (q, true), "of another line nothing is said");
}

#[test]
fn a_sector_written_whole_is_valid() {
    let mut c = cache(8);
    let (p, _) = c.allocate(5, false);
    c.write(p, &bytes(7), &[0xffff_ffff << 32, 0, 0, 0], WriteKind::Dirty);
    assert_eq!(c.valid(p), 2);
    assert!(c.clean(p).is_some() && c.clean(p).is_none() && c.valid(p) == 2);
}

/// Lines that fall into the set of line 0, of those given.
fn with_line_0(o: Organization, lines: impl Iterator<Item = LineNumber>) -> Vec<LineNumber> {
    let cache = Cache::new(&o);
    lines.filter(|l| cache.set(*l) == cache.set(0)).collect()
}

#[test]
fn sets_by_lower_bits_or_by_all_hashed_together() {
    let linear = Organization { index: SetIndex::Linear, ..organization(1024) };
    assert_eq!(with_line_0(linear, 0..2000), [0, 512, 1024, 1536]);
    // A pitch of as many lines as there are sets: all in one set, or all in different ones.
    let pitch = || (0..512).map(|i| i * 512);
    assert_eq!(with_line_0(linear, pitch()).len(), 512);
    assert_eq!(with_line_0(organization(1024), pitch()), [0]);
    // Sets that are no power of two.
    assert_eq!(with_line_0(Organization { index: SetIndex::Linear, ..organization(6) }, 0..10), [0, 3, 6, 9]);
    // A slice of four has every fourth line or so, which spread over all its sets.
    let slice = Organization { slices: 4, ..linear };
    assert_eq!(with_line_0(slice, (0..4096).step_by(4)), [0, 2048]);
}

#[test]
fn what_is_written_through_is_clean_and_gives_up_what_is_on_its_way() {
    let mut c = cache(8);
    let (p, _) = c.allocate(5, false);
    c.fill(p, 0b0001, &bytes(1), 10);
    c.fill_later(p, 0b0110, 9);
    // A byte of each of the first three sectors, and the fourth one whole, at cycle 20.
    let mask = [1 | 1 << 32, 1 | 0xffff_ffff << 32, 0, 0];
    c.write(p, &bytes(7), &mask, WriteKind::Through(20));
    assert_eq!((c.valid(p), c.is_dirty(p), c.clean(p)), (0b1001, false, None));
    assert_eq!((c.bytes(p)[0], c.bytes(p)[1], c.bytes(p)[127]), (7, 1, 7));
    assert_eq!(c.ready(p, 0b1111), 10);
    // The answer comes, and nobody waits for it here.
    c.arrive((5, p), 0b0110, 9, &bytes(3), 50);
    assert_eq!((c.valid(p), c.bytes(p)[32]), (0b1001, 7));
    // A sector that arrives at the cycle of the write has arrived.
    c.fill(p, 0b0010, &bytes(2), 20);
    c.write(p, &bytes(8), &byte(33), WriteKind::Through(20));
    assert_eq!((c.valid(p), c.bytes(p)[33], c.bytes(p)[34]), (0b1011, 8, 2));
    c.write(p, &bytes(8), &byte(33), WriteKind::Through(19));
    assert_eq!(c.valid(p), 0b1001);
    c.write(p, &bytes(9), &byte(3), WriteKind::Follows);
    assert_eq!((c.valid(p), c.is_dirty(p), c.bytes(p)[3]), (0b1001, false, 9));
}

#[test]
fn so_many_requests_wait_for_a_line() {
    let mut c = Cache::new(&Organization { merges: 2, ..organization(8) });
    let (p, _) = c.allocate(5, false);
    c.fill_later(p, 0b0001, 9);
    for left in [2, 1] {
        assert!(!c.is_full(5, left, 1000) && c.is_full(5, left + 1, 1000), "{left} left");
        c.merge(p);
    }
    assert!(c.limits_merges() && c.is_full(5, 1, 1000) && !c.is_full(6, 3, 0));
    c.arrive((5, p), 0b0001, 9, &bytes(3), 50);
    assert!(c.is_full(5, 1, 49) && !c.is_full(5, 1, 50));
    c.begin_miss(p);
    assert!(!c.is_full(5, 2, 49) && c.is_full(5, 3, 49));
    c.merge(p);
    assert!(!c.is_full(5, 1, 49) && c.is_full(5, 2, 49));
    // Another line comes to the same frame.
    c.merge(p);
    c.take(p);
    assert_eq!(c.allocate(5, false).0, p);
    c.fill_later(p, 0b0001, 9);
    assert!(!c.is_full(5, 2, 1000) && c.is_full(5, 3, 1000));
    // Without a limit.
    let mut c = cache(8);
    let (p, _) = c.allocate(5, false);
    (0..1000).for_each(|_| c.merge(p));
    assert!(!c.limits_merges());
}

#[test]
fn sectors_arrive_by_their_tickets() {
    let mut c = cache(8);
    let (p, _) = c.allocate(5, false);
    c.fill_later(p, 0b0110, 9);
    c.fill_later(p, 0b1000, 8);
    assert_eq!(pending(&c, p, 0b1110), [(9, 0b0110), (8, 0b1000)]);
    assert_eq!(pending(&c, p, 0b0101), [(9, 0b0100)]);
    c.arrive_at(5, 0b1010, 9, 40);
    assert_eq!((c.ready(p, 0b0011), pending(&c, p, 0b1111)), (40, vec![(9, 0b0100), (8, 0b1000)]));
    c.arrive_at(5, 0b1100, 9, 50);
    assert_eq!((c.ready(p, 0b0111), pending(&c, p, 0b1111)), (50, vec![(8, 0b1000)]));
    c.give_up(5, 0b0110, 40);
    assert_eq!((c.valid(p), c.ready(p, 0b0111)), (0b1010, 40));
}

/// Who keeps where a line is looks it up again after each of these.
#[test]
fn what_changes_a_cache() {
    let mut c = cache(8);
    let (p, _) = c.allocate(5, false);
    let mut last = c.changes();
    let mut changed = |c: &Cache| std::mem::replace(&mut last, c.changes()) != c.changes();
    c.touch(p, false);
    assert!(c.find(5) == Some(p) && !changed(&c));
    c.fill(p, 1, &bytes(1), 10);
    assert!(changed(&c));
    c.fill_later(p, 2, 7);
    assert!(changed(&c));
    c.arrive((5, p), 2, 7, &bytes(1), 20);
    assert!(changed(&c));
    c.give_up(5, 2, 15);
    assert!(changed(&c) && c.valid(p) == 1);
    c.write(p, &bytes(7), &byte(3), WriteKind::Through(0));
    assert!(changed(&c));
    c.restart_clock();
    assert!(changed(&c));
    assert!(c.discard(5) && changed(&c));
    c.allocate(6, false);
    c.discard_range(&(6..=6));
    assert!(changed(&c) && c.find(6).is_none());
}
