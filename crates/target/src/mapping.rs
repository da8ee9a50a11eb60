//! How an address of device memory is cut into channel, bank, row and column: a field in words such as
//! `row:bank:column:channel:column.8`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::describe::{Allowed, Described, Sort, Violation};

/// Parts of a mapping at most.
const MOST: usize = 8;

/// What some bits of an address are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum AddressPart {
    /// The row of a bank.
    Row,
    /// The bank of a channel.
    Bank,
    /// The byte of a row.
    Column,
    /// The channel.
    Channel,
}

/// Some bits of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressField {
    /// What they are.
    pub part: AddressPart,
    /// How many there are at most; all that are left of the part if this is not said.
    pub bits: Option<u32>,
}

/// Which bits of an address are its channel, bank, row and column.
///
/// ```
/// use heddle_target::{AddressMapping, AddressPart};
/// let mapping: AddressMapping = "row:bank:column:channel:column.8".parse()?;
/// let lowest = mapping.from_low().next();
/// assert_eq!(lowest.map(|f| (f.part, f.bits)), Some((AddressPart::Column, Some(8))));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressMapping {
    /// From the upper bits to the lower ones; the first `count`.
    fields: [AddressField; MOST],
    count: usize,
}

impl AddressMapping {
    /// Blocks of 256 bytes go round the channels, rows of a channel round its banks.
    pub const INTERLEAVED: AddressMapping = {
        const fn field(part: AddressPart, bits: Option<u32>) -> AddressField {
            AddressField { part, bits }
        }
        let mut fields = [field(AddressPart::Row, None); MOST];
        fields[1] = field(AddressPart::Bank, None);
        fields[2] = field(AddressPart::Column, None);
        fields[3] = field(AddressPart::Channel, None);
        fields[4] = field(AddressPart::Column, Some(8));
        AddressMapping { fields, count: 5 }
    };

    /// The fields from the lower bits to the upper ones.
    pub fn from_low(&self) -> impl Iterator<Item = AddressField> {
        self.fields.into_iter().take(self.count).rev()
    }
}

impl fmt::Display for AddressMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, field) in self.fields.iter().take(self.count).enumerate() {
            write!(f, "{}{}", if i > 0 { ":" } else { "" }, field.part)?;
            if let Some(bits) = field.bits {
                write!(f, ".{bits}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for AddressMapping {
    type Err = String;

    fn from_str(text: &str) -> Result<AddressMapping, String> {
        let mut mapping = AddressMapping { count: 0, ..AddressMapping::INTERLEAVED };
        for word in text.split(':') {
            let (name, bits) = word.split_once('.').map_or((word, None), |(n, b)| (n, Some(b)));
            let part = name.parse().map_err(|_| format!("`{name}` is none of row, bank, column and channel"))?;
            let bits = bits.map(|b| b.parse().ok().filter(|b| (1..=32).contains(b)).ok_or_else(|| bad_bits(b))).transpose()?;
            let field = AddressField { part, bits };
            *mapping.fields.get_mut(mapping.count).ok_or_else(|| format!("more than {MOST} parts"))? = field;
            mapping.count += 1;
        }
        let fields = &mapping.fields[..mapping.count];
        for part in [AddressPart::Row, AddressPart::Bank, AddressPart::Column, AddressPart::Channel] {
            let whole = fields.iter().filter(|f| f.part == part && f.bits.is_none()).count();
            if whole != 1 {
                return Err(format!("`{part}` must stand once without a number of bits"));
            }
            let split = fields.iter().any(|f| f.part == part && f.bits.is_some());
            if split && matches!(part, AddressPart::Bank | AddressPart::Channel) {
                return Err(format!("`{part}` cannot be in several parts"));
            }
        }
        if fields[0] != (AddressField { part: AddressPart::Row, bits: None }) {
            return Err("the upper bits must be `row`".into());
        }
        if fields[fields.len() - 1].part != AddressPart::Column {
            return Err("the lower bits must be of `column`".into());
        }
        Ok(mapping)
    }
}

fn bad_bits(bits: &str) -> String {
    format!("`{bits}` is no number of bits from 1 to 32")
}

impl Serialize for AddressMapping {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AddressMapping {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<AddressMapping, D::Error> {
        String::deserialize(from)?.parse().map_err(|e| serde::de::Error::custom(format!("invalid address mapping: {e}")))
    }
}

impl Described for AddressMapping {
    const SORT: Sort = Sort::Text;
    fn kind() -> String {
        "text".into()
    }
    fn check(&self, _: &str, _: Allowed) -> Result<(), Violation> {
        Ok(())
    }
    fn forget(&mut self, whole: bool) {
        *self = if whole { AddressMapping::INTERLEAVED } else { *self };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_mappings_and_back() {
        for text in ["row:bank:column:channel:column.8", "row:column:bank:row.3:channel:column.7", "row:bank:channel:column"] {
            assert_eq!(text.parse::<AddressMapping>().unwrap().to_string(), text);
        }
        assert_eq!("row:bank:column:channel:column.8".parse(), Ok(AddressMapping::INTERLEAVED));
    }

    #[test]
    fn what_is_no_mapping_is_refused_with_a_reason() {
        for (text, reason) in [
            ("", "`` is none of row, bank, column and channel"),
            ("row:bank:rank:column", "`rank` is none of"),
            ("row:bank:column", "`channel` must stand once without"),
            ("row:bank:channel:column.4", "`column` must stand once without"),
            ("row:bank:channel:column:channel:column.8", "`channel` must stand once without"),
            ("row:bank:channel:bank.2:column", "`bank` cannot be in several parts"),
            ("row:bank:channel:column:column.0", "`0` is no number of bits from 1 to 32"),
            ("row:bank:channel:column:column.x", "`x` is no number of bits"),
            ("bank:row:channel:column", "the upper bits must be `row`"),
            ("row:bank:column:channel", "the lower bits must be of `column`"),
            ("row:bank:channel:column:row.1:row.1:row.1:row.1:column.7", "more than 8 parts"),
        ] {
            let error = text.parse::<AddressMapping>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
