//! Runs a launch until something wants it to stop: a breakpoint, a watched place, the end of a step. Goes back by beginning
//! anew, which comes to the same moments in the same order.

use heddle_isa::SourceLoc;
use heddle_sim::debug::{Debuggee, Step, WarpState};
use heddle_sim::program::Program;
use heddle_sim::{Fault, FaultKind, Simulation, Statistics};

use super::Sources;
use super::expression::Expression;
use super::layout::Lane;
use super::place::{Place, global_id, local_id};
use super::value::Scene;

/// Which lanes are meant, of those that come to a place.
#[derive(Clone, Debug, Default, PartialEq)]
struct Condition {
    /// The work-item of this global id.
    item: Option<[u32; 3]>,
    /// Those for which it is not zero.
    expression: Option<Expression>,
}

impl Condition {
    /// Whether it holds for a lane; not if something in it has no value there.
    fn holds(&self, target: &dyn Debuggee, lane: Lane) -> bool {
        let is_item = self.item.is_none_or(|item| global_id(target, lane) == Some(item));
        is_item && self.expression.as_ref().is_none_or(|e| e.holds(target, lane))
    }
}

/// A place in the code at which a launch stops.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number, from 1.
    pub number: usize,
    /// Where, in words.
    pub text: String,
    /// File and line, if it has one.
    pub at: Option<(String, u32)>,
    /// Instructions.
    indices: Vec<u32>,
    condition: Condition,
}

/// A place whose changes are wanted.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Its number, of the same sequence as breakpoints.
    pub number: usize,
    /// The place.
    pub place: Place,
    /// For whom: memory of a work-group or a work-item is that of the one selected when the watch was set.
    lane: Lane,
    group: Option<[u32; 3]>,
    last: Option<Vec<u8>>,
}

/// Why a launch stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has not begun.
    Start,
    /// A breakpoint's number.
    Breakpoint(usize),
    /// A watched place has changed, by the instruction before.
    Watch {
        /// Its number.
        number: usize,
        /// What it was and is, in words.
        text: String,
    },
    /// A step is done.
    Step,
    /// It has ended.
    Ended,
    /// The next instruction does what no program may: the sentence.
    Fault(String),
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// To the next stop.
    On,
    /// To another line of the warp.
    Line,
    /// One instruction.
    Instruction,
}

/// A launch that is debugged.
pub struct Engine<'a> {
    target: Box<dyn Debuggee + 'a>,
    /// Where lines of sources are.
    pub sources: Sources,
    breakpoints: Vec<Breakpoint>,
    watches: Vec<Watch>,
    next_number: usize,
    /// The lane that is looked at.
    pub selected: Lane,
    /// Why the launch stands.
    pub stop: Stop,
    fault: Option<Box<Fault>>,
    /// The moment of the last breakpoint that was told: it is not told twice.
    told: Option<u64>,
}

/// Whether a statement begins with an instruction; where that is not known, with any.
fn is_begin(program: &Program, index: u32) -> bool {
    program.header.variables.as_ref().is_none_or(|v| v.begins.is_empty() || v.is_begin(index))
}

/// Where a line begins in the code: each of its statements, or in each block the first of its instructions.
fn line_indices(program: &Program, file: &str, line: u32) -> Vec<u32> {
    let same_file = |name: &str| {
        let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        name == file || ends(name, file) || ends(file, name)
    };
    let at = |loc: SourceLoc| loc.line == line && program.files.get(loc.file as usize).is_some_and(|f| same_file(f));
    let known = program.header.variables.iter().flat_map(|v| &v.begins).copied();
    let begins: Vec<u32> = known.filter(|i| program.insts.get(*i as usize).is_some_and(|i| at(i.loc))).collect();
    let first = |b: &heddle_sim::program::BasicBlock| (b.first..b.first + b.len()).find(|i| at(program.insts[*i as usize].loc));
    if begins.is_empty() { program.blocks.iter().filter_map(first).collect() } else { begins }
}

