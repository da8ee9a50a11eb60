//! Allocations of shared virtual memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::device::{Device, SvmAllocation};
use crate::error::Outcome;
use crate::object::lock;

/// Regions that are mapped for writing: bytes by their first address.
static MAPPED: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

/// Allocates; returns the address.
///
/// # Errors
/// `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
pub fn allocate(device: &Device, bytes: u64, align: u64) -> Outcome<u64> {
    let address = device.allocate("shared virtual memory", bytes, align)?;
    lock(&device.svm).insert(address, SvmAllocation { bytes });
    Ok(address)
}

/// Gives an allocation back; other addresses are left alone.
pub fn free(device: &Device, address: u64) {
    let gone = lock(&device.svm).remove(&address);
    if gone.is_some() {
        device.free(address);
    }
}

/// The program is about to write a region.
pub fn note_mapped_for_writing(address: u64, bytes: u64) {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner).insert(address, bytes);
}

/// Bytes that a program may have written from an address on, if it was mapped for that; else 0.
pub fn take_mapped(address: u64) -> u64 {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner).remove(&address).unwrap_or(0)
}
