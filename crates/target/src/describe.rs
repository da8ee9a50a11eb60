//! Rows that describe a machine: a field is one row of a table with its meaning, type, default, range and
//! unit.
//!
//! ```text
//! /// Work-group memory.
//! local_memory: u32 => integers(0, 1 << 24).of("bytes");
//! ```
//!
//! From the row come the field of the struct, its name in TOML files and in `--set` (`local-memory`), the
//! check of its value with the sentence of a refusal, and its line in `heddle target --fields` and
//! docs/FIELDS.md. With `= value` after the type the field may be left out of files. What a field must
//! satisfy together with others is a function of [`crate::validate`], named in the row: [`Rule::and`],
//! [`across`].

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Serialize;

use crate::Machine;

/// A value that makes no machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Dotted path of the field.
    pub field: String,
    /// Its value, as text.
    pub value: String,
    /// What it must satisfy.
    pub rule: String,
}

/// Checks one value.
pub(crate) fn check(ok: bool, field: &str, value: &dyn Display, rule: &str) -> Result<(), Violation> {
    if ok { Ok(()) } else { Err(Violation { field: field.into(), value: value.to_string(), rule: rule.into() }) }
}

/// A field of a description.
#[derive(Debug)]
pub struct Field {
    /// Its name in the program; [`Field::name`] is the name in files.
    pub(crate) ident: &'static str,
    /// What it means: sentences.
    pub(crate) doc: &'static str,
    /// What its value must satisfy.
    pub(crate) rule: Rule,
    /// The value that it has where a file leaves it out, as TOML; without it files must say it.
    pub(crate) default: Option<fn() -> String>,
    /// The type of its value.
    pub(crate) kind: fn() -> String,
    /// How the elements of a list or map are named in paths; empty if it is neither.
    pub(crate) step: &'static str,
    /// What the table is that it holds, or each of its elements.
    pub(crate) about: &'static str,
    /// The fields of that table.
    pub(crate) inner: &'static [Field],
}

impl Field {
    /// The name in files: words with hyphens.
    pub fn name(&self) -> String {
        file_name(self.ident)
    }

    /// What it means, in one line.
    pub fn doc(&self) -> String {
        one_line(self.doc)
    }
}

/// A documentation comment in one line.
pub(crate) fn one_line(doc: &str) -> String {
    doc.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_string()
}

/// `local_memory` as files have it.
pub(crate) fn file_name(ident: &str) -> String {
    ident.replace('_', "-")
}

/// What the value of a field must satisfy.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// By itself.
    pub(crate) allowed: Allowed,
    /// Together with other fields.
    pub(crate) across: Option<Across>,
    /// What it counts or measures; empty for a plain number, a name or a table.
    pub(crate) unit: &'static str,
    /// Whether only the simulator reads it: machines that differ in nothing else have the same code.
    pub(crate) simulator_only: bool,
}

/// Values that a field may have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Allowed {
    /// Integers of a range, both ends included.
    Integers(u64, u64),
    /// The same, said in KiB, GiB and so on.
    Sizes(u64, u64),
    /// Powers of two of a range, both ends included.
    PowersOfTwo(u64, u64),
    /// These numbers only, in ascending order.
    OneOf(&'static [u64]),
    /// Finite numbers from 0.
    FromZero,
    /// Finite numbers above 0.
    Positive,
    /// Text that can stand in a line of a report.
    Name,
    /// A table: its fields have rules of their own.
    Fields,
    /// Anything of the type. The reason stands in the documentation; it is empty where a rule across fields
    /// says more.
    Any(&'static str),
}

/// A rule about several fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Across {
    /// What it demands, for the documentation.
    pub text: &'static str,
    /// The check. The values of all fields have passed their own rules before.
    pub check: fn(&Machine) -> Result<(), Violation>,
}

/// Integers, both ends included.
pub(crate) const fn integers(low: u64, high: u64) -> Rule {
    rule(Allowed::Integers(low, high))
}

/// Bytes, both ends included; messages have them in binary units.
pub(crate) const fn sizes(low: u64, high: u64) -> Rule {
    rule(Allowed::Sizes(low, high)).of("bytes")
}

