//! Handles: how the objects of the driver go to a program as pointers and come back.
//!
//! An object starts with a pointer to the dispatch table, where OpenCL's loader looks for it. The program's
//! references are counted apart from the driver's own (`Arc`), so that `CL_…_REFERENCE_COUNT` tells what the
//! program did, and all of the program's references together are one of the driver's. Objects that exist are listed
//! by their handles: one that is not, or is of another type, is refused without a look at the memory behind it, and
//! what is left at a program's end is known.
//!
//! A handle whose last reference the program has released is refused, too, though the driver may need the object. There are
//! two exceptions, as long as the object exists: those of contexts and programs, which the specification deletes only with
//! the last object that is attached to them, and those that the driver has given the program again, as an answer or in a
//! callback ([`queried_handle`]): that of an event's queue, for example. A program may use them, and retain them.

use std::any::Any;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::cl_int;
use rustc_hash::FxHashMap;

use crate::error::{ApiError, Outcome, error};

/// The table of entry points, which stands above all that has objects.
static TABLE: OnceLock<&'static cl_icd_dispatch> = OnceLock::new();

/// Sets the table of entry points that objects begin with; what was set first stays.
pub fn set_table(table: &'static cl_icd_dispatch) {
    let _same = TABLE.set(table);
}

/// A type that handles stand for.
pub trait Kind: Send + Sync + 'static {
    /// Its name in the specification.
    const NAME: &'static str;
    /// The code for a handle that is none of it.
    const INVALID: cl_int;
    /// Its handle is good as long as another object needs it, also when the program has released it.
    const OUTLIVES_REFERENCES: bool = false;
}

/// An object behind a handle.
#[repr(C)]
pub struct Object<T: Kind> {
    /// Where the loader finds the entry points: the specification of `cl_khr_icd` wants it first.
    dispatch: Option<&'static cl_icd_dispatch>,
    /// The program's references.
    references: AtomicU32,
    value: T,
}

impl<T: Kind> std::ops::Deref for Object<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// A reference of the driver to an object.
pub type Ref<T> = Arc<Object<T>>;

/// An object that exists and that the program knows.
struct Known {
    /// The name of its type.
    name: &'static str,
    object: Weak<dyn Any + Send + Sync>,
    /// The program has references to it.
    referenced: bool,
    /// The program may use it without any.
    outlives_references: bool,
}

impl Known {
    fn is_good<T: Kind>(&self) -> bool {
        self.name == T::NAME && (self.referenced || self.outlives_references)
    }
}

/// Known objects by their handles, in parts that are locked apart.
struct KnownObjects([Mutex<FxHashMap<usize, Known>>; PARTS]);

const PARTS: usize = 16;

static KNOWN: std::sync::LazyLock<KnownObjects> = std::sync::LazyLock::new(|| KnownObjects(Default::default()));

/// Locks what no panic leaves half done.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KnownObjects {
    fn part(&self, handle: usize) -> MutexGuard<'_, FxHashMap<usize, Known>> {
        // Objects are apart by more than a cache line.
        lock(&self.0[(handle >> 7) % PARTS])
    }
}

impl<T: Kind> Object<T> {
    /// A new object, of which the program has no reference yet.
    pub fn new(value: T) -> Ref<T> {
        Arc::new(Object { dispatch: TABLE.get().copied(), references: AtomicU32::new(0), value })
    }

    /// The program's references.
    pub fn references(&self) -> u32 {
        self.references.load(Ordering::Relaxed)
    }
}

impl<T: Kind> Drop for Object<T> {
    fn drop(&mut self) {
        let handle = std::ptr::from_ref(self) as usize;
        KNOWN.part(handle).remove(&handle);
    }
}

/// The handle of an object.
pub fn handle<T: Kind>(object: &Ref<T>) -> *mut c_void {
    Arc::as_ptr(object).cast_mut().cast()
}

/// The handle of an object, for answers to the program's queries, and for its callbacks. It gets no reference by it, but may
/// use it.
pub fn queried_handle<T: Kind>(object: &Ref<T>) -> *mut c_void {
    let handle = handle(object);
    if let Some(known) = KNOWN.part(handle as usize).get_mut(&(handle as usize)) {
        known.outlives_references = true;
    }
    handle
}

/// The handle that a value's object has or had: programs know objects by it that have just ended.
pub fn handle_of_value<T: Kind>(value: &T) -> *mut c_void {
    let address = std::ptr::from_ref(value) as usize - std::mem::offset_of!(Object<T>, value);
    address as *mut c_void
}

/// Gives the program a reference.
pub fn give<T: Kind>(object: Ref<T>) -> *mut c_void {
    let handle = handle(&object);
    let mut part = KNOWN.part(handle as usize);
    if object.references.fetch_add(1, Ordering::Relaxed) == 0 {
        let new = || Known {
            name: T::NAME,
            object: Arc::downgrade(&object) as Weak<dyn Any + Send + Sync>,
            referenced: false,
            outlives_references: T::OUTLIVES_REFERENCES,
        };
        part.entry(handle as usize).or_insert_with(new).referenced = true;
        // The program's references together are one of ours.
        std::mem::forget(object);
    }
    handle
}

/// The object behind a handle.
///
/// # Errors
/// The code for a wrong handle of this type.
pub fn get<T: Kind>(handle: *mut c_void) -> Outcome<Ref<T>> {
    let part = KNOWN.part(handle as usize);
    let known = part.get(&(handle as usize)).filter(|k| k.is_good::<T>());
    // What is about to end cannot be had any more.
    let object = known.and_then(|k| k.object.upgrade());
    drop(part);
    object.and_then(|o| o.downcast::<Object<T>>().ok()).ok_or_else(|| wrong::<T>(handle))
}

