//! Buffers and images.
//!
//! Each is a range of device memory, whose addresses are the host's: mapping gives a pointer into it. Memory of
//! the program that an object is to use (`CL_MEM_USE_HOST_PTR`) is copied in when the object is made and kept
//! equal where the specification says, when it is mapped and unmapped. An image's texels stand in device
//! memory without padding.

use std::sync::{Arc, Mutex, PoisonError};

use opencl_sys::*;

use heddle_sim::image::Image;

use super::callbacks::UserData;
use super::context::Context;
use super::device::Device;
use super::transfer::Rows;
use crate::object::{self, Kind, Object, Ref, lock};

/// Is called when the object has ended.
pub type Destructor = unsafe extern "C" fn(cl_mem, *mut std::ffi::c_void);

/// A buffer or image.
pub struct Memory {
    /// Its context.
    pub context: Ref<Context>,
    /// Its device.
    pub device: &'static Device,
    /// As given, with what a parent adds.
    pub flags: cl_mem_flags,
    /// Bytes.
    pub size: usize,
    /// First address in device memory.
    pub address: u64,
    /// What it is.
    pub shape: Shape,
    /// A sub-buffer's buffer, with the first byte in it; or the buffer that an image is of.
    pub parent: Option<(Ref<Memory>, usize)>,
    /// The program's memory that it uses: its address, or 0.
    pub host: usize,
    /// The properties as given, with the zero at the end; none if there were none.
    pub array: Option<Vec<cl_mem_properties>>,
    /// Whether the device memory goes with it.
    pub owns: bool,
    /// Keeps calls that end the object and what is mapped.
    pub uses: Uses,
}

/// What changes in the life of an object.
#[derive(Default)]
pub struct Uses {
    destructors: Mutex<Vec<(Destructor, UserData)>>,
    mappings: Mutex<Vec<Mapping>>,
}

/// Buffer or image.
pub enum Shape {
    /// A buffer.
    Buffer,
    /// An image.
    Image(Box<ImageShape>),
}

/// What is known of an image.
#[derive(Clone, Copy)]
pub struct ImageShape {
    /// As the simulator sees it.
    pub image: Image,
    /// `CL_MEM_OBJECT_IMAGE…`.
    pub image_type: cl_mem_object_type,
    /// Row and slice pitch of the program's memory that it uses, or 0.
    pub host_pitches: (usize, usize),
    /// As the program described it.
    pub format: cl_image_format,
}

/// A mapped region.
#[derive(Clone)]
pub struct Mapping {
    /// The pointer that the program has.
    pub pointer: usize,
    /// Whether the program may write.
    pub writes: bool,
    /// Where it is in device memory, and its extent: bytes, rows, slices.
    pub device: Rows,
    /// Where the program sees it.
    pub host: Rows,
    /// Bytes of a row, rows, slices.
    pub region: [usize; 3],
}

impl Kind for Memory {
    const NAME: &'static str = "memory object";
    const INVALID: cl_int = CL_INVALID_MEM_OBJECT;
}

impl Memory {
    /// `CL_MEM_OBJECT_…`.
    pub fn object_type(&self) -> cl_mem_object_type {
        match &self.shape {
            Shape::Buffer => CL_MEM_OBJECT_BUFFER,
            Shape::Image(image) => image.image_type,
        }
    }

    /// The image, if it is one.
    pub fn image(&self) -> Option<&ImageShape> {
        match &self.shape {
            Shape::Buffer => None,
            Shape::Image(image) => Some(image),
        }
    }

    /// Its device memory as rows of a buffer: byte `offset` and what follows.
    pub fn rows(&self, offset: usize, row_pitch: usize, slice_pitch: usize) -> Rows {
        Rows { start: self.address as usize + offset, row_pitch, slice_pitch }
    }

    /// Notes that the program has mapped a region.
    pub fn map(&self, mapping: Mapping) {
        lock(&self.uses.mappings).push(mapping);
    }

    /// Takes a mapping back by its pointer, the latest first.
    pub fn unmap(&self, pointer: usize) -> Option<Mapping> {
        let mut mappings = lock(&self.uses.mappings);
        let i = mappings.iter().rposition(|m| m.pointer == pointer)?;
        Some(mappings.remove(i))
    }

    /// Mapped regions.
    pub fn mapped(&self) -> usize {
        lock(&self.uses.mappings).len()
    }

    /// Calls this when the object has ended, the last one added first.
    pub fn on_end(&self, destructor: Destructor, data: UserData) {
        lock(&self.uses.destructors).push((destructor, data));
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.owns {
            self.device.free(self.address);
        }
        let destructors = std::mem::take(self.uses.destructors.get_mut().unwrap_or_else(PoisonError::into_inner));
        for (destructor, data) in destructors.into_iter().rev() {
            // SAFETY: the program gave the function for this, and its data. The object has ended: its handle is a
            // name.
            unsafe { destructor(object::handle_of_value(self), data.pointer()) };
        }
    }
}

impl ImageShape {
    /// Bytes of a texel.
    pub fn texel_bytes(&self) -> usize {
        self.image.format.bytes()
    }

    /// Whether layers stand in place of rows: 1-D arrays.
    fn layers_are_rows(&self) -> bool {
        self.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY
    }

    /// Texels, rows and slices as origins and regions count them: the layers of an array are its last dimension.
    pub fn extent(&self) -> [usize; 3] {
        let [width, height, depth] = self.image.size.map(|n| n as usize);
        let layers = self.image.layers as usize;
        match self.image_type {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => [width, layers, 1],
            CL_MEM_OBJECT_IMAGE2D_ARRAY => [width, height, layers],
            _ => [width, height, depth],
        }
    }

    /// Bytes from row to row in device memory.
    pub fn row_pitch(&self) -> usize {
        self.image.size[0] as usize * self.texel_bytes()
    }

    /// Bytes from slice to slice in device memory; for a 1-D array from layer to layer, which are its rows.
    pub fn slice_pitch(&self) -> usize {
        self.row_pitch() * if self.layers_are_rows() { 1 } else { self.image.size[1] as usize }
    }

    /// Where a texel stands, with the pitches from there.
    pub fn rows(&self, address: u64, origin: [usize; 3]) -> Rows {
        self.rows_in(address as usize, origin, self.row_pitch(), self.slice_pitch())
    }

    /// The same in memory with these pitches.
    pub fn rows_in(&self, start: usize, origin: [usize; 3], row_pitch: usize, slice_pitch: usize) -> Rows {
        let [x, y, z] = origin;
        // The rows of a 1-D array are layers, apart by the slice pitch.
        let row_pitch = if self.layers_are_rows() { slice_pitch } else { row_pitch };
        Rows { start: start + x * self.texel_bytes() + y * row_pitch + z * slice_pitch, row_pitch, slice_pitch }
    }

    /// A region's bytes, rows, slices.
    pub fn region(&self, region: [usize; 3]) -> [usize; 3] {
        [region[0] * self.texel_bytes(), region[1], region[2]]
    }
}

/// Whether two objects share device memory, and both ranges if they do.
pub fn overlap(a: &Object<Memory>, b: &Object<Memory>) -> bool {
    a.address < b.address + b.size as u64 && b.address < a.address + a.size as u64
}

/// The object whose device memory it is: a sub-buffer's buffer.
pub fn root(memory: &Ref<Memory>) -> Ref<Memory> {
    memory.parent.as_ref().map_or_else(|| Arc::clone(memory), |(parent, _)| root(parent))
}
