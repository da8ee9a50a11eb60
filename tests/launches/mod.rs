//! Sessions that are told of launches: what the tests of sessions begin with.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heddle::driver::{self, CompileOptions, Emit};
use heddle::object::{Image, read};
use heddle::runtime::case::Case;
use heddle::runtime::printf::Printed;
use heddle::runtime::run::{Outcome, Simulator, run_case};
use heddle::session::{CommandTimes, ExecOptions, LaunchPlan, LaunchResult, Session, SourceText};
use heddle::sim::{Fault, Statistics};
use heddle::{Machine, Mode};

/// The options that these variables give.
pub fn options(words: &[(&str, &str)]) -> ExecOptions {
    let words: BTreeMap<&str, &str> = words.iter().copied().collect();
    ExecOptions::from_variables(|name| words.get(name).map(Into::into)).unwrap()
}

/// A session with these variables.
pub fn session(words: &[(&str, &str)], folder: Option<&Path>) -> Session {
    Session::new(options(words), folder.map(Into::into)).unwrap()
}

/// A case compiled, with its first launch alone, and what that does in a mode.
pub fn run_first(path: &str, mode: Mode, plan: Option<&LaunchPlan>) -> (Case, Arc<Image>, Outcome) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut case = Case::read(&root.join(path)).unwrap();
    case.launches.truncate(1);
    case.buffers.values_mut().for_each(|b| b.expect = None);
    let machine = Machine::default_machine();
    let (inputs, frontend) = driver::case_frontend(&case, &[]).unwrap();
    let compiled = driver::compile(&inputs, Emit::Obj, &CompileOptions { frontend, ..Default::default() }, &machine).unwrap();
    let image = Arc::new(read::parse(&compiled.output).unwrap());
    let defaults = Default::default();
    let simulator = Simulator { machine: &machine, mode, options: plan.map_or(&defaults, |p| &p.options) };
    let outcome = run_case(&case, &image, &simulator, &mut ()).unwrap();
    (case, image, outcome)
}

/// Tells a session of a launch of `saxpy` that ran as planned.
pub fn launch(session: &Session, image: &Arc<Image>, statistics: Result<&Statistics, &Fault>, started: u64) -> LaunchPlan {
    let plan = session.begin_launch("saxpy", String::new);
    end_launch(session, &plan, image, statistics, started);
    plan
}

/// Tells a session how a planned launch ended.
pub fn end_launch(session: &Session, plan: &LaunchPlan, image: &Arc<Image>, outcome: Result<&Statistics, &Fault>, started: u64) {
    let source = SourceText { files: vec![("kernel.cl".into(), "// in memory".into())], ..SourceText::default() };
    session.end_launch(
        plan,
        &LaunchResult {
            image,
            version: 0,
            source: Some(&source),
            global: &[1024],
            local: &[64],
            offset: &[0],
            queue: 1,
            times: CommandTimes { queued: started, submitted: started, started, ended: started + 500 },
            host: Duration::from_micros(70),
            outcome,
            printed: &Printed::default(),
        },
    );
}
