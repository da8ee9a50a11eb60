//! Surfaces of a kernel: what the driver must put into the descriptor table at launch (G7).
//!
//! A surface is a pointer argument seen with fixed strides. Strides and base are *launch expressions*: sums
//! of products of kernel arguments (words of the constant bank) and sizes of the launch, modulo 2³². Their
//! text form, `4*c[0x20]*gsize.x + 16`, is the same in machine IR and in the object's header.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Special;

/// A factor of a launch expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaunchValue {
    /// A 32-bit word of the constant bank: a kernel argument.
    Constant(u8),
    /// A special register that is the same in the whole launch: sizes, numbers of groups, offsets.
    Special(Special),
}

/// Whether a special register is the same in the whole launch.
fn is_of_launch(s: Special) -> bool {
    use Special::*;
    matches!(
        s,
        GlobalSizeX
            | GlobalSizeY
            | GlobalSizeZ
            | EnqueuedLocalSizeX
            | EnqueuedLocalSizeY
            | EnqueuedLocalSizeZ
            | NumGroupsX
            | NumGroupsY
            | NumGroupsZ
            | GlobalOffsetX
            | GlobalOffsetY
            | GlobalOffsetZ
    )
}

/// A sum of products, modulo 2³².
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchExpression {
    /// Coefficients and factors.
    pub terms: Vec<(u32, Vec<LaunchValue>)>,
}

impl LaunchExpression {
    /// Its value, given that of each factor.
    pub fn evaluate(&self, value: impl Fn(LaunchValue) -> u32) -> u32 {
        let product = |(c, factors): &(u32, Vec<LaunchValue>)| factors.iter().fold(*c, |p, f| p.wrapping_mul(value(*f)));
        self.terms.iter().map(product).fold(0, u32::wrapping_add)
    }

    /// The terms that are known only at launch, and the number that is added to them.
    pub fn parts(&self) -> (Vec<&(u32, Vec<LaunchValue>)>, u32) {
        let of_launch = self.terms.iter().filter(|t| !t.1.is_empty()).collect();
        let numbers = self.terms.iter().filter(|t| t.1.is_empty());
        (of_launch, numbers.fold(0, |sum, t| sum.wrapping_add(t.0)))
    }

    /// With a number added.
    pub fn plus(&self, n: u32) -> Self {
        let mut result = self.clone();
        match result.terms.iter_mut().find(|t| t.1.is_empty()) {
            Some(t) => t.0 = t.0.wrapping_add(n),
            None => result.terms.push((n, Vec::new())),
        }
        result.terms.retain(|t| t.0 != 0);
        result
    }
}

impl fmt::Display for LaunchExpression {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        for (i, (c, factors)) in self.terms.iter().enumerate() {
            write!(f, "{}{}", if i > 0 { " + " } else { "" }, *c as i32)?;
            for factor in factors {
                match factor {
                    LaunchValue::Constant(w) => write!(f, "*c[{:#x}]", u32::from(*w) * 4)?,
                    LaunchValue::Special(s) => write!(f, "*{s}")?,
                }
            }
        }
        Ok(())
    }
}

impl FromStr for LaunchExpression {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in text.split(" + ").map(str::trim).filter(|t| *t != "0") {
            let mut parts = term.split('*');
            let c: i32 = parts.next().and_then(|c| c.parse().ok()).ok_or_else(|| format!("`{term}` begins with no number"))?;
            let factor = |p: &str| -> Result<LaunchValue, String> {
                if let Some(hex) = p.strip_prefix("c[0x").and_then(|p| p.strip_suffix(']')) {
                    let byte = u32::from_str_radix(hex, 16).ok().filter(|b| b % 4 == 0 && *b < 1024);
                    return byte
                        .map(|b| LaunchValue::Constant((b / 4) as u8))
                        .ok_or_else(|| format!("`{p}` is no word of the constant bank"));
                }
                Special::from_str(p)
                    .ok()
                    .filter(|s| is_of_launch(*s))
                    .map(LaunchValue::Special)
                    .ok_or_else(|| format!("`{p}` is not known at launch"))
            };
            terms.push((c as u32, parts.map(factor).collect::<Result<_, _>>()?));
        }
        Ok(LaunchExpression { terms })
    }
}

impl Serialize for LaunchExpression {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LaunchExpression {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What a kernel does with a surface (G2, G3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SurfaceKind {
    /// Read-only, one data type.
    TypedBuffer,
    /// Read-only, several data types.
    RawBuffer,
    /// Written, one data type.
    TypedUav,
    /// Written, several data types.
    UntypedUav,
    /// An image: read and written texel by texel.
    TypedImage,
}

impl SurfaceKind {
    /// Whether the kernel only reads it.
    pub fn is_read_only(self) -> bool {
        matches!(self, SurfaceKind::TypedBuffer | SurfaceKind::RawBuffer)
    }
}

/// The ids that a surface's strides multiply (G8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SurfaceIds {
    /// Global ids, with the global offset.
    #[default]
    Global,
    /// Work-group id times the work-group's own size plus local id, as programs make it by hand.
    Relative,
    /// Local ids.
    Local,
}

impl SurfaceIds {
    /// Whether they are the global ids.
    pub fn is_global(&self) -> bool {
        *self == SurfaceIds::Global
    }
}

/// A surface: a descriptor before launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Surface {
    /// Number of the pointer argument.
    pub argument: u32,
    /// Kind.
    pub kind: SurfaceKind,
    /// What the strides multiply.
    #[serde(default, skip_serializing_if = "SurfaceIds::is_global")]
    pub ids: SurfaceIds,
    /// Bytes from one work-item to the next in each dimension.
    pub strides: [LaunchExpression; 3],
    /// Bytes from the argument's address.
    pub base: LaunchExpression,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_print_parse_and_evaluate() {
        // G7
        for text in ["0", "16", "4*c[0x20]*gsize.x + -8", "1*goffset.y"] {
            let e: LaunchExpression = text.parse().unwrap();
            assert_eq!(e.to_string(), text);
        }
        let e: LaunchExpression = "4*c[0x20]*gsize.x + -8".parse().unwrap();
        let value = |v| if v == LaunchValue::Constant(8) { 5 } else { 100 };
        assert_eq!(e.evaluate(value), 1992);
        assert_eq!(e.plus(8).to_string(), "4*c[0x20]*gsize.x");
        for bad in ["x", "4*gid.x", "4*c[0x21]", "4*lsize.x"] {
            assert!(bad.parse::<LaunchExpression>().is_err(), "{bad}");
        }
    }
}
