//! Commands in lines of text, as gdb has them.

use std::io::Write;

use heddle_isa::text::print_inst;

use super::FrontEnd;
use super::engine::{Engine, Go, Stop};
use super::expression::Expression;
use super::layout::Lane;
use super::place::{Place, number, registers};
use super::value::Scene;

/// Where commands come from.
pub trait Lines {
    /// The next command; `None`: there are no more.
    ///
    /// # Errors
    /// Input failed: the sentence.
    fn next(&mut self, prompt: &str) -> Result<Option<String>, String>;
}

/// A front end of commands and answers.
pub struct Console<'x> {
    lines: &'x mut dyn Lines,
    out: &'x mut dyn Write,
    /// The last command, which an empty line repeats.
    last: String,
}

/// What a command comes to.
enum Done {
    /// An answer.
    Text(String),
    /// The launch has moved: where it stands is to be shown.
    Moved,
    /// The launch is over, and the next one may begin.
    Over,
    /// The user leaves.
    Quit,
}

const PROMPT: &str = "(heddle) ";

const HELP: &str = "\
break FILE:LINE | LINE | KERNEL [for X,Y,Z] [if EXPRESSION]   stop there; for one work-item, if it holds for a lane
watch PLACE               stop when bytes in memory change: a[3], p->x, local[16], private[0], global[0x140000000]:float4
delete N, info            remove one of them; list them
info locals, info args    variables and parameters of the function, with their values
continue, step, stepi     go on; to another line; by an instruction
reverse-continue (rc), reverse-step (rs)   the same back, by executing the launch again
last PLACE                back to the last instruction that changed the place
where, warps              the warp's lanes by place, with what they wait for; all warps of the work-group
warp N, lane N, item X,Y,Z   look at another warp, lane, work-item (local id) of the work-group
print EXPRESSION          sum / n, p->x, a[3], gid.x, lid.x, group.x, m3, c1.l2, s0, p1, local[16]:float; of the selected lane
lanes EXPRESSION          the same of all active lanes
registers                 all of the selected lane
x SPACE ADDRESS [COUNT]   words of memory: global, local or private
list, disassemble         lines or instructions around the next one
quit                      leave; an empty line repeats the last command";

impl<'x> Console<'x> {
    /// Reads from one and writes to the other.
    pub fn new(lines: &'x mut dyn Lines, out: &'x mut dyn Write) -> Self {
        Console { lines, out, last: String::new() }
    }

    fn say(&mut self, text: &str) -> Result<(), String> {
        writeln!(self.out, "{text}").and_then(|()| self.out.flush()).map_err(|e| format!("standard output: {e}"))
    }
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

/// Lanes of a mask as ranges: `0-3,5`.
fn ranges(mask: u64) -> String {
    let lanes: Vec<u32> = (0..64).filter(|l| mask >> l & 1 == 1).collect();
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for lane in lanes {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == lane => *last = lane,
            _ => parts.push((lane, lane)),
        }
    }
    let words = parts.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    words.collect::<Vec<_>>().join(",")
}

/// `1 lane (3)`, `4 lanes (0-3)`.
fn lanes(mask: u64) -> String {
    let n = mask.count_ones();
    format!("{n} lane{} ({})", if n == 1 { "" } else { "s" }, ranges(mask))
}

/// An instruction's place and text.
fn instruction(engine: &Engine, index: u32) -> String {
    let program = engine.target().program();
    let text = program.insts.get(index as usize).map_or_else(String::new, |i| print_inst(i, &program.files));
    // Behind the text stands its place in the source, which is shown anyway.
    let text = text.rsplit_once(" !").map_or(text.as_str(), |(text, _)| text);
    format!("{index:>4}: {}", text.trim())
}

/// `file:line`.
fn location(engine: &Engine, index: u32) -> String {
    engine.location(index).map_or_else(|| format!("instruction {index}"), |(file, line)| format!("{file}:{line}"))
}

