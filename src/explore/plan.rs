//! `SWEEP.toml` → points. Whatever is wrong with the file is said here, with its line, before anything runs.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::axes::{self, Axis};
use super::identity::{self, Hash, Hasher, LoadedCase};
use super::options::{self, PointOptions};
use super::{ExploreError, metrics};
use heddle_runtime::run::Mode;
use heddle_target::{DEFAULT_TEXT, Machine, TargetError};

/// Most points of a sweep.
const MOST_POINTS: u128 = 1_000_000;

/// The file's format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SweepFile {
    cases: Vec<String>,
    #[serde(default)]
    mode: Option<String>,
    #[serde(default)]
    machine: MachineTable,
    #[serde(default)]
    options: toml::Table,
    #[serde(default)]
    axes: toml::Table,
    #[serde(default)]
    variants: Vec<VariantTable>,
    #[serde(default)]
    exclude: Vec<toml::Table>,
    sample: Option<usize>,
    seed: Option<u64>,
    #[serde(default, alias = "minimize")]
    minimise: Vec<String>,
    #[serde(default, alias = "maximize")]
    maximise: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MachineTable {
    base: Option<String>,
    #[serde(default)]
    set: toml::Table,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct VariantTable {
    name: String,
    #[serde(default)]
    set: toml::Table,
}

/// A column to make small, or large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    /// A column of the results, or a numeric axis.
    pub name: String,
    /// Large values are better.
    pub maximise: bool,
}

/// One choice of variant and of a value on each axis.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Index into the plan's variants.
    pub variant: Option<usize>,
    /// For each axis an index into its values.
    pub values: Vec<usize>,
    machine: usize,
    options: usize,
}

#[cfg(test)]
impl Configuration {
    /// Of no axes.
    pub(crate) fn empty() -> Configuration {
        Configuration { variant: None, values: Vec::new(), machine: 0, options: 0 }
    }
}

/// Number of a point, from 1: case by case, each with all configurations.
pub type PointNumber = usize;

/// A sweep, checked.
#[derive(Debug)]
pub struct Plan {
    /// The file's name without extension.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// How to simulate.
    pub mode: Mode,
    /// Cases.
    pub cases: Vec<LoadedCase>,
    /// Axes, by name.
    pub axes: Vec<Axis>,
    /// Names of the variants; empty if there are none.
    pub variants: Vec<String>,
    /// Configurations, each to run with each case.
    pub configurations: Vec<Configuration>,
    /// What to look for; at least one.
    pub objectives: Vec<Objective>,
    /// Of this build and all points in order.
    pub hash: Hash,
    machines: Vec<Result<Machine, String>>,
    options: Vec<PointOptions>,
    ids: Vec<Hash>,
}

/// A point of a plan.
pub struct Point<'a> {
    /// Its number.
    pub number: PointNumber,
    /// What its result depends on.
    pub id: &'a Hash,
    /// Its case.
    pub case: &'a LoadedCase,
    /// Its configuration.
    pub configuration: &'a Configuration,
    /// Its machine, or why there is none.
    pub machine: Result<&'a Machine, &'a str>,
    /// Its options.
    pub options: &'a PointOptions,
}

/// A setting of the machine or an option.
type Setting<'a> = (&'a str, &'a toml::Value);

/// Places in the file, for messages.
struct Places<'a> {
    name: String,
    text: &'a str,
}

impl Places<'_> {
    /// `file:line:column` of a byte.
    fn byte(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.name)
    }

    /// An error at the keys' value, or at the last of the keys that has a place.
    fn error<S: AsRef<str>>(&self, keys: &[S], message: impl std::fmt::Display) -> ExploreError {
        let place = self.find(keys).map_or_else(|| self.name.clone(), |at| self.byte(at));
        let path: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        ExploreError::Input(format!("{place}: {}: {message}", path.join(".")))
    }

    fn find<S: AsRef<str>>(&self, keys: &[S]) -> Option<usize> {
        let table = DeTable::parse(self.text).ok()?;
        let (first, rest) = keys.split_first()?;
        let mut at = table.get_ref().get(first.as_ref())?;
        let mut place = at.span().start;
        for key in rest {
            let next = match at.get_ref() {
                DeValue::Table(t) => t.get(key.as_ref()),
                DeValue::Array(a) => key.as_ref().parse::<usize>().ok().and_then(|i| a.get(i)),
                _ => None,
            };
            let Some(next) = next else { break };
            // Tables of dotted keys have no place of their own.
            place = Some(next.span().start).filter(|s| *s > 0).unwrap_or(place);
            at = next;
        }
        Some(place)
    }
}