/// The objects behind an array of handles.
///
/// # Errors
/// As [`get`], for the first that is wrong.
pub fn get_all<T: Kind>(handles: &[*mut c_void]) -> Outcome<Vec<Ref<T>>> {
    handles.iter().map(|h| get(*h)).collect()
}

/// One more reference for the program.
///
/// # Errors
/// As [`get`].
pub fn retain<T: Kind>(handle: *mut c_void) -> Outcome {
    give(get::<T>(handle)?);
    Ok(())
}

/// One reference of the program less. With the last one the handle is dead, or will be with the object, which ends when the
/// driver needs it no more. Returns the object with the number of references left.
///
/// # Errors
/// As [`get`]; also if the program has no reference.
pub fn release<T: Kind>(handle: *mut c_void) -> Outcome<(Ref<T>, u32)> {
    // This reference keeps the object alive beyond the lock.
    let object = get::<T>(handle)?;
    let mut part = KNOWN.part(handle as usize);
    let Some(known) = part.get_mut(&(handle as usize)).filter(|k| k.referenced) else {
        drop(part);
        return Err(wrong::<T>(handle));
    };
    let left = object.references.fetch_sub(1, Ordering::Relaxed) - 1;
    if left == 0 {
        known.referenced = false;
        // SAFETY: this takes back the reference that `give` forgot when it set `referenced`; `object` is another one.
        unsafe { Arc::decrement_strong_count(handle.cast::<Object<T>>()) };
    }
    drop(part);
    Ok((object, left))
}

fn wrong<T: Kind>(handle: *mut c_void) -> ApiError {
    let what = match KNOWN.part(handle as usize).get(&(handle as usize)) {
        _ if handle.is_null() => "null".into(),
        Some(other) if other.name != T::NAME => format!("a {}", other.name),
        _ => "released, or never was one".into(),
    };
    error(T::INVALID, format!("the {} is {what}", T::NAME))
}

/// Objects that the program has not released, by type.
pub fn alive() -> Vec<(&'static str, u64)> {
    let mut counts = std::collections::BTreeMap::new();
    for part in &KNOWN.0 {
        for known in lock(part).values().filter(|k| k.referenced) {
            *counts.entry(known.name).or_insert(0) += 1;
        }
    }
    counts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencl_sys::{CL_INVALID_EVENT, CL_INVALID_SAMPLER};

    struct A(#[allow(dead_code)] Arc<()>);
    struct B;
    impl Kind for A {
        const NAME: &'static str = "test object";
        const INVALID: cl_int = CL_INVALID_EVENT;
    }
    impl Kind for B {
        const NAME: &'static str = "other test object";
        const INVALID: cl_int = CL_INVALID_SAMPLER;
    }

    #[test]
    fn references_of_the_program_are_counted_apart() {
        let inside = Arc::new(());
        let object = Object::new(A(inside.clone()));
        let handle = give(object.clone());
        assert_eq!((object.references(), handle_of_value(&**object)), (1, handle));
        retain::<A>(handle).unwrap();
        assert_eq!(get::<A>(handle).unwrap().references(), 2);
        assert_eq!(release::<A>(handle).unwrap().1, 1);
        assert_eq!(release::<A>(handle).unwrap().1, 0);
        assert_eq!(get::<A>(handle).err().map(|e| e.code), Some(CL_INVALID_EVENT));
        assert_eq!(Arc::strong_count(&object), 1, "the program's reference is gone");
        drop(object);
        assert_eq!(Arc::strong_count(&inside), 1);
    }

    #[test]
    fn a_handle_that_was_queried_is_good_as_long_as_its_object() {
        let object = Object::new(B);
        let handle = give(object.clone());
        release::<B>(handle).unwrap();
        assert!(get::<B>(handle).is_err(), "the program does not know that the driver has it");
        assert_eq!(queried_handle(&object), handle);
        assert_eq!(get::<B>(handle).unwrap().references(), 0);
        assert!(release::<B>(handle).is_err(), "there is no reference to release");
        retain::<B>(handle).unwrap();
        drop(object);
        assert_eq!(release::<B>(handle).unwrap().1, 0);
        assert!(get::<B>(handle).is_err());
    }

    #[test]
    fn wrong_handles_are_refused_without_a_look() {
        let handle = give(Object::new(B));
        assert_eq!(get::<A>(handle).err().map(|e| e.code), Some(CL_INVALID_EVENT));
        assert_eq!(get::<A>(std::ptr::null_mut()).err().map(|e| e.why.into_owned()).as_deref(), Some("the test object is null"));
        assert!(get::<B>(8 as *mut c_void).is_err());
        assert!(release::<B>(handle).is_ok() && release::<B>(handle).is_err());
    }

    #[test]
    fn a_handle_released_by_one_thread_is_never_half_alive_for_another() {
        for _ in 0..200 {
            let handle = give(Object::new(B)) as usize;
            std::thread::scope(|s| {
                s.spawn(|| (0..50).for_each(|_| drop(get::<B>(handle as *mut c_void))));
                s.spawn(|| release::<B>(handle as *mut c_void).map(|_| ()).unwrap());
            });
            assert!(get::<B>(handle as *mut c_void).is_err());
        }
    }
}