impl<'a> Engine<'a> {
    /// A launch that has not begun.
    pub fn new(launch: Simulation<'a>, sources: Sources) -> Self {
        Engine {
            target: launch.debuggee(),
            sources,
            breakpoints: Vec::new(),
            watches: Vec::new(),
            next_number: 1,
            selected: Lane::default(),
            stop: Stop::Start,
            fault: None,
            told: None,
        }
    }

    /// What is debugged.
    pub fn target(&self) -> &dyn Debuggee {
        &*self.target
    }

    /// Breakpoints.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.breakpoints
    }

    /// Watched places.
    pub fn watches(&self) -> &[Watch] {
        &self.watches
    }

    /// Ends the debugging where the launch stands.
    ///
    /// # Errors
    /// The fault of the launch; if it has not ended, that it was interrupted.
    pub fn abandon(self) -> Result<Statistics, Box<Fault>> {
        if self.stop == Stop::Ended {
            return Ok(self.target.statistics());
        }
        let [global_id, local_id, group_id] = [[0; 3]; 3];
        let kernel = self.target.program().header.name.clone();
        let kind = FaultKind::Interrupted;
        Err(self.fault.unwrap_or_else(|| Box::new(Fault { kind, kernel, source: None, global_id, local_id, group_id })))
    }

    /// Runs to the end, past all stops, if it is not there.
    ///
    /// # Errors
    /// The fault of the launch.
    pub fn finish(mut self) -> Result<Statistics, Box<Fault>> {
        loop {
            if let Some(fault) = self.fault {
                return Err(fault);
            }
            match self.target.step() {
                Step::Executed => {}
                Step::Ended => return Ok(self.target.statistics()),
                Step::Fault(fault) => return Err(fault),
            }
        }
    }

    /// Lines with code of a file: the first from a line on that has any.
    fn line_with_code(&self, file: &str, line: u32) -> Option<u32> {
        let program = self.target.program();
        let lines = program.insts.iter().map(|i| i.loc.line).filter(|l| *l >= line);
        let mut lines: Vec<u32> = lines.collect();
        lines.sort_unstable();
        lines.dedup();
        lines.into_iter().find(|l| !line_indices(program, file, *l).is_empty())
    }

    /// Sets a breakpoint at `FILE:LINE`, `LINE` or a kernel's name, with a condition and for one work-item if there are any.
    ///
    /// # Errors
    /// There is no code there: the sentence.
    pub fn set_breakpoint(&mut self, place: &str, item: Option<[u32; 3]>, condition: Option<&str>) -> Result<usize, String> {
        let program = self.target.program();
        let default_file = program.insts.iter().find(|i| i.loc.line > 0).and_then(|i| program.files.get(i.loc.file as usize));
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (Some(file.to_string()), line.parse::<u32>().ok()),
            None => (default_file.cloned(), place.parse::<u32>().ok()),
        };
        let (at, indices) = match (file, line) {
            (Some(file), Some(line)) => {
                let found = self.line_with_code(&file, line);
                let found = found.ok_or_else(|| format!("{file} has no code of this kernel at line {line} or behind"))?;
                (Some((file.clone(), found)), line_indices(program, &file, found))
            }
            (_, None) if place == program.header.name => (None, vec![0]),
            _ => return Err(format!("`{place}` is no FILE:LINE, LINE or the kernel `{}`", program.header.name)),
        };
        let expression = condition.map(|text| Expression::parse(text, &*self.target)).transpose()?;
        let mut text = at.as_ref().map_or_else(|| place.to_string(), |(file, line)| format!("{file}:{line}"));
        if let Some([x, y, z]) = item {
            text += &format!(" for work-item ({x}, {y}, {z})");
        }
        if let Some(condition) = condition {
            text += &format!(" if {}", condition.trim());
        }
        let number = self.number();
        self.breakpoints.push(Breakpoint { number, text, at, indices, condition: Condition { item, expression } });
        Ok(number)
    }

    fn number(&mut self) -> usize {
        self.next_number += 1;
        self.next_number - 1
    }

    /// Watches a place in memory.
    ///
    /// # Errors
    /// It is none, as a sentence.
    pub fn watch(&mut self, text: &str) -> Result<usize, String> {
        let watch = self.new_watch(text)?;
        let number = self.number();
        self.watches.push(Watch { number, ..watch });
        Ok(number)
    }

    fn new_watch(&self, text: &str) -> Result<Watch, String> {
        let place = self.place_in_memory(text)?;
        let bytes = place.bytes().ok_or_else(|| format!("{text} is not in memory: step and print it"))?;
        let own = matches!(bytes.space, heddle_isa::MemorySpace::Local | heddle_isa::MemorySpace::Private);
        let group = self.target.group().map(|g| g.0).filter(|_| own);
        let last = place.read(&*self.target, self.selected);
        let last = Some(last.ok_or_else(|| format!("{text} lies outside the memory of its space"))?);
        Ok(Watch { number: 0, lane: self.selected, place, group, last })
    }

    /// Where in memory the value of an expression is now.
    ///
    /// # Errors
    /// It is not in memory, as a sentence.
    pub fn place_in_memory(&self, text: &str) -> Result<Place, String> {
        let expression = Expression::parse(text, &*self.target)?;
        if let Some(place) = expression.place() {
            return Ok(place.clone());
        }
        let mut scene = Scene::new(&*self.target, self.selected);
        let value = expression.value(&mut scene)?;
        let (space, address) = value.home.ok_or_else(|| format!("{text} is not in memory: step and print it"))?;
        let layout = scene.layout(value.of);
        Ok(Place::in_memory(text, space, address, layout, value.bytes.len()))
    }

    /// Removes a breakpoint or a watch. Whether there was one.
    pub fn delete(&mut self, number: usize) -> bool {
        let before = self.breakpoints.len() + self.watches.len();
        self.breakpoints.retain(|b| b.number != number);
        self.watches.retain(|w| w.number != number);
        before != self.breakpoints.len() + self.watches.len()
    }

    /// Removes all breakpoints of a file (editors give them anew), or those without a line.
    pub fn delete_in(&mut self, file: Option<&str>) {
        self.breakpoints.retain(|b| match (&b.at, file) {
            (Some((of, _)), Some(file)) => of != file,
            (at, None) => at.is_some(),
            (None, Some(_)) => true,
        });
    }

    /// Where the warp is that is looked at.
    pub fn state(&self) -> Option<WarpState> {
        self.target.warp(self.selected.warp)
    }

    /// File and line of an instruction.
    pub fn location(&self, index: u32) -> Option<(String, u32)> {
        let program = self.target.program();
        let loc = program.insts.get(index as usize)?.loc;
        let file = program.files.get(loc.file as usize)?;
        (loc.line > 0).then(|| (file.clone(), loc.line))
    }

    /// The breakpoint that the next instruction is at, with the lane for which it holds.
    fn breakpoint_here(&self) -> Option<(usize, Lane)> {
        let warp = self.target.current();
        let state = self.target.warp(warp)?;
        self.breakpoints.iter().filter(|b| b.indices.contains(&state.index)).find_map(|b| {
            let lanes = (0..self.target.lanes()).filter(|l| state.guarded >> l & 1 == 1);
            let mut lanes = lanes.map(|lane| Lane { warp, lane });
            lanes.find(|lane| b.condition.holds(&*self.target, *lane)).map(|lane| (b.number, lane))
        })
    }

    /// A watched place that has changed; all are brought up to date.
    fn changed(&mut self) -> Option<(usize, String)> {
        let target = &*self.target;
        let group = target.group().map(|g| g.0);
        let mut found = None;
        for watch in &mut self.watches {
            if watch.group.is_some() && watch.group != group {
                continue;
            }
            let now = watch.place.read(target, watch.lane);
            if now.is_none() || now == watch.last {
                continue;
            }
            let layout = watch.place.bytes().map(|b| b.layout);
            let words = |bytes: &Option<Vec<u8>>| match (layout, bytes) {
                (Some(layout), Some(bytes)) => layout.text(bytes),
                _ => "nothing".into(),
            };
            let text = format!("{} changes from {} to {}", watch.place.text(), words(&watch.last), words(&now));
            watch.last = now;
            found.get_or_insert((watch.number, text));
        }
        found
    }

    /// Executes one instruction; what stops the launch there.
    fn step(&mut self, stops: bool) -> Option<Stop> {
        match self.target.step() {
            Step::Executed => {}
            Step::Ended => return Some(Stop::Ended),
            Step::Fault(fault) => {
                let text = fault.to_string();
                self.fault = Some(fault);
                return Some(Stop::Fault(text));
            }
        }
        if !stops {
            return None;
        }
        if let Some((number, text)) = self.changed() {
            return Some(Stop::Watch { number, text });
        }
        let (number, lane) = self.breakpoint_here()?;
        self.selected = lane;
        self.told = Some(self.target.time());
        Some(Stop::Breakpoint(number))
    }

    /// Goes on.
    pub fn go(&mut self, how: Go) {
        if matches!(self.stop, Stop::Ended | Stop::Fault(_)) {
            return;
        }
        if how == Go::On && self.target.time() == 0 && self.told.is_none() {
            if let Some((number, lane)) = self.breakpoint_here() {
                (self.selected, self.told) = (lane, Some(0));
                self.stop = Stop::Breakpoint(number);
                return;
            }
        }
        let (warp, group) = (self.target.current(), self.target.group());
        if how != Go::On {
            self.selected.warp = warp;
        }
        let line = self.state().and_then(|s| self.location(s.index));
        let stop = loop {
            if let Some(stop) = self.step(true) {
                break stop;
            }
            match how {
                Go::On => {}
                Go::Instruction => break Stop::Step,
                Go::Line => {
                    let gone = self.target.group() != group || self.target.warp(warp).is_none_or(|s| s.live == 0);
                    let here = self.target.warp(self.target.current()).filter(|s| is_begin(self.target.program(), s.index));
                    // What its guard leaves to no lane no lane comes to.
                    let here = here.filter(|s| s.guarded != 0).and_then(|s| self.location(s.index));
                    if here.is_some() && (gone || self.target.current() == warp && here != line) {
                        break Stop::Step;
                    }
                }
            }
        };
        self.arrive(stop, how != Go::On);
    }

    /// The launch stands: the lane that is looked at is one of the warp's that is next, if `follow`.
    fn arrive(&mut self, stop: Stop, follow: bool) {
        let breakpoint = matches!(stop, Stop::Breakpoint(_));
        if !breakpoint && (follow || matches!(stop, Stop::Watch { .. })) {
            self.selected.warp = self.target.current();
        }
        if let Some(state) = self.state().filter(|s| s.active >> self.selected.lane & 1 == 0 && s.active != 0 && !breakpoint) {
            self.selected.lane = state.active.trailing_zeros();
        }
        self.stop = stop;
    }

    /// Goes to a moment, without a look at stops.
    fn rewind(&mut self, time: u64) {
        if self.target.time() > time {
            self.target.restart();
            self.fault = None;
        }
        while self.target.time() < time {
            if self.step(false).is_some() {
                break;
            }
        }
        let (target, watches) = (&*self.target, &mut self.watches);
        watches.iter_mut().for_each(|w| w.last = w.place.read(target, w.lane).or(w.last.take()));
    }

    /// Goes through all moments before the present one, from the start, with a look at each: the last of which `wanted` says
    /// so is the one to go to. At the first moment nothing has been executed.
    fn last_moment(&mut self, mut wanted: impl FnMut(&mut Self) -> Option<Stop>) -> Option<(u64, Stop, Lane)> {
        let now = self.target.time();
        self.rewind(0);
        let mut last = None;
        while self.target.time() < now {
            if let Some(stop) = wanted(self) {
                last = Some((self.target.time(), stop, self.selected));
            }
            if self.step(false).is_some() {
                break;
            }
        }
        last
    }

    /// Goes back to the last stop before this moment, or to the start.
    pub fn go_back(&mut self) {
        let selected = self.selected;
        let found = self.last_moment(|engine| {
            if let Some((number, text)) = engine.changed().filter(|_| engine.target.time() > 0) {
                return Some(Stop::Watch { number, text });
            }
            let (number, lane) = engine.breakpoint_here()?;
            engine.selected = lane;
            Some(Stop::Breakpoint(number))
        });
        self.selected = selected;
        let (time, stop, lane) = found.unwrap_or((0, Stop::Start, selected));
        self.rewind(time);
        self.told = Some(time);
        self.selected = lane;
        let follow = matches!(stop, Stop::Watch { .. });
        self.arrive(stop, follow);
    }

    /// Goes back to where the line of the selected warp began that was before this one.
    pub fn step_back(&mut self) {
        let selected = self.selected;
        let group = self.target.group();
        let here = |engine: &Engine| {
            let same = engine.target.current() == selected.warp && engine.target.group() == group;
            engine.target.warp(selected.warp).filter(|_| same).and_then(|s| engine.location(s.index))
        };
        let now = self.state().and_then(|s| self.location(s.index));
        let mut before = None;
        let found = self.last_moment(|engine| {
            let line = here(engine)?;
            let begins = before.as_ref() != Some(&line);
            before = Some(line.clone());
            (begins && Some(&line) != now.as_ref()).then_some(Stop::Step)
        });
        self.selected = selected;
        let (time, stop, _) = found.unwrap_or((0, Stop::Start, selected));
        self.rewind(time);
        self.told = Some(time);
        self.arrive(stop, false);
    }

    /// Goes back to the last instruction that changed a place: it is the next one then.
    ///
    /// # Errors
    /// It is no place in memory, or nothing has changed it, as a sentence: then the launch stands where it stood.
    pub fn last_change(&mut self, text: &str) -> Result<(), String> {
        let now = self.target.time();
        let watch = self.new_watch(text)?;
        let (group, lane) = (watch.group, watch.lane);
        let watches = std::mem::take(&mut self.watches);
        let words = |bytes: &[u8]| watch.place.bytes().map(|b| b.layout.text(bytes)).unwrap_or_default();
        let mut before: Option<Vec<u8>> = None;
        let mut look = |engine: &Engine| {
            if group.is_some() && group != engine.target.group().map(|g| g.0) {
                before = None;
                return None;
            }
            let bytes = watch.place.read(&*engine.target, lane)?;
            let old = before.replace(bytes.clone()).filter(|old| *old != bytes)?;
            Some(format!("{text} changes from {} to {} here", words(&old), words(&bytes)))
        };
        let found = self.last_moment(|engine| look(engine).map(|text| Stop::Watch { number: 0, text }));
        // The present moment itself, which the last instruction has led to.
        let at_last = look(self).map(|text| (now, Stop::Watch { number: 0, text }, lane)).filter(|_| self.target.time() == now);
        self.watches = watches;
        let Some((time, stop, _)) = at_last.or(found) else {
            self.rewind(now);
            return Err(format!("nothing has changed {text} since the launch began"));
        };
        self.rewind(time - 1);
        self.told = Some(time - 1);
        self.arrive(stop, true);
        self.selected.warp = self.target.current();
        Ok(())
    }

    /// Selects a lane of the work-group that executes.
    ///
    /// # Errors
    /// There is none, as a sentence.
    pub fn select(&mut self, lane: Lane) -> Result<(), String> {
        let (_, size) = self.target.group().ok_or("the launch has ended")?;
        let items = size.iter().product::<u32>();
        if lane.lane >= self.target.lanes() || lane.warp * self.target.lanes() + lane.lane >= items {
            return Err(format!("the work-group has {items} work-items in {} warps", self.target.warps()));
        }
        self.selected = lane;
        Ok(())
    }

    /// Local and global id of a lane.
    pub fn ids(&self, lane: Lane) -> Option<([u32; 3], [u32; 3])> {
        let (_, size) = self.target.group()?;
        let local = local_id(&*self.target, size, lane);
        Some((local, std::array::from_fn(|d| self.target.origin()[d] + local[d])))
    }
}
