//! Kernel arguments from Python's objects: arrays where the kernel takes pointers, numbers and records where it takes values.

use heddle::object::metadata::{ArgumentKind, KernelArgument};
use heddle::runtime::case::{self, Argument, ImageSpec, Launch};
use heddle::sim::image::Image as Shape;
use numpy::npyffi::flags::NPY_ARRAY_WRITEABLE;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use serde_json::Value;

use crate::errors::{InputError, LaunchError};

/// Bytes of the host that a kernel accesses.
#[derive(Clone, Debug)]
pub struct HostBytes {
    /// Host address of the first one.
    pub start: u64,
    /// How many.
    pub bytes: u64,
    /// The kernel may write to them.
    pub written: bool,
    /// So may the host.
    pub writeable: bool,
    /// The kernel's name for them.
    pub name: String,
}

/// An argument as it is given.
pub enum Given {
    /// All that the runtime needs.
    Ready(Argument),
    /// A pointer to an array; or an image in it.
    Array(HostBytes, Option<Shape>),
}

impl Given {
    /// The array, if it is one.
    pub fn array(&self) -> Option<&HostBytes> {
        match self {
            Given::Array(host, _) => Some(host),
            Given::Ready(_) => None,
        }
    }
}

/// Work-group memory for a `__local` pointer: `heddle.local(bytes)`.
#[pyclass(frozen, module = "heddle._native")]
pub struct Local {
    #[pyo3(get)]
    bytes: u32,
}

#[pymethods]
impl Local {
    #[new]
    fn new(bytes: u32) -> Local {
        Local { bytes }
    }
    fn __repr__(&self) -> String {
        format!("heddle.local({})", self.bytes)
    }
}

/// A sampler, in the words of case files.
#[pyclass(frozen, module = "heddle._native")]
pub struct Sampler {
    argument: Argument,
    #[pyo3(get)]
    text: String,
}

#[pymethods]
impl Sampler {
    #[new]
    fn new(text: String) -> PyResult<Sampler> {
        let value: Value = serde_json::from_str(&text).map_err(|e| InputError::new_err(e.to_string()))?;
        let args = vec![[("sampler".to_string(), value)].into()];
        let launch = Launch { kernel: String::new(), global: vec![1], local: None, offset: None, repeat: 1, args };
        let argument = launch.arguments().map_err(|m| InputError::new_err(m.trim_start_matches("[0]: ").to_string()))?;
        Ok(Sampler { argument: argument.into_iter().next().unwrap_or(Argument::Local(0)), text })
    }
}

/// Texels in an array.
#[pyclass(frozen, module = "heddle._native")]
pub struct Image {
    array: Py<PyAny>,
    spec: ImageSpec,
}

#[pymethods]
impl Image {
    /// The array with the texels, and the shape as JSON, as case files have it.
    #[new]
    fn new(py: Python<'_>, array: Py<PyAny>, shape: &str) -> PyResult<Image> {
        let spec: ImageSpec = serde_json::from_str(shape).map_err(|e| InputError::new_err(format!("image: {e}")))?;
        let texels = [spec.width, spec.height, spec.depth, spec.layers].into_iter().map(u64::from);
        let needed = texels.fold(spec.format.bytes() as u64, u64::saturating_mul);
        let have = untyped(array.bind(py)).map_or(0, bytes_of);
        if have < needed {
            return Err(InputError::new_err(format!("image: its texels take {needed} bytes, the array has {have}")));
        }
        Ok(Image { array, spec })
    }
}

/// Kind and bytes of the numbers of an OpenCL C type: `i32` of `int4`. `None` for structures and other names.
fn number_kind(type_name: &str) -> Option<&'static str> {
    Some(match type_name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "char" => "i8",
        "uchar" | "unsigned char" => "u8",
        "short" => "i16",
        "ushort" | "unsigned short" => "u16",
        "int" => "i32",
        "uint" | "unsigned int" => "u32",
        "long" => "i64",
        "ulong" | "unsigned long" => "u64",
        "half" => "f16",
        "float" => "f32",
        "double" => "f64",
        _ => return None,
    })
}

