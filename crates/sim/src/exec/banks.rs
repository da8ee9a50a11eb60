//! Bank conflicts of work-group memory.
//!
//! Word `w` is in bank `w` modulo the number of banks, and a bank gives one word a cycle, to all lanes that
//! want it. So an access takes as many cycles as the bank with the most different words has of them. Knows
//! addresses only.

/// Cycles of an access to work-group memory: lanes that touch different words of one bank go one after the other.
pub fn bank_conflicts(addresses: impl Iterator<Item = u64> + Clone, bytes: u32, banks: usize) -> u32 {
    /// Lanes of a warp by words of an access, at most.
    const MOST: usize = 64 * 5;
    if let Some(cycles) = without_conflict(addresses.clone(), bytes, banks) {
        return cycles;
    }
    let (mut words, mut count) = ([0u64; MOST], 0);
    for a in addresses {
        for w in a / 4..=(a + u64::from(bytes) - 1) / 4 {
            // Neighbours often read the same word.
            if count < MOST && (count == 0 || words[count - 1] != w) {
                words[count] = w;
                count += 1;
            }
        }
    }
    let words = &mut words[..count];
    // The machine description's limit.
    let mut load = [0u16; 1024];
    let banks = banks.clamp(1, load.len());
    let bank = |w: u64| if banks.is_power_of_two() { w as usize & (banks - 1) } else { w as usize % banks };
    let mut most = 0;
    for w in words.iter() {
        let l = &mut load[bank(*w)];
        *l += 1;
        most = most.max(*l);
    }
    if most > 1 {
        // Some of them may be the same word after all.
        words.sort_unstable();
        load.fill(0);
        most = 0;
        let mut last = None;
        for w in words.iter().filter(|w| last.replace(**w) != Some(**w)) {
            let l = &mut load[bank(*w)];
            *l += 1;
            most = most.max(*l);
        }
    }
    u32::from(most)
}

/// The frequent case: no two words in one bank.
#[inline(always)]
fn without_conflict(addresses: impl Iterator<Item = u64>, bytes: u32, banks: usize) -> Option<u32> {
    if !banks.is_power_of_two() || banks > 64 {
        return None;
    }
    let (mut seen, mut words) = (0u64, [0u64; 64]);
    for a in addresses {
        for w in a / 4..=(a + u64::from(bytes) - 1) / 4 {
            let bank = w as usize & (banks - 1);
            if seen >> bank & 1 == 1 && words[bank] != w {
                return None;
            }
            seen |= 1 << bank;
            words[bank] = w;
        }
    }
    Some(u32::from(seen != 0))
}
