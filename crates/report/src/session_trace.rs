//! `heddle exec --trace`: a program's host calls, its copies and its kernels on one time line, in Chrome's
//! trace-event format, for Perfetto and chrome://tracing.
//!
//! Two processes: the host, with a track for each of the program's threads, in host time from the session's
//! start; and the device, with a track for each queue (more where commands of a queue overlap), in the
//! device's time. In functional mode both are one clock. In timing mode the device's is simulated: kernels
//! and copies are as long as the machine takes for them, not as the simulator.
//!
//! The file is an array of events, which viewers also read without its end: what a program that is killed
//! leaves behind can be looked at. Numbers of processes and threads follow what the head of [`super::trace`]
//! says of Perfetto's importer.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde_json::{Value, json};

/// The host's process; larger than any thread's number of the operating system.
const HOST: u64 = 20_000_001;
/// The device's process.
const DEVICE: u64 = 20_000_002;
/// Track of the first queue.
const QUEUES: u64 = 10_000_000;
/// Tracks of a queue at most.
const TRACKS: u64 = 100;

/// When a command was queued, began and ended, in nanoseconds of the device's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandTimes {
    /// The host put it into the queue.
    pub queued: u64,
    /// The queue gave it to the device.
    pub submitted: u64,
    /// It began.
    pub started: u64,
    /// It ended.
    pub ended: u64,
}

/// A trace under way.
pub struct SessionTrace<W: Write> {
    out: W,
    /// Whether an event has been written.
    begun: bool,
    /// Events that still fit.
    left: usize,
    /// Events that did not.
    dropped: u64,
    threads: BTreeSet<u64>,
    /// Until when each track of a queue is taken.
    queues: BTreeMap<u64, Vec<u64>>,
}

/// Microseconds, in which the format counts.
fn microseconds(ns: u64) -> Value {
    json!(ns as f64 / 1000.0)
}

impl<W: Write> SessionTrace<W> {
    /// A trace of at most `limit` events.
    ///
    /// # Errors
    /// What the output says; also below.
    pub fn new(out: W, machine: &str, limit: usize) -> io::Result<SessionTrace<W>> {
        let (threads, queues) = (BTreeSet::new(), BTreeMap::new());
        let mut trace = SessionTrace { out, begun: false, left: limit, dropped: 0, threads, queues };
        trace.name(HOST, None, "host")?;
        trace.name(DEVICE, None, &format!("device ({machine})"))?;
        Ok(trace)
    }

    /// The output, for instance to flush it.
    pub fn output(&mut self) -> &mut W {
        &mut self.out
    }

    fn put(&mut self, event: &Value) -> io::Result<()> {
        let before = if std::mem::replace(&mut self.begun, true) { ",\n" } else { "[\n" };
        write!(self.out, "{before}{event}")
    }

    /// Names a process, or a thread of it, and says where it stands among others.
    fn name(&mut self, pid: u64, tid: Option<u64>, name: &str) -> io::Result<()> {
        let what = if tid.is_some() { "thread" } else { "process" };
        for (field, args) in [("name", json!({ "name": name })), ("sort_index", json!({ "sort_index": tid.unwrap_or(pid) }))] {
            let mut event = json!({ "ph": "M", "name": format!("{what}_{field}"), "pid": pid, "args": args });
            if let Some(tid) = tid {
                event["tid"] = tid.into();
            }
            self.put(&event)?;
        }
        Ok(())
    }

    /// Whether there is room for one more event.
    fn takes(&mut self) -> bool {
        let room = self.left > 0;
        self.left -= usize::from(room);
        self.dropped += u64::from(!room);
        room
    }

    /// A call of the host's, in nanoseconds since the session began.
    ///
    /// # Errors
    /// What the output says.
    pub fn host_call(&mut self, name: &str, thread: u64, begin: u64, end: u64) -> io::Result<()> {
        if !self.takes() {
            return Ok(());
        }
        if self.threads.insert(thread) {
            self.name(HOST, Some(thread), &format!("thread {thread}"))?;
        }
        self.put(&json!({
            "ph": "X", "name": name, "cat": "call", "pid": HOST, "tid": thread,
            "ts": microseconds(begin), "dur": microseconds(end.saturating_sub(begin)),
        }))
    }