fn untyped<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyUntypedArray>> {
    object.cast::<PyUntypedArray>().ok()
}

fn bytes_of(array: &Bound<'_, PyUntypedArray>) -> u64 {
    array.len() as u64 * array.dtype().itemsize() as u64
}

/// The bytes of an array that a pointer is to.
fn host_bytes(array: &Bound<'_, PyUntypedArray>, parameter: &KernelArgument) -> Result<HostBytes, String> {
    if !array.is_contiguous() {
        return Err("the array is not contiguous; give numpy.ascontiguousarray(…), or a copy".into());
    }
    let dtype = array.dtype();
    let pointee = parameter.type_name.trim_end_matches('*').trim();
    if let Some(wanted) = number_kind(pointee) {
        // An integer's sign is the reader's affair, and complex numbers are pairs.
        let (float, bytes) = (wanted.starts_with('f'), wanted[1..].parse::<usize>().unwrap_or(0) / 8);
        let fits = match dtype.kind() {
            b'i' | b'u' | b'b' => !float && dtype.itemsize() == bytes,
            b'f' => float && dtype.itemsize() == bytes,
            b'c' => float && dtype.itemsize() == 2 * bytes,
            b'V' => true,
            _ => false,
        };
        if !fits {
            let given = dtype.as_any().str().map_or_else(|_| "?".into(), |s| s.to_string());
            let name = wanted.replacen('i', "int", 1).replacen('u', "uint", 1).replacen('f', "float", 1);
            return Err(format!("the kernel takes {pointee}, the array has {given}; give .astype(numpy.{name}) or .view(…)"));
        }
    }
    if dtype.byteorder() == b'>' || dtype.has_object() {
        return Err("the array's elements are in another byte order, or are objects; give .astype(…)".into());
    }
    let pointer = array.as_array_ptr();
    // SAFETY: numpy's own object, which the reference keeps alive.
    let (data, flags) = unsafe { ((*pointer).fields.data, (*pointer).fields.flags) };
    let written = !parameter.read_only && parameter.kind != ArgumentKind::Constant;
    Ok(HostBytes {
        start: data as u64,
        bytes: bytes_of(array),
        written,
        writeable: flags & NPY_ARRAY_WRITEABLE != 0,
        name: parameter.name.clone(),
    })
}

/// A number in the words of case files.
fn number(object: &Bound<'_, PyAny>, float: bool) -> Result<Value, String> {
    if !float {
        let n = object.extract::<i64>().map(Value::from).or_else(|_| object.extract::<u64>().map(Value::from));
        return n.map_err(|_| "is no integer of at most 64 bits".into());
    }
    let n: f64 = object.extract().map_err(|_| "is no number")?;
    Ok(match n {
        n if n.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        n => n.into(),
    })
}