/// Where the selected warp stands, with the line.
pub fn standing(engine: &Engine) -> String {
    let Some(((group, _), state)) = engine.target().group().zip(engine.state()) else { return "the launch has ended".into() };
    let mut text = format!("work-group {}, warp {}, ", triple(group), state.number);
    if state.live == 0 {
        return text + "which has ended";
    }
    text += &format!("{} active", lanes(state.active));
    if state.at_barrier {
        text += ", at a barrier";
    }
    if let Some((local, global)) = engine.ids(engine.selected) {
        let lane = engine.selected.lane;
        text += &format!("; lane {lane} is work-item global {}, local {}", triple(global), triple(local));
    }
    match engine.location(state.index) {
        Some((file, line)) => {
            let source = engine.sources.line(&file, line).unwrap_or_default();
            text += &format!("\n{file}:{line}: {}", source.trim_end());
        }
        None => text += &format!("\n{}", instruction(engine, state.index)),
    }
    text
}

/// Why the launch stands, in words.
pub fn reason(stop: &Stop) -> String {
    match stop {
        Stop::Start => "the launch has not begun".into(),
        Stop::Breakpoint(n) => format!("breakpoint {n}"),
        Stop::Watch { number: 0, text } => text.clone(),
        Stop::Watch { number, text } => format!("watch {number}: {text}"),
        Stop::Step => String::new(),
        Stop::Ended => "the launch has ended".into(),
        Stop::Fault(text) => format!("fault: {text}"),
    }
}

/// The lanes of the selected warp by place: those that run, then those that wait, the next ones first.
pub fn frames(engine: &Engine) -> Vec<(String, u32, u64)> {
    let Some(state) = engine.state().filter(|s| s.live != 0) else { return Vec::new() };
    let runs = if state.at_barrier { "wait at the barrier" } else { "run" };
    let mut all = vec![(format!("{} {runs}", lanes(state.active)), state.index, state.active)];
    all.extend(state.held.iter().map(|(mask, index)| (format!("{} wait", lanes(*mask)), *index, *mask)));
    all
}

fn place_list(engine: &Engine) -> String {
    let mut all: Vec<(usize, String)> = engine.breakpoints().iter().map(|b| (b.number, format!("break {}", b.text))).collect();
    all.extend(engine.watches().iter().map(|w| (w.number, format!("watch {}", w.place.text()))));
    all.sort_by_key(|a| a.0);
    match all.is_empty() {
        true => "there are no breakpoints".into(),
        false => all.iter().map(|(n, text)| format!("{n}  {text}")).collect::<Vec<_>>().join("\n"),
    }
}

/// Variables of the selected lane's function, and of those that it was inlined into, with their values.
fn variables(engine: &Engine, parameters: bool) -> String {
    let scene = Scene::new(engine.target(), engine.selected);
    let Some(variables) = scene.variables() else { return "the code was built without -g".into() };
    let frames = scene.frames();
    let mut lines = Vec::new();
    for (function, visible) in &frames {
        if frames.len() > 1 {
            lines.push(format!("in {function}:"));
        }
        let wanted = visible.iter().filter(|n| (variables.variables[**n as usize].parameter > 0) == parameters);
        lines.extend(wanted.map(|n| format!("{} = {}", variables.variables[*n as usize].name, scene.text(&scene.value(*n)))));
    }
    if lines.is_empty() { "there are none here".into() } else { lines.join("\n") }
}

/// `X,Y,Z`, with zeros for what is missing.
fn ids(text: &str) -> Result<[u32; 3], String> {
    let mut all = [0; 3];
    let parts: Vec<&str> = text.trim_matches(['(', ')']).split(',').collect();
    if parts.len() > 3 {
        return Err(format!("`{text}` is no id: write X,Y,Z"));
    }
    for (to, from) in all.iter_mut().zip(parts) {
        *to = from.trim().parse().map_err(|_| format!("`{text}` is no id: write X,Y,Z"))?;
    }
    Ok(all)
}

fn set_breakpoint(engine: &mut Engine, rest: &str) -> Result<String, String> {
    let (head, condition) = match rest.split_once(" if ") {
        Some((head, condition)) => (head, Some(condition)),
        None => (rest, None),
    };
    let (place, item) = match head.split_once(" for ") {
        Some((place, item)) => (place, Some(ids(item)?)),
        None => (head, None),
    };
    let n = engine.set_breakpoint(place.trim(), item, condition)?;
    let text = engine.breakpoints().iter().find(|b| b.number == n).map(|b| b.text.clone()).unwrap_or_default();
    Ok(format!("breakpoint {n} at {text}"))
}

