//! The debugger for editors: a server of the Debug Adapter Protocol on two streams.
//!
//! The protocol (<https://microsoft.github.io/debug-adapter-protocol/specification>) is JSON messages, each behind a header with
//! its length. Warps of the work-group that executes are threads; their frames are sets of lanes, the running one first, as the
//! reconvergence stack has them. Requests are answered in their order; while the launch executes, none is read.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use base64::Engine as _;
use heddle_isa::MemorySpace;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FrontEnd;
use super::console::{frames, reason, standing};
use super::engine::{Engine, Go, Stop};
use super::expression::Expression;
use super::layout::Lane;
use super::place::{Place, number, registers};
use super::value::Scene;

/// Frames of a thread have numbers below this.
const FRAMES: u32 = 1 << 12;

/// A message from the editor.
#[derive(Debug, Deserialize)]
struct Request {
    seq: i64,
    command: String,
    #[serde(default)]
    arguments: Value,
}

/// What a frame shows.
const SCOPES: [&str; 4] = ["Locals", "Arguments", "Ids", "Registers"];

/// A server on two streams.
pub struct Dap<'x> {
    input: &'x mut dyn BufRead,
    out: &'x mut dyn Write,
    seq: i64,
    /// The editor has said all that it wants to say before the first launch.
    configured: bool,
    stop_on_entry: bool,
    /// Breakpoints that were asked for: by source, and by kernels (the empty name).
    breakpoints: BTreeMap<String, Value>,
    /// Watched places.
    data: Value,
}

/// What follows a request.
enum Next {
    /// The next one.
    Request,
    /// The launch is over, and the next one may begin.
    Over,
    /// The editor leaves.
    Leave,
}

impl<'x> Dap<'x> {
    /// A server that has been told nothing yet.
    pub fn new(input: &'x mut dyn BufRead, out: &'x mut dyn Write) -> Self {
        let (breakpoints, data) = (BTreeMap::new(), Value::Null);
        Dap { input, out, seq: 0, configured: false, stop_on_entry: false, breakpoints, data }
    }

    fn send(&mut self, mut message: Value) -> Result<(), String> {
        self.seq += 1;
        message["seq"] = json!(self.seq);
        let text = message.to_string();
        let written = write!(self.out, "Content-Length: {}\r\n\r\n{text}", text.len()).and_then(|()| self.out.flush());
        written.map_err(|e| format!("the editor does not listen: {e}"))
    }

    fn event(&mut self, event: &str, body: Value) -> Result<(), String> {
        self.send(json!({"type": "event", "event": event, "body": body}))
    }

    fn respond(&mut self, request: &Request, result: Result<Value, String>) -> Result<(), String> {
        let (success, body, message) = match result {
            Ok(body) => (true, body, None),
            Err(message) => (false, json!({"error": {"id": 1, "format": message}}), Some(message)),
        };
        let mut response = json!({"type": "response", "request_seq": request.seq, "command": request.command,
            "success": success, "body": body});
        if let Some(message) = message {
            response["message"] = json!(message);
        }
        self.send(response)
    }