/// The settings of a table, nested tables as dotted names unless the name is that of a whole field
/// (`memory.data = {…}` sets its fields).
fn settings(table: &toml::Table) -> Vec<(Vec<String>, &toml::Value)> {
    let mut result = Vec::new();
    fn walk<'a>(result: &mut Vec<(Vec<String>, &'a toml::Value)>, path: &[String], table: &'a toml::Table) {
        for (name, value) in table {
            let path: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
            match value {
                toml::Value::Table(t) => walk(result, &path, t),
                leaf => result.push((path, leaf)),
            }
        }
    }
    walk(&mut result, &[], table);
    result
}

/// Reads the base machine and applies settings to it.
struct Base {
    text: String,
    name: String,
}

impl Base {
    fn machine(&self, overrides: &[String]) -> Result<Machine, TargetError> {
        Machine::from_text(&self.text, &self.name, overrides)
    }
}

/// As `--set` has it.
fn override_of((name, value): Setting) -> String {
    format!("{name}={}", axes::inline(value))
}

/// A machine's error without `--set`, which nobody wrote.
fn sentence(error: &TargetError) -> String {
    let text = match error {
        TargetError::Override { reason, .. } => reason.clone(),
        TargetError::Invalid { violation: v, .. } => format!("{} = {}: {}", v.field, v.value, v.rule),
        other => other.to_string(),
    };
    text.replace("; `heddle target` prints the description", "")
}

impl Plan {
    /// Reads and checks a sweep.
    ///
    /// # Errors
    /// What is wrong with it, with file, line and column.
    pub fn read(path: &Path) -> Result<Plan, ExploreError> {
        let text = std::fs::read_to_string(path).map_err(|e| ExploreError::file(path, "read the sweep", e))?;
        let places = Places { name: path.display().to_string(), text: &text };
        let file: SweepFile = toml::from_str(&text).map_err(|e| {
            let place = e.span().map_or_else(|| places.name.clone(), |s| places.byte(s.start));
            ExploreError::Input(format!("{place}: {}", e.message()))
        })?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let mode = match file.mode.as_deref() {
            None | Some("timing") => Mode::Timing,
            Some("functional") => Mode::Functional,
            Some(other) => return Err(places.error(&["mode"], format!("`{other}`: must be timing or functional"))),
        };
        let cases = cases(&file, &folder, &places)?;
        let base = base(&file, &folder, &places)?;
        let axes = axes::read(&file.axes).map_err(|(keys, m)| places.error(&prefixed("axes", keys), m))?;
        check_names(&file, &axes, &base, &places)?;
        let sizes: Vec<usize> = [file.variants.len().max(1)].into_iter().chain(axes.iter().map(|a| a.values.len())).collect();
        let names: Vec<&str> = cases.iter().map(|c| c.name.as_str()).collect();
        let excluded = exclusions(&file, &axes, &names, &places)?;
        let positions = positions(&file, &sizes, &excluded, cases.len(), &places)?;
        let mut plan = Plan {
            name: path.file_stem().map_or_else(|| "sweep".into(), |s| s.to_string_lossy().into_owned()),
            file: path.to_path_buf(),
            mode,
            objectives: objectives(&file, &axes, mode, &places)?,
            cases,
            axes,
            variants: file.variants.iter().map(|v| v.name.clone()).collect(),
            configurations: Vec::new(),
            hash: Hasher::default().finish(),
            machines: Vec::new(),
            options: Vec::new(),
            ids: Vec::new(),
        };
        plan.resolve(&file, &base, &positions, &sizes, &places)?;
        plan.check_values(&places)?;
        plan.identify(&identity::build()?)?;
        Ok(plan)
    }