/// Powers of two, both ends included.
pub(crate) const fn powers_of_two(low: u64, high: u64) -> Rule {
    rule(Allowed::PowersOfTwo(low, high))
}

/// These numbers only.
pub(crate) const fn one_of(numbers: &'static [u64]) -> Rule {
    rule(Allowed::OneOf(numbers))
}

/// Finite numbers from 0.
pub(crate) const fn from_zero() -> Rule {
    rule(Allowed::FromZero)
}

/// Energies.
pub(crate) const fn picojoules() -> Rule {
    from_zero().of("pJ")
}

/// Latencies and intervals of the memory hierarchy.
pub(crate) const fn cycles() -> Rule {
    integers(0, 100_000).of("cycles")
}

/// Finite numbers above 0.
pub(crate) const fn positive() -> Rule {
    rule(Allowed::Positive)
}

/// A name.
pub(crate) const fn name() -> Rule {
    rule(Allowed::Name)
}

/// A table, or tables.
pub(crate) const fn fields() -> Rule {
    rule(Allowed::Fields)
}

/// Anything of the type; `reason`: why nothing is refused.
pub(crate) const fn any(reason: &'static str) -> Rule {
    rule(Allowed::Any(reason))
}

/// Only what a check of several fields allows.
pub(crate) const fn across(check: fn(&Machine) -> Result<(), Violation>, text: &'static str) -> Rule {
    any("").and(check, text)
}

const fn rule(allowed: Allowed) -> Rule {
    Rule { allowed, across: None, unit: "", simulator_only: false }
}

impl Rule {
    /// With a unit.
    pub(crate) const fn of(self, unit: &'static str) -> Rule {
        Rule { unit, ..self }
    }

    /// Of a field that code does not depend on.
    pub(crate) const fn simulator_only(self) -> Rule {
        Rule { simulator_only: true, ..self }
    }

    /// And a check of several fields.
    pub(crate) const fn and(self, check: fn(&Machine) -> Result<(), Violation>, text: &'static str) -> Rule {
        Rule { across: Some(Across { text, check }), ..self }
    }