    /// The next request; `None` at the end of input.
    fn request(&mut self) -> Result<Option<Request>, String> {
        let bad = |e: &dyn std::fmt::Display| format!("the editor's message is not understood: {e}");
        let (mut length, mut begun) = (None, false);
        loop {
            let mut line = String::new();
            if self.input.read_line(&mut line).map_err(|e| bad(&e))? == 0 {
                return if begun { Err(bad(&"it ends in its header")) } else { Ok(None) };
            }
            begun = true;
            match line.trim().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = Some(value.trim().parse::<usize>().map_err(|e| bad(&e))?);
                }
                _ if line.trim().is_empty() => break,
                _ => {}
            }
        }
        let length = length.filter(|l| *l <= 1 << 24).ok_or_else(|| bad(&"it has no sensible Content-Length"))?;
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes).map_err(|e| bad(&e))?;
        serde_json::from_slice(&bytes).map(Some).map_err(|e| bad(&e))
    }

    /// All launches have ended: says so, and waits for the editor to leave.
    ///
    /// # Errors
    /// The streams failed, as a sentence.
    pub fn finished(&mut self, status: i32) -> Result<(), String> {
        self.event("exited", json!({"exitCode": status}))?;
        self.event("terminated", json!({}))?;
        while let Some(request) = self.request()? {
            let leaves = matches!(request.command.as_str(), "disconnect" | "terminate");
            let result = if leaves { Ok(json!({})) } else { Err("all launches have ended".into()) };
            self.respond(&request, result)?;
            if leaves {
                break;
            }
        }
        Ok(())
    }

    /// Tells why the launch stands.
    fn stopped(&mut self, engine: &Engine) -> Result<(), String> {
        let why = match &engine.stop {
            Stop::Start => "entry",
            Stop::Breakpoint(_) => "breakpoint",
            Stop::Watch { .. } => "data breakpoint",
            Stop::Step => "step",
            Stop::Fault(_) => "exception",
            Stop::Ended => return Ok(()),
        };
        let text = reason(&engine.stop);
        let mut body = json!({"reason": why, "threadId": engine.selected.warp + 1, "allThreadsStopped": true,
            "description": text, "text": text});
        if let Stop::Breakpoint(n) | Stop::Watch { number: n, .. } = engine.stop {
            body["hitBreakpointIds"] = json!([n]);
        }
        self.event("stopped", body)
    }

    /// Sets the breakpoints of a source, or of kernels for the empty name.
    fn set_breakpoints(&self, engine: &mut Engine, path: &str) -> Value {
        let kernels = path.is_empty();
        engine.delete_in((!kernels).then_some(path));
        let wanted = self.breakpoints.get(path).and_then(Value::as_array).cloned().unwrap_or_default();
        let set = wanted.iter().map(|b| {
            let place = match kernels {
                true => b["name"].as_str().unwrap_or_default().to_string(),
                false => format!("{path}:{}", b["line"].as_u64().unwrap_or(0)),
            };
            match engine.set_breakpoint(&place, None, b["condition"].as_str().filter(|c| !c.is_empty())) {
                Ok(n) => {
                    let line = engine.breakpoints().iter().find(|b| b.number == n).and_then(|b| b.at.as_ref().map(|at| at.1));
                    json!({"id": n, "verified": true, "line": line})
                }
                Err(message) => json!({"verified": false, "message": message}),
            }
        });
        json!({"breakpoints": set.collect::<Vec<_>>()})
    }

    fn set_data(&self, engine: &mut Engine) -> Value {
        for n in engine.watches().iter().map(|w| w.number).collect::<Vec<_>>() {
            engine.delete(n);
        }
        let wanted = self.data.as_array().cloned().unwrap_or_default();
        let set = wanted.iter().map(|b| match engine.watch(b["dataId"].as_str().unwrap_or_default()) {
            Ok(n) => json!({"id": n, "verified": true}),
            Err(message) => json!({"verified": false, "message": message}),
        });
        json!({"breakpoints": set.collect::<Vec<_>>()})
    }

    /// Lets the launch go on, and tells where it stops.
    fn go(&mut self, engine: &mut Engine, request: &Request, go: impl FnOnce(&mut Engine)) -> Result<Next, String> {
        self.respond(request, Ok(json!({"allThreadsContinued": true})))?;
        go(engine);
        if engine.stop == Stop::Ended {
            return Ok(Next::Over);
        }
        self.stopped(engine)?;
        Ok(Next::Request)
    }

    fn serve(&mut self, engine: &mut Engine, request: &Request) -> Result<Next, String> {
        let arguments = &request.arguments;
        let granular = |line: Go| if arguments["granularity"] == "instruction" { Go::Instruction } else { line };
        let ended = matches!(engine.stop, Stop::Fault(_));
        let result = match request.command.as_str() {
            "initialize" => {
                self.respond(request, Ok(capabilities()))?;
                self.event("initialized", json!({}))?;
                return Ok(Next::Request);
            }
            "launch" | "attach" => {
                self.stop_on_entry = arguments["stopOnEntry"].as_bool().unwrap_or(false);
                Ok(json!({}))
            }
            "setBreakpoints" => {
                let path = arguments["source"]["path"].as_str().unwrap_or_default().to_string();
                self.breakpoints.insert(path.clone(), arguments["breakpoints"].clone());
                Ok(self.set_breakpoints(engine, &path))
            }
            "setFunctionBreakpoints" => {
                self.breakpoints.insert(String::new(), arguments["breakpoints"].clone());
                Ok(self.set_breakpoints(engine, ""))
            }
            "dataBreakpointInfo" => {
                let name = arguments["name"].as_str().unwrap_or_default();
                let found = engine.place_in_memory(name).ok().filter(|p| p.bytes().is_some());
                let id = found.map(|p| p.text().to_string());
                Ok(json!({"dataId": id, "description": name, "accessTypes": ["write"]}))
            }
            "setDataBreakpoints" => {
                self.data = arguments["breakpoints"].clone();
                Ok(self.set_data(engine))
            }
            "setExceptionBreakpoints" => Ok(json!({"breakpoints": []})),
            "configurationDone" => {
                self.respond(request, Ok(json!({})))?;
                self.configured = true;
                return self.begin(engine);
            }
            "continue" if ended => return Ok(Next::Over),
            "continue" => return self.go(engine, request, |e| e.go(Go::On)),
            "next" | "stepIn" | "stepOut" => {
                let how = granular(Go::Line);
                return self.go(engine, request, |e| e.go(how));
            }
            "stepBack" => return self.go(engine, request, |e| e.step_back()),
            "reverseContinue" => return self.go(engine, request, |e| e.go_back()),
            "disconnect" | "terminate" => {
                self.respond(request, Ok(json!({})))?;
                return Ok(Next::Leave);
            }
            other => inspect(engine, other, arguments),
        };
        self.respond(request, result)?;
        Ok(Next::Request)
    }

    /// A launch begins, and goes to its first stop.
    fn begin(&mut self, engine: &mut Engine) -> Result<Next, String> {
        if !self.stop_on_entry {
            engine.go(Go::On);
        }
        if engine.stop == Stop::Ended {
            return Ok(Next::Over);
        }
        self.stopped(engine)?;
        Ok(Next::Request)
    }
}