/// A value by the kernel's type, or bytes as they are.
fn value(object: &Bound<'_, PyAny>, parameter: &KernelArgument) -> Result<Argument, String> {
    let kind = number_kind(&parameter.type_name);
    let vector = parameter.type_name.ends_with(|c: char| c.is_ascii_digit());
    let failed = |m: String| format!("`{}` takes {}: {m}", parameter.name, parameter.type_name);
    if let Some(kind) = kind.filter(|_| !object.is_instance_of::<PyBytes>()) {
        let float = kind.starts_with('f');
        let elements = match (vector, object.cast::<PyTuple>(), object.cast::<PyList>()) {
            (true, Ok(tuple), _) => Some(tuple.iter().map(|e| number(&e, float)).collect::<Result<Vec<_>, _>>()),
            (true, _, Ok(list)) => Some(list.iter().map(|e| number(&e, float)).collect::<Result<Vec<_>, _>>()),
            (false, ..) => Some(number(object, float).map(|n| vec![n])),
            _ => None,
        };
        if let Some(elements) = elements {
            let elements = elements.map_err(failed)?;
            let given = if vector { Value::Array(elements) } else { elements.into_iter().next().unwrap_or_default() };
            let bytes = case::scalar_bytes(kind, &given).map_err(failed)?;
            return Ok(Argument::Value { bytes, float: Some(float) });
        }
    }
    let bytes = match object.cast::<PyBytes>() {
        Ok(bytes) => bytes.as_bytes().to_vec(),
        Err(_) => object.call_method0("tobytes").and_then(|b| b.extract()).map_err(|_| {
            let how = if vector { "a tuple of numbers, a numpy array" } else { "a numpy scalar or record" };
            format!("`{}` takes {}: give {how} or bytes", parameter.name, parameter.type_name)
        })?,
    };
    let mut bytes: Vec<u8> = bytes;
    // Vectors of three have the room of four.
    let size = parameter.size as usize;
    if parameter.type_name.ends_with('3') && vector && bytes.len() * 4 == size * 3 {
        bytes.resize(size, 0);
    }
    Ok(Argument::Value { bytes, float: None })
}

/// Reads the arguments of a call.
///
/// # Errors
/// `LaunchError` with the argument's number, name and type.
pub fn read(kernel: &str, parameters: &[&KernelArgument], arguments: &Bound<'_, PyTuple>) -> PyResult<Vec<Given>> {
    if parameters.len() != arguments.len() {
        let wanted: Vec<String> = parameters.iter().map(|p| format!("{} {}", p.type_name, p.name).trim().to_string()).collect();
        let given = arguments.len();
        let message =
            format!("kernel `{kernel}` takes {} arguments ({}), {given} are given", parameters.len(), wanted.join(", "));
        return Err(LaunchError::new_err(message));
    }
    let read = |(i, (object, parameter)): (usize, (Bound<'_, PyAny>, &&KernelArgument))| {
        one(&object, parameter).map_err(|m| {
            let (ty, name) = (&parameter.type_name, &parameter.name);
            LaunchError::new_err(format!("argument {i} (`{ty} {name}`) of kernel `{kernel}`: {m}"))
        })
    };
    arguments.iter().zip(parameters).enumerate().map(read).collect()
}

/// Reads one argument.
fn one(object: &Bound<'_, PyAny>, parameter: &KernelArgument) -> Result<Given, String> {
    use ArgumentKind::{Constant, Global, Image as ImageKind, Local as LocalKind, PrintfBuffer, Sampler as SamplerKind, Value};
    Ok(match parameter.kind {
        Global | Constant if object.is_none() => Given::Ready(Argument::Pointer { address: 0 }),
        Global | Constant => {
            let array = untyped(object).ok_or("it is a pointer; give a numpy array, an array of the machine's, or None")?;
            Given::Array(host_bytes(array, parameter)?, None)
        }
        ImageKind => {
            // The package's own class has it inside.
            let inner = object.getattr(pyo3::intern!(object.py(), "_native"));
            let image = inner.as_ref().map_or(object, |inner| inner);
            let image = image.cast::<Image>().map_err(|_| "it is an image; give machine.image(…)")?.get();
            let array = image.array.bind(object.py());
            let array = untyped(array).ok_or("the image has no array")?;
            let shape = image.spec.shape(&parameter.type_name)?;
            Given::Array(host_bytes(array, parameter)?, Some(shape))
        }
        LocalKind => {
            let local = object.cast::<Local>().map_err(|_| "it is work-group memory; give heddle.local(BYTES)")?;
            Given::Ready(Argument::Local(local.get().bytes))
        }
        SamplerKind => {
            let sampler = object.cast::<Sampler>().map_err(|_| "it is a sampler; give heddle.sampler(…)")?;
            Given::Ready(sampler.get().argument.clone())
        }
        Value | PrintfBuffer => Given::Ready(value(object, parameter)?),
    })
}