    /// Points.
    pub fn len(&self) -> usize {
        self.cases.len() * self.configurations.len()
    }

    /// Whether there is no point. (Never: a sweep without points is refused.)
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A point by its number, from 1 to [`Self::len`].
    pub fn point(&self, number: PointNumber) -> Option<Point<'_>> {
        let index = number.checked_sub(1)?;
        let configuration = self.configurations.get(index % self.configurations.len().max(1))?;
        Some(Point {
            number,
            id: self.ids.get(index)?,
            case: self.cases.get(index / self.configurations.len())?,
            configuration,
            machine: self.machines[configuration.machine].as_ref().map_err(String::as_str),
            options: &self.options[configuration.options],
        })
    }

    /// All points in order.
    pub fn points(&self) -> impl Iterator<Item = Point<'_>> {
        (1..=self.len()).filter_map(|n| self.point(n))
    }

    /// The value of each axis in a configuration.
    pub fn values<'a>(&'a self, c: &'a Configuration) -> impl Iterator<Item = (&'a Axis, &'a toml::Value)> {
        self.axes.iter().zip(&c.values).map(|(a, v)| (a, &a.values[*v]))
    }

    /// A configuration in words.
    pub fn describe(&self, c: &Configuration) -> String {
        let variant = c.variant.map(|v| self.variants[v].clone());
        let values = self.values(c).map(|(a, v)| format!("{} = {}", a.name, axes::inline(v)));
        variant.into_iter().chain(values).collect::<Vec<_>>().join(", ")
    }

    /// Machines and options of all configurations, each different one made once.
    fn resolve(
        &mut self,
        file: &SweepFile,
        base: &Base,
        positions: &[u128],
        sizes: &[usize],
        places: &Places,
    ) -> Result<(), ExploreError> {
        let common: Vec<(String, &toml::Value)> =
            settings(&file.machine.set).into_iter().chain(settings(&file.options)).map(|(p, v)| (p.join("."), v)).collect();
        let variants: Vec<Vec<(String, &toml::Value)>> =
            file.variants.iter().map(|v| settings(&v.set).into_iter().map(|(p, value)| (p.join("."), value)).collect()).collect();
        let option_names = options::names();
        let mut machines: HashMap<Vec<String>, usize> = HashMap::new();
        let mut options: HashMap<String, usize> = HashMap::new();
        let mut overrides: Vec<Vec<String>> = Vec::new();
        for position in positions {
            let digits = axes::digits(*position, sizes);
            let variant = (!variants.is_empty()).then_some(digits[0]);
            let values = digits[1..].to_vec();
            let chosen: Vec<Setting> = common
                .iter()
                .chain(variant.iter().flat_map(|v| &variants[*v]))
                .map(|(n, v)| (n.as_str(), *v))
                .chain(self.axes.iter().zip(&values).map(|(a, v)| (a.name.as_str(), &a.values[*v])))
                .collect();
            let (of_options, of_machine): (Vec<Setting>, Vec<Setting>) =
                chosen.into_iter().partition(|(n, _)| option_names.iter().any(|o| o == n));
            let key: Vec<String> = of_machine.into_iter().map(override_of).collect();
            let machine = *machines.entry(key).or_insert_with_key(|k| {
                overrides.push(k.clone());
                overrides.len() - 1
            });
            let key: String = of_options.iter().map(|s| override_of(*s) + "\n").collect();
            let options = match options.get(&key) {
                Some(o) => *o,
                None => {
                    let parsed = PointOptions::new(of_options).map_err(|m| {
                        let c = Configuration { variant, values: values.clone(), machine, options: 0 };
                        let message = format!("{}: {m}; `exclude` leaves combinations out", self.describe(&c));
                        places.error(&["axes"], message)
                    })?;
                    self.options.push(parsed);
                    options.insert(key, self.options.len() - 1);
                    self.options.len() - 1
                }
            };
            self.configurations.push(Configuration { variant, values, machine, options });
        }
        self.machines = heddle_threads::map(overrides, |o| base.machine(&o).map_err(|e| sentence(&e)));
        Ok(())
    }

    /// A value that makes no machine whatever it is combined with is a mistake, not a result.
    fn check_values(&self, places: &Places) -> Result<(), ExploreError> {
        for (i, axis) in self.axes.iter().enumerate() {
            for (j, value) in axis.values.iter().enumerate() {
                let mut machines =
                    self.configurations.iter().filter(|c| c.values[i] == j).map(|c| &self.machines[c.machine]).peekable();
                let Some(Err(first)) = machines.peek() else { continue };
                if machines.all(Result::is_err) {
                    let keys = prefixed("axes", axis.path.clone());
                    let keys: Vec<String> = keys.into_iter().chain([j.to_string()]).collect();
                    let value = axes::inline(value);
                    return Err(places.error(&keys, format!("no machine can be made with the value {value}: {first}")));
                }
            }
        }
        match self.machines.iter().any(Result::is_ok) {
            true => Ok(()),
            false => {
                let first = self.machines.iter().find_map(|m| m.as_ref().err()).map_or("", String::as_str);
                Err(places.error(&["machine"], format!("no configuration makes a machine: {first}")))
            }
        }
    }

    fn identify(&mut self, build: &Hash) -> Result<(), ExploreError> {
        let texts: Vec<String> = self
            .machines
            .iter()
            .map(|m| m.as_ref().map_or_else(|e| Ok(format!("none: {e}")), identity::machine_text))
            .collect::<Result<_, _>>()?;
        for case in &self.cases {
            for c in &self.configurations {
                self.ids.push(identity::point(build, case, &texts[c.machine], &self.options[c.options], self.mode));
            }
        }
        let hasher = self.ids.iter().fold(Hasher::default(), |h, id| h.part(id.to_string()));
        self.hash = hasher.part(build.to_string()).finish();
        Ok(())
    }
}

