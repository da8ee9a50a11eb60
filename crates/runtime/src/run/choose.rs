//! Which launches of a case are timed, and what is extrapolated for the others.

use std::collections::BTreeMap;

use super::super::alike::{AlikeLaunches, code_hash, launch_hash};
use super::super::case::Launch;
use super::super::picks::{PickedLaunches, Picks};
use super::{DeviceState, Launched, Mode, Observer, Request, RunError, Simulator, TimedLaunches};
use heddle_object::Image;

/// Launches of a kernel, or of a hash.
#[derive(Default)]
struct Counted {
    launches: u64,
    picked: PickedLaunches,
}

impl Counted {
    /// One more of them: whether it is picked.
    fn begin(&mut self) -> bool {
        self.launches += 1;
        self.picked.contains(self.launches)
    }
}

/// Runs launches with and without timing, as was chosen.
pub(super) struct Chooser<'a> {
    timed: &'a TimedLaunches,
    simulator: &'a Simulator<'a>,
    image: &'a Image,
    program: Counted,
    kernels: BTreeMap<String, Counted>,
    hashes: BTreeMap<String, Counted>,
    code: BTreeMap<String, String>,
    alike: Option<AlikeLaunches>,
    /// Launches ran functionally since the last timed one, and the caches know nothing of it.
    behind: bool,
}

impl<'a> Chooser<'a> {
    /// For the launches of a case, none of which has begun.
    pub fn new(timed: &'a TimedLaunches, simulator: &'a Simulator, image: &'a Image) -> Chooser<'a> {
        Chooser {
            timed,
            simulator,
            image,
            program: Counted { launches: 0, picked: PickedLaunches::of_program(&timed.picks) },
            kernels: BTreeMap::new(),
            hashes: BTreeMap::new(),
            code: BTreeMap::new(),
            alike: timed.alike.map(AlikeLaunches::new),
            behind: false,
        }
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
        let picks = &self.timed.picks;
        let of_program = self.program.begin();
        let new = |picked| Counted { launches: 0, picked };
        let of_kernel = self.kernels.entry(kernel.into()).or_insert_with(|| new(PickedLaunches::of(picks, kernel))).begin();
        let of_hash = hash.is_some_and(|hash| {
            self.hashes.entry(hash.into()).or_insert_with(|| new(PickedLaunches::alike(picks, hash))).begin()
        });
        picks.is_empty() || of_program || of_kernel || of_hash
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
        if simulator.mode == Mode::Functional || !chosen {
            return device.launch(self.image, request, simulator, observer);
        }
        let needs_hash = self.timed.alike.is_some() || Picks::need_hashes(&self.timed.picks);
        let hash = needs_hash.then(|| self.hash(request.spec));
        let once = Launch { repeat: 1, ..request.spec.clone() };
        let mut all = Launched::default();
        for _ in 0..request.spec.repeat {
            let picked = self.picks(&once.kernel, hash.as_deref());
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
            if let Some((alike, hash)) = self.alike.as_mut().zip(hash.as_deref()).filter(|_| picked) {
                match timed {
                    true => alike.timed(hash, &launched.statistics),
                    false => alike.extrapolate(hash, &mut launched.statistics),
                }
            }
            all.statistics.add(&launched.statistics);
            all.time += launched.time;
            all.printed.add(&launched.printed);
        }
        Ok(all)
    }
}