fn list(engine: &Engine) -> Result<String, String> {
    let at = engine.state().and_then(|s| engine.location(s.index));
    let (file, line) = at.ok_or("there is no source line here")?;
    let all = engine.sources.lines(&file).ok_or_else(|| format!("{file} is not there"))?;
    let first = (line as usize).saturating_sub(5);
    let shown = all.iter().enumerate().skip(first).take(9);
    let shown = shown.map(|(i, text)| format!("{}{:>4}  {text}", if i + 1 == line as usize { ">" } else { " " }, i + 1));
    Ok(shown.map(|l| l.trim_end().to_string()).collect::<Vec<_>>().join("\n"))
}

fn memory(engine: &Engine, rest: &str) -> Result<String, String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [space, address, ref more @ ..] = words[..] else { return Err("write x SPACE ADDRESS [COUNT]".into()) };
    let start = number(address).ok_or_else(|| format!("`{address}` is no address"))?;
    let count = more.first().map_or(Some(8), |n| number(n)).filter(|n| *n <= 4096).ok_or("COUNT is a number up to 4096")?;
    let mut text = String::new();
    for k in 0..count {
        let at = start + 4 * k;
        if k % 4 == 0 {
            text += &format!("{}{at:#x}:", if k > 0 { "\n" } else { "" });
        }
        let place = Place::parse(&format!("{space}[{at}]"), engine.target())?;
        let bytes = place.read(engine.target(), engine.selected).ok_or_else(|| format!("{at:#x} lies outside {space} memory"))?;
        text += &format!(" {:08x}", bytes.iter().rev().fold(0u32, |v, b| v << 8 | u32::from(*b)));
    }
    Ok(text)
}

/// What looks at the launch and changes nothing.
fn look(engine: &mut Engine, command: &str, rest: &str) -> Result<Option<String>, String> {
    Ok(Some(match command {
        "help" | "h" => HELP.into(),
        "info" | "i" => match rest {
            "" | "breakpoints" | "b" => place_list(engine),
            "locals" => variables(engine, false),
            "args" => variables(engine, true),
            _ => return Err("write info, info locals or info args".into()),
        },
        "where" | "bt" | "backtrace" => {
            let all = frames(engine);
            let selected = engine.selected;
            let all = all.iter().enumerate().map(|(n, (who, index, mask))| {
                let lane = Lane {
                    lane: if *mask >> selected.lane & 1 == 1 { selected.lane } else { mask.trailing_zeros() },
                    ..selected
                };
                let calls = Scene::new(engine.target(), lane).calls();
                let calls = calls
                    .iter()
                    .filter_map(|(f, call)| call.as_ref().map(|(file, line)| format!("\n    in {f}, called at {file}:{line}")));
                format!(
                    "#{n}  {}: {who}{}\n    {}",
                    location(engine, *index),
                    calls.collect::<String>(),
                    instruction(engine, *index)
                )
            });
            all.collect::<Vec<_>>().join("\n")
        }
        "warps" => {
            let all = (0..engine.target().warps()).filter_map(|w| engine.target().warp(w));
            let all = all.map(|s| match (s.live, s.at_barrier) {
                (0, _) => format!("warp {}: has ended", s.number),
                (_, true) => format!("warp {}: at the barrier of {}", s.number, location(engine, s.index)),
                _ => format!("warp {}: {} at {}", s.number, lanes(s.active), location(engine, s.index)),
            });
            all.collect::<Vec<_>>().join("\n")
        }
        "print" | "p" => {
            let expression = Expression::parse(rest, engine.target())?;
            format!("{} = {}", expression.text(), expression.words(engine.target(), engine.selected)?)
        }
        "lanes" => {
            let expression = Expression::parse(rest, engine.target())?;
            let state = engine.state().ok_or("the launch has ended")?;
            let active = (0..engine.target().lanes()).filter(|l| state.active >> l & 1 == 1);
            let all = active.map(|lane| {
                let value = expression.words(engine.target(), Lane { warp: state.number, lane });
                format!("lane {lane}: {}", value.unwrap_or_else(|message| message))
            });
            all.collect::<Vec<_>>().join("\n")
        }
        "registers" | "regs" => {
            let all = registers(engine.target(), engine.selected);
            let all: Vec<String> = all.iter().map(|(name, word)| format!("{name:<10} {word:#010x}  {}", *word as i32)).collect();
            all.join("\n")
        }
        "x" => memory(engine, rest)?,
        "list" | "l" => list(engine)?,
        "disassemble" | "disas" => {
            let here = engine.state().ok_or("the launch has ended")?.index;
            let n = engine.target().program().insts.len() as u32;
            let shown = here.saturating_sub(4)..(here + 5).min(n);
            let mark = |i: u32| if i == here { ">" } else { " " };
            shown.map(|i| format!("{}{}", mark(i), instruction(engine, i))).collect::<Vec<_>>().join("\n")
        }
        _ => return Ok(None),
    }))
}