fn prefixed(first: &str, keys: Vec<String>) -> Vec<String> {
    [first.to_string()].into_iter().chain(keys).collect()
}

/// The cases of all patterns, in the order of the file, those of a pattern by name, each once.
fn cases(file: &SweepFile, folder: &Path, places: &Places) -> Result<Vec<LoadedCase>, ExploreError> {
    let mut result: Vec<LoadedCase> = Vec::new();
    for (i, pattern) in file.cases.iter().enumerate() {
        let fail = |m: String| places.error(&["cases".to_string(), i.to_string()], m);
        let full = Path::new(&glob::Pattern::escape(&folder.display().to_string())).join(pattern).display().to_string();
        let paths = glob::glob(&full).map_err(|e| fail(format!("`{pattern}`: {e}")))?;
        let mut found = false;
        for path in paths {
            let path = path.map_err(|e| fail(e.to_string()))?;
            found = true;
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            if !result.iter().any(|c| c.name == name) {
                result.push(identity::load_case(&path, name).map_err(|e| fail(e.to_string()))?);
            }
        }
        if !found {
            return Err(fail(format!("no file matches `{pattern}` (paths are relative to the sweep's file)")));
        }
    }
    if result.is_empty() {
        return Err(places.error(&["cases"], "there is none"));
    }
    Ok(result)
}

fn base(file: &SweepFile, folder: &Path, places: &Places) -> Result<Base, ExploreError> {
    let base = match &file.machine.base {
        None => Base { text: DEFAULT_TEXT.into(), name: "heddle.toml (built in)".into() },
        Some(path) => {
            let path = folder.join(path);
            let text = std::fs::read_to_string(&path).map_err(|e| {
                places.error(&["machine", "base"], format!("{}: cannot read the machine description: {e}", path.display()))
            })?;
            Base { text, name: path.display().to_string() }
        }
    };
    base.machine(&[]).map_err(|e| places.error(&["machine", "base"], e))?;
    Ok(base)
}