    /// A command of a queue: a kernel, a copy, a marker. `details` are shown when it is selected.
    ///
    /// # Errors
    /// What the output says.
    pub fn command(&mut self, name: &str, category: &str, queue: u64, times: &CommandTimes, details: Value) -> io::Result<()> {
        if !self.takes() {
            return Ok(());
        }
        let CommandTimes { queued, submitted, started, ended } = *times;
        let tracks = self.queues.entry(queue).or_default();
        let track = tracks.iter().position(|until| *until <= started);
        let is_new = track.is_none() && (tracks.len() as u64) < TRACKS;
        let track = track.unwrap_or_else(|| match is_new {
            true => {
                tracks.push(0);
                tracks.len() - 1
            }
            false => tracks.len() - 1,
        });
        tracks[track] = tracks[track].max(ended);
        let tid = QUEUES + queue % (QUEUES / TRACKS) * TRACKS + track as u64;
        if is_new {
            let more = if track > 0 { format!(", overlapping {track}") } else { String::new() };
            self.name(DEVICE, Some(tid), &format!("queue {queue}{more}"))?;
        }
        let mut args = json!({
            "queued": microseconds(queued), "submitted": microseconds(submitted),
            "waited": microseconds(started.saturating_sub(queued)),
        });
        if let (Value::Object(args), Value::Object(details)) = (&mut args, details) {
            args.extend(details);
        }
        self.put(&json!({
            "ph": "X", "name": name, "cat": category, "pid": DEVICE, "tid": tid,
            "ts": microseconds(started), "dur": microseconds(ended.saturating_sub(started)), "args": args,
        }))
    }

    /// Ends the array; says how many events there was no room for.
    ///
    /// # Errors
    /// What the output says.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.dropped > 0 {
            let name = format!("{} more events left out (--trace-limit)", self.dropped);
            self.put(&json!({ "ph": "i", "s": "g", "name": name, "pid": HOST, "tid": HOST, "ts": 0 }))?;
        }
        write!(self.out, "\n]\n")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(started: u64, ended: u64) -> CommandTimes {
        CommandTimes { queued: 1000, submitted: 2000, started, ended }
    }

    #[test]
    fn calls_and_commands_stand_on_tracks_of_their_own() {
        let mut trace = SessionTrace::new(Vec::new(), "m", 4).unwrap();
        trace.host_call("clFinish", 77, 500, 9500).unwrap();
        trace.command("scale", "kernel", 1, &times(3000, 5000), json!({ "cycles": 7 })).unwrap();
        // Overlaps the first, so it has another track.
        trace.command("copy", "copy", 1, &times(4000, 6000), json!({ "bytes": 64 })).unwrap();
        trace.command("scale", "kernel", 2, &times(6000, 7000), json!({})).unwrap();
        trace.host_call("clReleaseEvent", 77, 9600, 9700).unwrap();
        let unfinished = String::from_utf8(trace.output().clone()).unwrap();
        trace.finish().unwrap();
        let text = String::from_utf8(trace.output().clone()).unwrap();
        // What there is of a trace that was cut short is whole events.
        assert!(serde_json::from_str::<Value>(&format!("{unfinished}]")).is_ok());
        let events: Vec<Value> = serde_json::from_str(&text).unwrap();
        let slices: Vec<&Value> = events.iter().filter(|e| e["ph"] == "X").collect();
        assert_eq!(slices.len(), 4);
        assert_eq!((slices[0]["ts"].as_f64(), slices[0]["dur"].as_f64()), (Some(0.5), Some(9.0)));
        assert_eq!(slices[1]["args"]["cycles"], 7);
        assert_eq!(slices[1]["args"]["waited"], 2.0);
        let tracks: BTreeSet<u64> = slices.iter().map(|s| s["tid"].as_u64().unwrap()).collect();
        assert_eq!(tracks.len(), 4);
        let named: BTreeSet<u64> =
            events.iter().filter(|e| e["name"] == "thread_name").map(|e| e["tid"].as_u64().unwrap()).collect();
        assert_eq!(named, tracks);
        assert!(text.contains("1 more events left out"));
    }
}