/// Executes a command.
fn execute(engine: &mut Engine, line: &str) -> Result<Done, String> {
    let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let count = || rest.parse::<u32>().map_err(|_| format!("`{rest}` is no number"));
    if let Some(text) = look(engine, command, rest)? {
        return Ok(Done::Text(text));
    }
    match command {
        "break" | "b" => return set_breakpoint(engine, rest).map(Done::Text),
        "watch" => {
            let n = engine.watch(rest)?;
            return Ok(Done::Text(format!("watch {n}: {rest}")));
        }
        "delete" | "d" => {
            let n = count()?;
            let found = engine.delete(n as usize);
            return if found { Ok(Done::Text(format!("{n} is gone"))) } else { Err(format!("there is no breakpoint {n}")) };
        }
        "quit" | "q" => return Ok(Done::Quit),
        "continue" | "c" | "run" | "r" if matches!(engine.stop, Stop::Ended | Stop::Fault(_)) => return Ok(Done::Over),
        "continue" | "c" | "run" | "r" => engine.go(Go::On),
        "step" | "s" | "next" | "n" => engine.go(Go::Line),
        "stepi" | "si" => engine.go(Go::Instruction),
        "reverse-continue" | "rc" => engine.go_back(),
        "reverse-step" | "rs" => engine.step_back(),
        "last" => engine.last_change(rest)?,
        "warp" => {
            let active = engine.target().warp(count()?).map_or(0, |s| s.active.trailing_zeros() % 64);
            engine.select(Lane { warp: count()?, lane: active })?;
            return Ok(Done::Text(standing(engine)));
        }
        "lane" => {
            engine.select(Lane { lane: count()?, ..engine.selected })?;
            return Ok(Done::Text(standing(engine)));
        }
        "item" => {
            let [x, y, z] = ids(rest)?;
            let (_, [sx, sy, sz]) = engine.target().group().ok_or("the launch has ended")?;
            if x >= sx || y >= sy || z >= sz {
                return Err(format!("the work-group's size is {}", triple([sx, sy, sz])));
            }
            let linear = x + sx * (y + sy * z);
            let n = engine.target().lanes();
            engine.select(Lane { warp: linear / n, lane: linear % n })?;
            return Ok(Done::Text(standing(engine)));
        }
        _ => return Err(format!("there is no command `{command}`; `help` lists them")),
    }
    Ok(Done::Moved)
}

impl FrontEnd for Console<'_> {
    fn debug(&mut self, engine: &mut Engine) -> Result<(), String> {
        let header = &engine.target().program().header;
        let (items, warps) = (engine.target().group().map_or([0; 3], |g| g.1), engine.target().warps());
        self.say(&format!("kernel `{}`, work-groups of {} in {warps} warps; it has not begun", header.name, triple(items)))?;
        loop {
            let Some(line) = self.lines.next(PROMPT)? else { return Err(String::new()) };
            let line = line.trim();
            let line = if line.is_empty() { self.last.clone() } else { line.to_string() };
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            self.last.clone_from(&line);
            match execute(engine, &line) {
                Err(message) => self.say(&message)?,
                Ok(Done::Text(text)) => self.say(&text)?,
                Ok(Done::Over) => return Ok(()),
                Ok(Done::Quit) => return Err(String::new()),
                Ok(Done::Moved) => {
                    let reason = reason(&engine.stop);
                    if !reason.is_empty() {
                        self.say(&reason)?;
                    }
                    if !matches!(engine.stop, Stop::Ended | Stop::Start) {
                        self.say(&standing(engine))?;
                    }
                }
            }
        }
    }

    fn printed(&mut self, text: &str) {
        // Where answers go nowhere, the next one says so.
        let _ = write!(self.out, "{text}").and_then(|()| self.out.flush());
    }
}
