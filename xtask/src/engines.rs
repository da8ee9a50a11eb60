//! `cargo xtask engines`: a sweep on the real Slurm and the real GNU parallel gives the files of an
//! uninterrupted run.
//!
//! Needs Debian's packages `slurm-wlm` (with munge), `parallel` and `openssh-server`; what is
//! missing is said and left out. Slurm (one node), munge and sshd run as the current user, with
//! keys, ports and files of their own in a temporary folder, and end with the task.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::shell::{build, find, root};

const SWEEP: &str = "minimise = ['cycles', 'energy_pj']
[axes]
warp-size = [16, 32]
sm.count = { from = 1, to = 5 }
sm.max-warps = [4, 8, 16, 24, 48]
memory.uniform.bytes = [8192, 32768]
regfile = ['multilevel', 'single']
";
const POINTS: usize = 200;
/// Ports of slurmctld, slurmd and sshd.
const PORTS: [u16; 3] = [46817, 46818, 46822];

/// A process that ends with this value.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // As a daemon wants it; a kill only if it does not listen.
        let _asked = Command::new("kill").arg(self.0.id().to_string()).status();
        for _ in 0..50 {
            if matches!(self.0.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let _killed = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// What all checks share.
struct Bench {
    heddle: PathBuf,
    folder: PathBuf,
    sweep: PathBuf,
}

/// Runs all checks that can run. False if nothing could.
pub fn run() -> Result<bool> {
    let folder = std::env::temp_dir().join(format!("heddle-engines-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let sweep = folder.join("engines.toml");
    let case = root().join("test-kernels/sgemm_tiled/case.json");
    fs::write(&sweep, format!("cases = [{:?}]\n{SWEEP}", case.display().to_string()))?;
    let bench = Bench { heddle: build()?, folder: folder.clone(), sweep };
    let result = checks(&bench);
    match &result {
        Ok(_) => fs::remove_dir_all(&folder)?,
        Err(_) => eprintln!("what the engines wrote is in {}", folder.display()),
    }
    result
}

fn checks(bench: &Bench) -> Result<bool> {
    let started = Instant::now();
    bench.sweep(&["--out", &bench.path("whole")])?;
    println!("uninterrupted: {POINTS} points in {:.1} s", started.elapsed().as_secs_f64());
    let mut ran = 0;
    let missing = |programs: &[&str]| -> Vec<String> {
        programs.iter().filter(|p| find_daemon(p).is_none()).map(ToString::to_string).collect()
    };
    let skip = |what: &str, lacks: &[String]| println!("{what}: SKIPPED, there is no {}", lacks.join(", "));
    let lacks = missing(&["parallel"]);
    if lacks.is_empty() {
        parallel(bench, "local", &[":"])?;
        ran += 1;
        let lacks = missing(&["sshd", "ssh", "ssh-keygen"]);
        if lacks.is_empty() {
            over_ssh(bench)?;
            ran += 1;
        } else {
            skip("GNU parallel over ssh", &lacks);
        }
    } else {
        skip("GNU parallel", &lacks);
    }
    let lacks = missing(&["sbatch", "slurmctld", "slurmd", "munged"]);
    if lacks.is_empty() {
        slurm(bench)?;
        ran += 1;
    } else {
        skip("Slurm", &lacks);
    }
    println!("{ran} of 3 engines gave the same results");
    Ok(ran > 0)
}

/// A program of the PATH or of the folders of daemons.
fn find_daemon(name: &str) -> Option<PathBuf> {
    find(name).or_else(|| ["/usr/sbin", "/usr/local/sbin", "/sbin"].iter().map(|f| Path::new(f).join(name)).find(|p| p.is_file()))
}

fn daemon(name: &str) -> Result<Command> {
    find_daemon(name).map(Command::new).with_context(|| format!("there is no {name}"))
}

/// Waits for something, but not for ever.
fn wait_for(what: &str, seconds: u64, mut ready: impl FnMut() -> bool) -> Result<()> {
    let started = Instant::now();
    while !ready() {
        ensure!(started.elapsed() < Duration::from_secs(seconds), "{what}: not within {seconds} s");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

impl Bench {
    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn sweep(&self, words: &[&str]) -> Result<String> {
        let output = Command::new(&self.heddle).arg("sweep").arg(&self.sweep).args(words).output()?;
        ensure!(output.status.success(), "sweep {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Points in the journals of a folder.
    fn points(&self, name: &str) -> usize {
        let parts = fs::read_dir(self.folder.join(name)).into_iter().flatten().flatten();
        let journals = parts.filter(|e| e.file_name().to_string_lossy().starts_with("part-"));
        journals.map(|e| fs::read(e.path()).map_or(0, |b| b.iter().filter(|c| **c == b'\n').count().saturating_sub(1))).sum()
    }

    /// Merges and compares with the uninterrupted run; no point may have run twice.
    fn collect(&self, what: &str, name: &str) -> Result<()> {
        ensure!(self.points(name) == POINTS, "{what}: {} points in the journals instead of {POINTS}", self.points(name));
        self.sweep(&["--collect", &self.path(name)])?;
        for file in ["results.parquet", "results.csv", "results.jsonl", "pareto.html"] {
            let (a, b) = (fs::read(self.folder.join("whole").join(file))?, fs::read(self.folder.join(name).join(file))?);
            ensure!(a == b, "{what}: {file} is not that of the uninterrupted run");
        }
        Ok(())
    }
}

/// GNU parallel, killed once with all its tasks and started again.
fn parallel(bench: &Bench, name: &str, logins: &[&str]) -> Result<()> {
    let started = Instant::now();
    let folder = format!("parallel-{name}");
    let out = bench.path(&folder);
    let mut words = vec!["--emit", "parallel", "--out", &out, "--tasks", "12"];
    logins.iter().for_each(|l| words.extend(["--sshlogin", l]));
    let script = bench.folder.join(format!("{name}.sh"));
    fs::write(&script, bench.sweep(&words)?)?;
    let command =
        |out: Stdio| -> Result<Child> {
            let mut c = Command::new("bash");
            // A group of its own, to be killed as a whole.
            std::os::unix::process::CommandExt::process_group(&mut c, 0);
            c.arg(&script).args(["--jobs", "2"]).stdin(Stdio::null()).stdout(out).stderr(Stdio::from(
                fs::File::options().create(true).append(true).open(bench.folder.join(format!("{name}.log")))?,
            ));
            c.spawn().context("cannot run bash")
        };
    let mut child = command(Stdio::null())?;
    wait_for("GNU parallel's first points", 120, || bench.points(&folder) >= 30 || matches!(child.try_wait(), Ok(Some(_))))?;
    let _gone = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    child.wait()?;
    let before = bench.points(&folder);
    ensure!(before < POINTS, "GNU parallel ended before it could be killed");
    // Tasks on the other side of ssh may still write: the lock of their journal keeps the next ones
    // out.
    std::thread::sleep(Duration::from_secs(if logins == [":"] { 1 } else { 5 }));
    let mut tries = 0;
    while !command(Stdio::null())?.wait()?.success() {
        tries += 1;
        ensure!(tries < 5, "GNU parallel failed; its words are in {}", bench.path(&format!("{name}.log")));
        std::thread::sleep(Duration::from_secs(2));
    }
    bench.collect("GNU parallel", &folder)?;
    println!(
        "GNU parallel, {name}: killed after {before} points, started again: same results, in {:.1} s",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// GNU parallel with a `sshd` of our own.
fn over_ssh(bench: &Bench) -> Result<()> {
    let path = |name: &str| bench.path(name);
    for key in ["host-key", "user-key"] {
        let status = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)]).status()?;
        ensure!(status.success(), "ssh-keygen failed");
    }
    fs::copy(path("user-key.pub"), path("authorized"))?;
    let port = PORTS[2];
    let config = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
         StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n\
         MaxStartups 100\n",
        path("host-key"),
        path("authorized")
    );
    fs::write(path("sshd_config"), config)?;
    // Debian's service makes it; sshd does not start without it. Only root can, and only root's
    // sshd needs it.
    let _only_root = fs::create_dir_all("/run/sshd");
    let mut sshd = daemon("sshd")?;
    sshd.args(["-D", "-f", &path("sshd_config"), "-E", &path("sshd.log")]);
    let _sshd = Daemon(sshd.spawn().context("cannot run sshd")?);
    let ssh = format!(
        "ssh -p {port} -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
         -o LogLevel=ERROR -o BatchMode=yes localhost",
        path("user-key")
    );
    wait_for("sshd", 20, || {
        let words: Vec<&str> = ssh.split(' ').chain(["true"]).collect();
        Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).output().is_ok_and(|o| o.status.success())
    })?;
    parallel(bench, "ssh", &[&format!("2/{ssh}")])
}

/// Slurm on one node: an array that is cancelled and submitted again.
fn slurm(bench: &Bench) -> Result<()> {
    let started = Instant::now();
    let output = |program: &str, words: &[&str]| -> Result<String> {
        let o = Command::new(program).args(words).output().with_context(|| format!("cannot run {program}"))?;
        ensure!(o.status.success(), "{program}: {}", String::from_utf8_lossy(&o.stderr));
        Ok(String::from_utf8_lossy(&o.stdout).trim().to_string())
    };
    let (host, user) = (output("hostname", &["-s"])?, output("id", &["-un"])?);
    let path = |name: &str| bench.path(&format!("slurm-daemons/{name}"));
    for folder in ["state", "spool", "run"] {
        fs::create_dir_all(path(folder))?;
    }
    let mut key = [0u8; 1024];
    std::io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut key)?;
    fs::write(path("munge.key"), key)?;
    fs::set_permissions(path("munge.key"), std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let mut munged = daemon("munged")?;
    munged.args(["--foreground", "--force"]);
    for (option, file) in [
        ("socket", "run/munge.socket"),
        ("key-file", "munge.key"),
        ("pid-file", "run/munged.pid"),
        ("log-file", "munged.log"),
        ("seed-file", "munge.seed"),
    ] {
        munged.arg(format!("--{option}={}", path(file)));
    }
    let quiet = |mut c: Command, log: &str| -> Result<Daemon> {
        let file = fs::File::create(path(log))?;
        c.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        Ok(Daemon(c.spawn()?))
    };
    let _munged = quiet(munged, "munged.out")?;
    wait_for("munged", 20, || Path::new(&path("run/munge.socket")).exists())?;
    let cpus = std::thread::available_parallelism()?;
    let config = format!(
        "ClusterName=heddle\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n\
         AuthType=auth/munge\nAuthInfo=socket={munge}\n\
         SlurmctldPort={}\nSlurmdPort={}\nStateSaveLocation={state}\nSlurmdSpoolDir={spool}\n\
         SlurmctldPidFile={run}/slurmctld.pid\nSlurmdPidFile={run}/slurmd.pid\n\
         SlurmctldLogFile={}\nSlurmdLogFile={}\nProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\nReturnToService=2\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
         JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
         KillWait=2\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
        PORTS[0],
        PORTS[1],
        path("slurmctld.log"),
        path("slurmd.log"),
        munge = path("run/munge.socket"),
        state = path("state"),
        spool = path("spool"),
        run = path("run"),
    );
    fs::write(path("slurm.conf"), config)?;
    let with_config = |program: &str, words: &[&str]| -> Result<Command> {
        let mut c = daemon(program)?;
        c.env("SLURM_CONF", path("slurm.conf")).args(words);
        Ok(c)
    };
    let _controller = quiet(with_config("slurmctld", &["-D"])?, "slurmctld.out")?;
    let _node = quiet(with_config("slurmd", &["-D"])?, "slurmd.out")?;
    let slurm = |program: &str, words: &[&str]| -> Result<String> {
        let o = with_config(program, words)?.output()?;
        ensure!(
            o.status.success(),
            "{program} {}: {}{}",
            words.join(" "),
            String::from_utf8_lossy(&o.stdout),
            String::from_utf8_lossy(&o.stderr)
        );
        Ok(String::from_utf8_lossy(&o.stdout).trim().to_string())
    };
    wait_for("Slurm's node", 60, || slurm("sinfo", &["-h", "-o", "%t"]).is_ok_and(|s| s.starts_with("idle")))?;

    let out = bench.path("slurm");
    let script = bench.path("slurm.sbatch");
    fs::write(&script, bench.sweep(&["--emit", "slurm", "--out", &out, "--tasks", "12"])?)?;
    let job = slurm("sbatch", &["--parsable", &script])?;
    wait_for("Slurm's first points", 120, || bench.points("slurm") >= 30)?;
    slurm("scancel", &["--signal=KILL", "--full", &job])?;
    slurm("scancel", &[&job])?;
    wait_for("the end of the cancelled job", 60, || slurm("squeue", &["-h"]).is_ok_and(|s| s.is_empty()))?;
    let before = bench.points("slurm");
    if before >= POINTS {
        bail!("the array ended before it could be cancelled");
    }
    slurm("sbatch", &["--wait", &script])?;
    bench.collect("Slurm", "slurm")?;
    println!(
        "Slurm, job array of 12: cancelled after {before} points, submitted again: same results, in {:.1} s",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}