/// What the server can do.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsReadMemoryRequest": true,
        "supportsTerminateRequest": true,
    })
}

/// The frame of a number: warp, and which of its sets of lanes.
fn frame_of(engine: &Engine, id: u32) -> Option<(Lane, u32)> {
    let (warp, level) = (id / FRAMES, id % FRAMES);
    let state = engine.target().warp(warp)?;
    let mask = match level {
        0 => state.active,
        _ => state.held.get(level as usize - 1)?.0,
    };
    let chosen = engine.selected;
    let lane = match chosen.warp == warp && mask >> chosen.lane & 1 == 1 {
        true => chosen.lane,
        false => mask.trailing_zeros() % 64,
    };
    Some((Lane { warp, lane }, level))
}

/// Answers what looks at the launch and changes nothing.
fn inspect(engine: &mut Engine, command: &str, arguments: &Value) -> Result<Value, String> {
    let number_of = |name: &str| arguments[name].as_u64().map(|n| n as u32);
    match command {
        "threads" => {
            let group = engine.target().group().map_or([0; 3], |g| g.0);
            let [x, y, z] = group;
            let name = |w: u32| format!("work-group ({x}, {y}, {z}), warp {w}");
            let all = (0..engine.target().warps()).map(|w| json!({"id": w + 1, "name": name(w)}));
            Ok(json!({"threads": all.collect::<Vec<_>>()}))
        }
        "stackTrace" => {
            let warp = number_of("threadId").and_then(|n| n.checked_sub(1)).ok_or("threadId is missing")?;
            let before = std::mem::replace(&mut engine.selected, Lane { warp, lane: 0 });
            let all = frames(engine);
            engine.selected = before;
            let kernel = engine.target().program().header.name.clone();
            let frame = |(level, (who, index, _)): (usize, &(String, u32, u64))| {
                let (file, line) = engine.location(*index).unwrap_or_default();
                let path = engine.sources.path(&file).and_then(|p| p.canonicalize().ok());
                let mut frame = json!({"id": warp * FRAMES + level as u32, "name": format!("{kernel}: {who}"), "line": line,
                    "column": 0, "instructionPointerReference": format!("{index:#x}")});
                if let Some(path) = path {
                    frame["source"] = json!({"name": file, "path": path.display().to_string()});
                }
                frame
            };
            let frames: Vec<Value> = all.iter().enumerate().map(frame).collect();
            Ok(json!({"totalFrames": frames.len(), "stackFrames": frames}))
        }
        "scopes" => {
            let id = number_of("frameId").ok_or("frameId is missing")?;
            let scope = |(kind, name): (usize, &&str)| {
                let reference = 1 + id * SCOPES.len() as u32 + kind as u32;
                json!({"name": name, "variablesReference": reference, "expensive": false})
            };
            Ok(json!({"scopes": SCOPES.iter().enumerate().map(scope).collect::<Vec<_>>()}))
        }
        "variables" => {
            let reference = number_of("variablesReference").and_then(|n| n.checked_sub(1)).ok_or("there is nothing inside")?;
            let scopes = SCOPES.len() as u32;
            let (lane, _) = frame_of(engine, reference / scopes).ok_or("the frame is gone")?;
            Ok(json!({"variables": variables(engine, lane, reference % scopes)}))
        }
        "evaluate" => {
            let text = arguments["expression"].as_str().unwrap_or_default();
            let lane = number_of("frameId").and_then(|id| frame_of(engine, id)).map_or(engine.selected, |f| f.0);
            if text.trim() == "where" {
                return Ok(json!({"result": standing(engine), "variablesReference": 0}));
            }
            let value = Expression::parse(text, engine.target())?.words(engine.target(), lane)?;
            Ok(json!({"result": value, "variablesReference": 0}))
        }
        "readMemory" => {
            let address = arguments["memoryReference"].as_str().and_then(number).ok_or("memoryReference is an address")?;
            let address = address.wrapping_add_signed(arguments["offset"].as_i64().unwrap_or(0));
            let count = arguments["count"].as_u64().unwrap_or(0).min(1 << 20) as usize;
            let lane = engine.selected;
            let bytes = engine.target().read(MemorySpace::Global, (lane.warp, lane.lane), address, count);
            let bytes = bytes.ok_or_else(|| format!("{address:#x} lies outside global memory"))?;
            let data = base64::engine::general_purpose::STANDARD.encode(bytes);
            Ok(json!({"address": format!("{address:#x}"), "data": data}))
        }
        other => Err(format!("the request `{other}` is not supported")),
    }
}