/// Every name is a field or an option and its values are of its type; no field is set in two places.
fn check_names(file: &SweepFile, axes: &[Axis], base: &Base, places: &Places) -> Result<(), ExploreError> {
    let option_names = options::names();
    let check = |keys: &[String], name: &str, value: &toml::Value| -> Result<(), ExploreError> {
        if option_names.iter().any(|o| o == name) {
            return PointOptions::new([(name, value)]).map(drop).map_err(|m| places.error(keys, m));
        }
        match base.machine(&[override_of((name, value))]) {
            Ok(_) | Err(TargetError::Invalid { .. }) => Ok(()),
            Err(e) => {
                let like = super::similar(name, option_names.iter().map(String::as_str)).filter(|_| !name.contains('.'));
                let like = like.map_or(String::new(), |o| format!("; or is the option `{o}` meant?"));
                Err(places.error(keys, format!("{}{like}", sentence(&e))))
            }
        }
    };
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (table, first, what) in [(&file.machine.set, "set", "machine"), (&file.options, "", "options")] {
        for (path, value) in settings(table) {
            let keys: Vec<String> =
                [what, first].into_iter().filter(|k| !k.is_empty()).map(String::from).chain(path.clone()).collect();
            let name = path.join(".");
            let is_option = option_names.contains(&name);
            if is_option != (what == "options") {
                let other = if is_option { "an option: it belongs to [options]" } else { "no option of `heddle run`" };
                let like = super::similar(&name, option_names.iter().map(String::as_str)).filter(|_| !is_option);
                let like = like.map_or(String::new(), |o| format!("; is `{o}` meant?"));
                return Err(places.error(&keys, format!("`{name}` is {other}{like}")));
            }
            check(&keys, &name, value)?;
        }
    }
    for (i, v) in file.variants.iter().enumerate() {
        if file.variants[..i].iter().any(|w| w.name == v.name) {
            return Err(places.error(&["variants", &i.to_string(), "name"], format!("`{}` is there twice", v.name)));
        }
        for (path, value) in settings(&v.set) {
            let keys = prefixed("variants", [i.to_string(), "set".into()].into_iter().chain(path.clone()).collect());
            let name = path.join(".");
            check(&keys, &name, value)?;
            seen.insert(name, "a variant");
        }
    }
    for axis in axes {
        let keys = prefixed("axes", axis.path.clone());
        if let Some(other) = seen.insert(axis.name.clone(), "another axis") {
            return Err(places.error(&keys, format!("{other} sets `{}` too", axis.name)));
        }
        for (j, value) in axis.values.iter().enumerate() {
            let keys: Vec<String> = keys.iter().cloned().chain([j.to_string()]).collect();
            check(&keys, &axis.name, value)?;
        }
    }
    Ok(())
}

/// What leaves a configuration out: for each condition the variants and, by axis, the values that it names.
struct Exclusion {
    variants: Option<Vec<usize>>,
    values: Vec<(usize, Vec<usize>)>,
}

impl Exclusion {
    fn holds(&self, digits: &[usize]) -> bool {
        self.variants.as_ref().is_none_or(|v| v.contains(&digits[0]))
            && self.values.iter().all(|(axis, values)| values.contains(&digits[axis + 1]))
    }
}

fn exclusions(file: &SweepFile, axes: &[Axis], cases: &[&str], places: &Places) -> Result<Vec<Exclusion>, ExploreError> {
    let mut result = Vec::new();
    for (i, table) in file.exclude.iter().enumerate() {
        let mut exclusion = Exclusion { variants: None, values: Vec::new() };
        for (path, value) in settings(table) {
            let keys = prefixed("exclude", [i.to_string()].into_iter().chain(path.clone()).collect());
            let name = path.join(".");
            if name == "variant" {
                let wanted = value.as_array().map_or_else(|| vec![value.clone()], Clone::clone);
                let number = |w: &toml::Value| file.variants.iter().position(|v| Some(v.name.as_str()) == w.as_str());
                let numbers: Option<Vec<usize>> = wanted.iter().map(number).collect();
                exclusion.variants = Some(numbers.ok_or_else(|| places.error(&keys, format!("there is no variant {value}")))?);
                continue;
            }
            let Some(axis) = axes.iter().position(|a| a.name == name) else {
                let known = axes.iter().map(|a| a.name.as_str());
                let like = super::similar(&name, known).map_or(String::new(), |s| format!("; is `{s}` meant?"));
                let case = if cases.contains(&name.as_str()) || name == "case" {
                    " (every case runs in all configurations)"
                } else {
                    ""
                };
                return Err(places.error(&keys, format!("there is no axis `{name}`{case}{like}")));
            };
            let number = |w: &toml::Value| axes[axis].values.iter().position(|v| v == w);
            let numbers: Option<Vec<usize>> = match (number(value), value) {
                (Some(n), _) => Some(vec![n]),
                (None, toml::Value::Array(list)) => list.iter().map(number).collect(),
                _ => None,
            };
            let numbers = numbers.ok_or_else(|| places.error(&keys, format!("{value} is no value of the axis")))?;
            exclusion.values.push((axis, numbers));
        }
        if exclusion.variants.is_none() && exclusion.values.is_empty() {
            return Err(places.error(&["exclude", &i.to_string()], "a condition names an axis and its values"));
        }
        result.push(exclusion);
    }
    Ok(result)
}