    /// Everything that the value must satisfy, for the documentation; of a table nothing.
    pub fn text(&self) -> String {
        let own = match self.allowed {
            Allowed::Any(reason) => reason.to_string(),
            Allowed::Fields => String::new(),
            _ => self.allowed.text(),
        };
        let parts = [own, self.across.map_or("", |a| a.text).to_string()];
        parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

impl Allowed {
    /// Whether values of a sort can be checked against it; the rows of all fields are, when this crate is
    /// compiled.
    pub(crate) const fn fits(self, sort: Sort) -> bool {
        match self {
            Allowed::Integers(..) | Allowed::Sizes(..) | Allowed::PowersOfTwo(..) | Allowed::OneOf(_) => {
                matches!(sort, Sort::Integer)
            }
            Allowed::FromZero | Allowed::Positive => matches!(sort, Sort::Number),
            Allowed::Name => matches!(sort, Sort::Text),
            Allowed::Fields => matches!(sort, Sort::Table),
            Allowed::Any(_) => !matches!(sort, Sort::Table),
        }
    }

    /// The values in words: what follows `must be`.
    pub(crate) fn text(self) -> String {
        match self {
            Allowed::Integers(low, high) => format!("{low} to {high}"),
            Allowed::Sizes(low, high) => format!("{} to {}", size(low), size(high)),
            Allowed::PowersOfTwo(low, high) => format!("a power of two from {low} to {high}"),
            Allowed::OneOf(numbers) => {
                let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                texts.split_last().map_or(String::new(), |(last, before)| format!("{} or {last}", before.join(", ")))
            }
            Allowed::FromZero => "a finite number from 0".into(),
            Allowed::Positive => "positive".into(),
            Allowed::Name => "a name".into(),
            Allowed::Fields => "a table".into(),
            Allowed::Any(_) => "any value".into(),
        }
    }

    /// Why a value is refused.
    pub(crate) fn sentence(self) -> String {
        format!("must be {}", self.text())
    }

    /// Refuses a value unless it holds.
    fn require(self, ok: bool, path: &str, value: &dyn Display) -> Result<(), Violation> {
        check(ok, path, value, &self.sentence())
    }

    fn holds_integer(self, value: u64) -> bool {
        match self {
            Allowed::Integers(low, high) | Allowed::Sizes(low, high) => (low..=high).contains(&value),
            Allowed::PowersOfTwo(low, high) => value.is_power_of_two() && (low..=high).contains(&value),
            Allowed::OneOf(numbers) => numbers.contains(&value),
            Allowed::FromZero | Allowed::Positive | Allowed::Name | Allowed::Fields | Allowed::Any(_) => true,
        }
    }

    fn holds_number(self, value: f64) -> bool {
        match self {
            Allowed::Positive => value > 0.0 && value.is_finite(),
            Allowed::FromZero => value >= 0.0 && value.is_finite(),
            _ => true,
        }
    }
}

/// Bytes in the largest binary unit that leaves an integer.
fn size(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

/// Sorts of values, as far as rules tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Integer,
    Number,
    Text,
    /// One of a few words, true and false among them.
    Word,
    Table,
}

/// A type that a field of a description can have.
pub(crate) trait Described {
    /// What is checked: the value's sort, or that of its elements.
    const SORT: Sort;
    /// How elements are named in paths.
    const STEP: &'static str = "";
    /// What the table is.
    const ABOUT: &'static str = "";
    /// Fields of the table.
    const FIELDS: &'static [Field] = &[];
    /// The type in words.
    fn kind() -> String;
    /// Checks the value, and those inside it.
    fn check(&self, path: &str, allowed: Allowed) -> Result<(), Violation>;
    /// Makes the values alike that only the simulator reads; `whole`: this one is such a value.
    fn forget(&mut self, whole: bool);
}

/// The path of a field of a table.
pub(crate) fn below(path: &str, name: &dyn Display) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

macro_rules! integer {
    ($($type:ty),+) => {$(
        impl Described for $type {
            const SORT: Sort = Sort::Integer;
            fn kind() -> String {
                "integer".into()
            }
            fn check(&self, path: &str, allowed: Allowed) -> Result<(), Violation> {
                allowed.require(allowed.holds_integer(u64::from(*self)), path, self)
            }
            fn forget(&mut self, whole: bool) {
                *self = if whole { 0 } else { *self };
            }
        }
    )+};
}
integer!(u32, u64);

impl Described for f64 {
    const SORT: Sort = Sort::Number;
    fn kind() -> String {
        "number".into()
    }
    fn check(&self, path: &str, allowed: Allowed) -> Result<(), Violation> {
        allowed.require(allowed.holds_number(*self), path, self)
    }
    fn forget(&mut self, whole: bool) {
        *self = if whole { 0.0 } else { *self };
    }
}

impl Described for String {
    const SORT: Sort = Sort::Text;
    fn kind() -> String {
        "text".into()
    }
    fn check(&self, path: &str, allowed: Allowed) -> Result<(), Violation> {
        let named = !self.is_empty() && !self.contains(char::is_control);
        allowed.require(named || !matches!(allowed, Allowed::Name), path, &format!("{self:?}"))
    }
    fn forget(&mut self, whole: bool) {
        self.truncate(if whole { 0 } else { self.len() });
    }
}

impl Described for bool {
    const SORT: Sort = Sort::Word;
    fn kind() -> String {
        "true or false".into()
    }
    fn check(&self, _: &str, _: Allowed) -> Result<(), Violation> {
        Ok(())
    }
    fn forget(&mut self, whole: bool) {
        *self &= !whole;
    }
}

impl<T: Described> Described for Vec<T> {
    const SORT: Sort = T::SORT;
    const STEP: &'static str = "N";
    const ABOUT: &'static str = T::ABOUT;
    const FIELDS: &'static [Field] = T::FIELDS;
    fn kind() -> String {
        format!("list: {}", T::kind())
    }
    fn check(&self, path: &str, allowed: Allowed) -> Result<(), Violation> {
        self.iter().enumerate().try_for_each(|(i, element)| element.check(&below(path, &i), allowed))
    }
    fn forget(&mut self, whole: bool) {
        self.iter_mut().for_each(|element| element.forget(whole));
    }
}

impl<K: Display, T: Described> Described for BTreeMap<K, T> {
    const SORT: Sort = T::SORT;
    const STEP: &'static str = "CLASS";
    const ABOUT: &'static str = T::ABOUT;
    const FIELDS: &'static [Field] = T::FIELDS;
    fn kind() -> String {
        format!("for each unit class: {}", T::kind())
    }
    fn check(&self, path: &str, allowed: Allowed) -> Result<(), Violation> {
        self.iter().try_for_each(|(key, element)| element.check(&below(path, key), allowed))
    }
    fn forget(&mut self, whole: bool) {
        self.values_mut().for_each(|element| element.forget(whole));
    }
}

/// A value as it stands in a file.
pub(crate) fn toml_text(value: &impl Serialize) -> String {
    toml::Value::try_from(value).map_or_else(|e| e.to_string(), |v| v.to_string())
}

/// Defines tables of a description; see the module. `Name: Copy` derives more.
macro_rules! tables {
    ($(
        $(#[doc = $about:literal])+
        $Table:ident $(: $Derived:ident)? {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty $(= $default:expr)? => $rule:expr;
            )+
        }
    )+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, $($Derived,)? Debug, PartialEq, serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub struct $Table {
            $(
                $(#[doc = $doc])+
                pub $field: $type,
            )+
        }

        impl<'de> serde::Deserialize<'de> for $Table {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                /// What a file says: fields that have a default may be missing.
                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
                struct Given {
                    $($field: $crate::describe::given!(type $type $(, $default)?),)+
                }
                let given = Given::deserialize(source)?;
                Ok($Table { $($field: $crate::describe::given!(value given.$field $(, $default)?),)+ })
            }
        }

        $(const _: () = assert!($rule.allowed.fits(<$type as $crate::describe::Described>::SORT), "a rule for another type");)+

        impl $crate::describe::Described for $Table {
            const SORT: $crate::describe::Sort = $crate::describe::Sort::Table;
            const ABOUT: &'static str = concat!($($about, "\n"),+);
            const FIELDS: &'static [$crate::describe::Field] = &[$($crate::describe::Field {
                ident: stringify!($field),
                doc: concat!($($doc, "\n"),+),
                rule: $rule,
                default: $crate::describe::given!(default $($default)?),
                kind: <$type as $crate::describe::Described>::kind,
                step: <$type as $crate::describe::Described>::STEP,
                about: <$type as $crate::describe::Described>::ABOUT,
                inner: <$type as $crate::describe::Described>::FIELDS,
            }),+];
            fn kind() -> String {
                "table".into()
            }
            fn check(&self, path: &str, _: $crate::describe::Allowed) -> Result<(), $crate::describe::Violation> {
                $({
                    const RULE: $crate::describe::Rule = $rule;
                    let path = $crate::describe::below(path, &$crate::describe::file_name(stringify!($field)));
                    $crate::describe::Described::check(&self.$field, &path, RULE.allowed)?;
                })+
                Ok(())
            }
            fn forget(&mut self, whole: bool) {
                $({
                    const RULE: $crate::describe::Rule = $rule;
                    $crate::describe::Described::forget(&mut self.$field, whole || RULE.simulator_only);
                })+
            }
        }
    )+};
}

/// What a row's default decides.
macro_rules! given {
    (type $type:ty) => { $type };
    (type $type:ty, $default:expr) => { Option<$type> };
    (value $value:expr) => { $value };
    (value $value:expr, $default:expr) => { $value.unwrap_or_else(|| $default) };
    (default) => { None };
    (default $default:expr) => { Some(|| $crate::describe::toml_text(&$default)) };
}

pub(crate) use {given, tables};

#[cfg(test)]
mod tests;