/// What a scope shows for a lane.
fn variables(engine: &Engine, lane: Lane, scope: u32) -> Vec<Value> {
    let target = engine.target();
    let named = |name: &str| {
        let value = Place::parse(name, target).and_then(|p| p.value(target, lane)).unwrap_or_else(|message| message);
        json!({"name": name, "value": value, "evaluateName": name, "variablesReference": 0})
    };
    match scope {
        0 => {
            let scene = Scene::new(target, lane);
            let known = scene.variables().map_or(&[][..], |v| &v.variables);
            let frames = scene.frames();
            let own = frames.first().map_or(&[][..], |f| &f.1);
            own.iter().map(|n| {
                let (value, name) = (scene.value(*n), &known[*n as usize].name);
                json!({"name": name, "value": scene.text(&value), "type": scene.name(value.of), "evaluateName": name, "variablesReference": 0})
            }).collect()
        }
        1 => target.program().header.args.iter().filter(|a| !a.name.is_empty()).map(|a| named(&a.name)).collect(),
        2 => ["gid.x", "gid.y", "gid.z", "lid.x", "lid.y", "lid.z", "group.x", "group.y", "group.z"].map(named).to_vec(),
        _ => {
            let all = registers(target, lane);
            all.iter().map(|(name, word)| json!({"name": name, "value": format!("{word:#x}"), "variablesReference": 0})).collect()
        }
    }
}

impl FrontEnd for Dap<'_> {
    fn debug(&mut self, engine: &mut Engine) -> Result<(), String> {
        let mut next = Next::Request;
        if self.configured {
            for path in self.breakpoints.keys().cloned().collect::<Vec<_>>() {
                self.set_breakpoints(engine, &path);
            }
            self.set_data(engine);
            next = self.begin(engine)?;
        }
        loop {
            match next {
                Next::Request => {}
                Next::Over => return Ok(()),
                Next::Leave => return Err(String::new()),
            }
            let Some(request) = self.request()? else { return Err(String::new()) };
            next = self.serve(engine, &request)?;
        }
    }

    fn printed(&mut self, text: &str) {
        if !text.is_empty() {
            // Where the editor does not listen, the next answer says so.
            let _ = self.event("output", json!({"category": "stdout", "output": text}));
        }
    }
}
