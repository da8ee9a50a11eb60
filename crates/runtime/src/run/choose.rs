//! Which launches of a case are timed, and what is extrapolated for the others.

use std::collections::BTreeMap;

use super::super::alike::{AlikeLaunches, code_hash, launch_hash};
use super::super::case::Launch;
use super::super::picks::{Picks, Selection};
use super::checkpoint::{self, Checkpoints, Restored};
use super::{DeviceState, Launched, Mode, Observer, Request, RunError, Simulator, TimedLaunches};
use heddle_object::Image;

/// Runs launches with and without timing, as was chosen.
pub(super) struct Chooser<'a> {
    timed: &'a TimedLaunches,
    simulator: &'a Simulator<'a>,
    image: &'a Image,
    picked: Selection,
    code: BTreeMap<String, String>,
    alike: Option<AlikeLaunches>,
    /// Launches ran functionally since the last timed one, and the caches know nothing of it.
    behind: bool,
    /// Checkpoints to be written, and what they are of.
    checkpoints: Option<(&'a Checkpoints, String)>,
    /// The state to go on with, and the launch before which that is; 0 without one.
    restored: Option<Restored>,
    first: u64,
    /// Launches that have begun or were left out.
    begun: u64,
}

impl<'a> Chooser<'a> {
    /// For the launches of a case, none of which has begun.
    pub fn new(timed: &'a TimedLaunches, simulator: &'a Simulator, image: &'a Image) -> Chooser<'a> {
        Chooser {
            timed,
            simulator,
            image,
            picked: Selection::new(&timed.picks),
            code: BTreeMap::new(),
            alike: timed.alike.map(AlikeLaunches::new),
            behind: false,
            checkpoints: None,
            restored: None,
            first: 0,
            begun: 0,
        }
    }

    /// Writes checkpoints of what `of` says, and goes on from one.
    pub fn keep(&mut self, checkpoints: &'a Checkpoints, of: String) -> Result<(), String> {
        if let Some(path) = &checkpoints.restore {
            let restored = checkpoint::read(path, &of)?;
            self.first = restored.launch;
            self.restored = Some(restored);
        }
        self.checkpoints = Some((checkpoints, of));
        Ok(())
    }

    /// Whether the last launches, so many, were all before the checkpoint.
    pub fn left_out(&self, launches: u32) -> bool {
        launches > 0 && self.begun < self.first
    }

    /// Before the next launch: what is to be written or restored. False: the launch is left out.
    fn begin(&mut self, device: &mut DeviceState) -> Result<bool, String> {
        self.begun += 1;
        if self.begun < self.first {
            return Ok(false);
        }
        if let Some(restored) = self.restored.take() {
            restored.give(device)?;
        }
        if let Some((checkpoints, of)) = &self.checkpoints {
            for (_, path) in checkpoints.write.iter().filter(|(at, _)| *at == self.begun) {
                checkpoint::write(path, device, of, self.begun, None)?;
            }
        }
        Ok(true)
    }

    /// The hash of a launch's code and sizes.
    fn hash(&mut self, spec: &Launch) -> String {
        let image = self.image;
        let code = self.code.entry(spec.kernel.clone()).or_insert_with(|| match image.kernel(&spec.kernel) {
            Some(kernel) => code_hash(image, kernel),
            None => String::new(),
        });
        launch_hash(code, &spec.global, spec.local.as_deref().unwrap_or(&[]), spec.offset.as_deref().unwrap_or(&[]))
    }

    /// Whether a launch is one of those that are picked.
    fn picks(&mut self, kernel: &str, hash: Option<&str>) -> bool {
        let picked = self.picked.begin(kernel, hash);
        picked || self.timed.picks.is_empty()
    }

    /// Runs a launch as often as it says, each time as it was chosen.
    pub fn launch(
        &mut self,
        device: &mut DeviceState,
        request: &Request,
        observer: &mut dyn Observer,
    ) -> Result<Launched, RunError> {
        let simulator = self.simulator;
        let chosen = self.timed.alike.is_some() || !self.timed.picks.is_empty();
        if (simulator.mode == Mode::Functional || !chosen) && self.checkpoints.is_none() {
            return device.launch(self.image, request, simulator, observer);
        }
        let needs_hash = self.timed.alike.is_some() || Picks::need_hashes(&self.timed.picks);
        let hash = needs_hash.then(|| self.hash(request.spec));
        let once = Launch { repeat: 1, ..request.spec.clone() };
        let mut all = Launched::default();
        for _ in 0..request.spec.repeat {
            let picked = self.picks(&once.kernel, hash.as_deref()) && simulator.mode == Mode::Timing;
            if !self.begin(device).map_err(RunError::Input)? {
                continue;
            }
            let alike = self.alike.as_mut().zip(hash.as_deref()).filter(|_| picked);
            let timed = alike.map_or(picked, |(alike, hash)| alike.begin(hash));
            let mode = if timed { Mode::Timing } else { Mode::Functional };
            let warm = simulator.options.warm;
            if timed && std::mem::take(&mut self.behind) {
                device.flush_caches(simulator.machine);
            }
            self.behind |= !timed && !warm;
            let request = Request { spec: &once, ..*request };
            let mut launched = device.launch(self.image, &request, &Simulator { mode, ..*simulator }, observer)?;
            let interrupted = launched.statistics.interrupted.is_some();
            if interrupted {
                self.alike = None;
            }
            if let Some((alike, hash)) = self.alike.as_mut().zip(hash.as_deref()).filter(|_| picked) {
                match timed {
                    true => alike.timed(hash, &launched.statistics),
                    false => alike.extrapolate(hash, &mut launched.statistics),
                }
            }
            all.version = launched.version;
            all.statistics.add(&launched.statistics);
            all.time += launched.time;
            all.printed.add(&launched.printed);
            if interrupted {
                break;
            }
        }
        Ok(all)
    }
}
