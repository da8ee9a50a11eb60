//! Facts about the machine that passes rest on, and how a pipeline's text gives them.

/// What passes may assume about the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Lanes a warp.
    pub warp_size: u32,
    /// Components that an element of a typed surface has at most (G4).
    pub surface_components: u32,
    /// Launches promise that every warp lies in one row of its work-group: rows fill whole warps, or a
    /// work-group is one row. Ids of the other dimensions are then the same in all lanes.
    pub rows_fill_warps: bool,
    /// Work-items that a work-group has at most.
    pub max_work_group_size: u32,
    /// Launches promise that in each dimension global ids, and so sizes and offsets, stay below 2³¹: as `int`s they are
    /// not negative.
    pub short_ids: bool,
    /// Accesses of 8 and 16 bytes of device memory may begin at any word.
    pub unaligned_vectors: bool,
}

/// Parameters of a pass, in angle brackets after its name and separated by `;`, as LLVM's passes
/// have them.
pub const PARAMETERS: &str = "warp-size=8|16|32|64, surface-components=1|2|3|4, rows-fill-warps=0|1, max-work-group-size=N, short-ids=0|1, \
     unaligned-vectors=0|1";

impl Facts {
    /// Of the machine that `heddle target` prints, for launches with ids below 2³¹.
    pub const OF_DEFAULT_MACHINE: Facts = Facts {
        warp_size: 32,
        surface_components: 4,
        rows_fill_warps: false,
        max_work_group_size: 1024,
        short_ids: true,
        unaligned_vectors: true,
    };

    /// The facts with what a parameter says, such as `warp-size=64`; `None` if there is no such
    /// parameter or value.
    pub fn with_parameter(self, parameter: &str) -> Option<Facts> {
        let (name, value) = parameter.split_once('=')?;
        match (name, value.parse().ok()?) {
            ("warp-size", n @ (8 | 16 | 32 | 64)) => Some(Facts { warp_size: n, ..self }),
            ("surface-components", n @ 1..=4) => Some(Facts { surface_components: n, ..self }),
            ("rows-fill-warps", n @ (0 | 1)) => Some(Facts { rows_fill_warps: n == 1, ..self }),
            ("short-ids", n @ (0 | 1)) => Some(Facts { short_ids: n == 1, ..self }),
            ("unaligned-vectors", n @ (0 | 1)) => Some(Facts { unaligned_vectors: n == 1, ..self }),
            ("max-work-group-size", n @ 1..=65536) => Some(Facts { max_work_group_size: n, ..self }),
            _ => None,
        }
    }
}