/// Which positions of the space are configurations.
fn positions(
    file: &SweepFile,
    sizes: &[usize],
    excluded: &[Exclusion],
    cases: usize,
    places: &Places,
) -> Result<Vec<u128>, ExploreError> {
    let space = axes::volume(sizes).ok_or_else(|| places.error(&["axes"], "the space is too large even for a sample"))?;
    let keep = |position: u128| {
        let digits = axes::digits(position, sizes);
        !excluded.iter().any(|e| e.holds(&digits))
    };
    let wanted = file.sample.map_or(space, |s| (s as u128).min(space));
    if wanted * cases as u128 > MOST_POINTS {
        let all = wanted.saturating_mul(cases as u128);
        let message = format!("{all} points are more than {MOST_POINTS}; `sample = N` takes N configurations of them");
        return Err(places.error(&[if file.sample.is_some() { "sample" } else { "axes" }], message));
    }
    if file.sample == Some(0) {
        return Err(places.error(&["sample"], "must be 1 or more"));
    }
    if file.seed.is_some() && file.sample.is_none() {
        return Err(places.error(&["seed"], "goes with sample"));
    }
    let positions = match file.sample {
        // A space that can be walked is: the sample is then as large as it can be.
        Some(n) if space > MOST_POINTS => axes::sample(space, n, file.seed.unwrap_or(0), keep),
        Some(n) => {
            let all: Vec<u128> = (0..space).filter(|p| keep(*p)).collect();
            let chosen = axes::sample(all.len().max(1) as u128, n.min(all.len()), file.seed.unwrap_or(0), |_| true);
            chosen.into_iter().map(|i| all[i as usize]).collect()
        }
        None => (0..space).filter(|p| keep(*p)).collect(),
    };
    match positions.is_empty() {
        true => Err(places.error(&["exclude"], "every configuration is left out")),
        false => Ok(positions),
    }
}

fn objectives(file: &SweepFile, axes: &[Axis], mode: Mode, places: &Places) -> Result<Vec<Objective>, ExploreError> {
    let mut result: Vec<Objective> = Vec::new();
    for (key, names, maximise) in [("minimise", &file.minimise, false), ("maximise", &file.maximise, true)] {
        for (i, name) in names.iter().enumerate() {
            let fail = |m: String| places.error(&[key, &i.to_string()], m);
            let axis = axes.iter().find(|a| a.name == *name);
            if axis.is_some_and(|a| a.values.iter().any(|v| !v.is_integer() && !v.is_float())) {
                return Err(fail(format!("the axis `{name}` has values that are no numbers")));
            }
            if axis.is_none() && !metrics::is_metric(name) {
                let like = metrics::similar(name).map_or(String::new(), |s| format!("; is `{s}` meant?"));
                return Err(fail(format!("there is no column and no axis `{name}`{like}")));
            }
            if result.iter().any(|o| o.name == *name) {
                return Err(fail(format!("`{name}` is there twice")));
            }
            result.push(Objective { name: name.clone(), maximise });
        }
    }
    if result.is_empty() {
        let defaults: &[&str] = if mode == Mode::Timing { &["cycles", "energy_pj"] } else { &["instructions"] };
        result.extend(defaults.iter().map(|n| Objective { name: (*n).into(), maximise: false }));
    }
    Ok(result)
}

#[cfg(test)]
mod tests;
