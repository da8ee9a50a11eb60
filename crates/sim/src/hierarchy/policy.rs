//! The policy tables K3 and K4: what a load or store does in L1 and in L2, by address space and cache policy.
//!
//! *Local* is the publication's word for memory of a work-item, [`MemorySpace::Private`] here.

use heddle_isa::{CachePolicy, MemorySpace};

/// What an access does in L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum L1Policy {
    /// The line is kept, evicted by age.
    Normal,
    /// The line is kept, and is the first to be evicted.
    EvictFirst,
    /// A matching line is discarded and none is left.
    NoCache,
    /// If the warp covers the whole line: it is read, invalidated and not written back. Else it is the first to be evicted.
    LastUse,
}

/// What an access does in L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum L2Policy {
    /// The line is kept, evicted by age.
    Normal,
    /// The line is kept, and is the first to be evicted.
    EvictFirst,
    /// The matching line is dropped and fetched again, every time.
    VolatileFetch,
    /// Each store goes through to memory by itself.
    WriteThrough,
}

/// A row: scope and policy, what happens in L1, in L2 for lines of device memory, in L2 for lines of system memory.
#[derive(Clone, Copy, Debug)]
pub struct AccessPolicy {
    /// Memory of the work-item instead of global memory.
    pub private: bool,
    /// The policy as encoded; one encoding serves `.cs` and `.lu`.
    pub policy: CachePolicy,
    /// As assembly writes it.
    pub name: &'static str,
    /// What happens in L1.
    pub l1: L1Policy,
    /// What happens in L2 to lines of device memory.
    pub l2_device: L2Policy,
    /// What happens in L2 to lines of system memory; private memory is always in device memory.
    pub l2_system: L2Policy,
}

const fn row(
    private: bool,
    policy: CachePolicy,
    name: &'static str,
    l1: L1Policy,
    l2_device: L2Policy,
    l2_system: L2Policy,
) -> AccessPolicy {
    AccessPolicy { private, policy, name, l1, l2_device, l2_system }
}

/// K3: what loads do.
#[rustfmt::skip]
pub static LOADS: [AccessPolicy; 8] = [
    //  private  policy                name  L1                 L2, device          L2, system
    row(false, CachePolicy::Default, "ca", L1Policy::Normal,     L2Policy::Normal,      L2Policy::Normal),
    row(false, CachePolicy::Cg,      "cg", L1Policy::NoCache,    L2Policy::Normal,      L2Policy::Normal),
    row(false, CachePolicy::Cs,      "cs", L1Policy::EvictFirst, L2Policy::EvictFirst,  L2Policy::EvictFirst),
    row(false, CachePolicy::Cv,      "cv", L1Policy::NoCache,    L2Policy::EvictFirst,  L2Policy::VolatileFetch),
    row(true,  CachePolicy::Default, "ca", L1Policy::Normal,     L2Policy::Normal,      L2Policy::Normal),
    row(true,  CachePolicy::Cg,      "cg", L1Policy::EvictFirst, L2Policy::Normal,      L2Policy::Normal),
    row(true,  CachePolicy::Cs,      "lu", L1Policy::LastUse,    L2Policy::EvictFirst,  L2Policy::EvictFirst),
    row(true,  CachePolicy::Cv,      "cv", L1Policy::EvictFirst, L2Policy::EvictFirst,  L2Policy::EvictFirst),
];

/// K4: what stores do.
#[rustfmt::skip]
pub static STORES: [AccessPolicy; 8] = [
    row(false, CachePolicy::Default, "wb", L1Policy::NoCache,    L2Policy::Normal,      L2Policy::Normal),
    row(false, CachePolicy::Cg,      "cg", L1Policy::NoCache,    L2Policy::Normal,      L2Policy::Normal),
    row(false, CachePolicy::Cs,      "cs", L1Policy::NoCache,    L2Policy::EvictFirst,  L2Policy::EvictFirst),
    row(false, CachePolicy::Wt,      "wt", L1Policy::NoCache,    L2Policy::EvictFirst,  L2Policy::WriteThrough),
    row(true,  CachePolicy::Default, "wb", L1Policy::Normal,     L2Policy::Normal,      L2Policy::Normal),
    row(true,  CachePolicy::Cg,      "cg", L1Policy::EvictFirst, L2Policy::Normal,      L2Policy::Normal),
    row(true,  CachePolicy::Cs,      "cs", L1Policy::EvictFirst, L2Policy::EvictFirst,  L2Policy::EvictFirst),
    row(true,  CachePolicy::Wt,      "wt", L1Policy::EvictFirst, L2Policy::EvictFirst,  L2Policy::EvictFirst),
];

/// The row of an access; the first of its space for a policy that the rules of the instruction set let through for neither.
pub fn of(table: &'static [AccessPolicy; 8], space: MemorySpace, policy: CachePolicy) -> &'static AccessPolicy {
    let rows = if space == MemorySpace::Private { &table[4..] } else { &table[..4] };
    rows.iter().find(|r| r.policy == policy).unwrap_or(&rows[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    const K3: &str = "Global: ca normal/normal/normal · cg no-cache/normal/normal · cs evict-first/evict-first/evict-first · \
        cv no-cache/evict-first/volatile-fetch. Local: ca normal/normal · cg evict-first/normal · lu \
        last-use/evict-first · cv evict-first/evict-first";
    const K4: &str = "Global: wb no-cache/normal/normal · cg no-cache/normal/normal · cs no-cache/evict-first/evict-first · \
        wt no-cache/evict-first/write-through. Local: wb normal/normal · cg evict-first/normal · cs \
        evict-first/evict-first · wt evict-first/evict-first";

    /// K3, K4: the tables are the rules' sentences, cell by cell; printed side by side.
    #[test]
    fn tables_are_the_rules() {
        for (title, rule, table) in [("K3 loads", K3, &LOADS), ("K4 stores", K4, &STORES)] {
            println!("{title:<10} {:<44} rule", "L1 / L2 device / L2 system");
            let mut rows = table.iter();
            for (part, private) in rule.split(". Local: ").zip([false, true]) {
                for cell in part.trim_start_matches("Global: ").split(" · ") {
                    let row = rows.next().unwrap();
                    let shown = if private {
                        format!("{} {}/{}", row.name, row.l1, row.l2_device)
                    } else {
                        format!("{} {}/{}/{}", row.name, row.l1, row.l2_device, row.l2_system)
                    };
                    println!("{:<10} {shown:<44} {cell}", if private { "private" } else { "global" });
                    assert_eq!((shown.as_str(), row.private), (cell.trim(), private));
                }
            }
            assert!(rows.next().is_none());
        }
    }
}
