//! Variables in the debugger: what it prints at a line is what the program has there.
//!
//! Each kernel is compiled twice. With `AT` printing, it tells its own variables whenever it comes to a line. Without, the
//! debugger stops at these lines in the optimised code. At each stop, all that the debugger says of variables together
//! must be what the program told at one of its visits of the line, and the visits must come in order. The debugger may say
//! that a variable is optimised out; how often it may not is counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use heddle::driver::{self, CompileOptions, Emit};
use heddle::object::{Image, read};
use heddle::runtime::case::Case;
use heddle::target::Machine;

/// How code is generated: the techniques on, and each one off that moves values.
const OPTIONS: [&[&str]; 9] = [
    &[],
    &["--no-schedule"],
    &["--regfile=single"],
    &["--max-registers=20"],
    &["--max-registers=18", "--regfile=single"],
    &["--no-scalarize"],
    &["--rename"],
    &["-O1"],
    &["-O0"],
];

/// What a kernel told at a visit of a line, or the debugger at a stop: line, values by name.
type Visit = (u32, BTreeMap<String, String>);

fn heddle(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_heddle")).current_dir(folder).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Values that are written in two ways: floats with as many digits as are needed, or nine.
fn same(a: &str, b: &str) -> bool {
    let float = |t: &str| t.parse::<f64>().ok().map(|x| x as f32);
    a == b || (a.contains(['.', 'e']) || b.contains(['.', 'e'])) && float(a).is_some_and(|x| float(b) == Some(x))
}

/// What the kernel itself tells for a work-item.
fn told(folder: &Path, launch: &[&str]) -> Vec<Visit> {
    let text = heddle(folder, &[&["run", "kernel.cl", "--mode=functional", "-DTELL"], launch].concat());
    let visits = text.lines().filter_map(|l| l.strip_prefix("@"));
    let visit = |line: &str| {
        let mut words = line.split_whitespace();
        let number = words.next().unwrap().parse().unwrap();
        let values = words.map(|w| w.split_once('=').unwrap()).map(|(k, v)| (k.to_string(), v.to_string()));
        (number, values.collect())
    };
    visits.map(visit).collect()
}

/// What the debugger says at each stop.
fn shown(folder: &Path, launch: &[&str], options: &[&str], lines: &[u32], item: u32, most: usize) -> Vec<Visit> {
    let mut script = String::new();
    for line in lines {
        writeln!(script, "break {line} for {item}").unwrap();
    }
    for _ in 0..most {
        script += "continue\ninfo locals\ninfo args\n";
    }
    std::fs::write(folder.join("script"), script).unwrap();
    let input = std::fs::File::open(folder.join("script")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.current_dir(folder).args(["debug", "kernel.cl"]).args(launch).args(options).stdin(input);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{options:?}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let mut visits: Vec<Visit> = Vec::new();
    let mut ended = false;
    for line in text.lines() {
        ended |= line == "the launch has ended";
        if ended {
            break;
        }
        if let Some(rest) = line.strip_prefix("kernel.cl:") {
            let number = rest.split(':').next().unwrap().parse().unwrap();
            visits.push((number, BTreeMap::new()));
        } else if let (Some((name, value)), Some(visit)) = (line.split_once(" = "), visits.last_mut()) {
            // Of inlined functions the innermost comes first.
            visit.1.entry(name.to_string()).or_insert_with(|| value.to_string());
        }
    }
    assert!(ended, "{options:?}: the script is too short\n{text}");
    visits
}

/// Known and wanted variables of all stops; panics if the debugger says what the program has not told.
fn compare(name: &str, source: &str, launch: &[&str], item: u32) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let head = format!(
        "#ifdef TELL\n#define AT(format, ...) if (get_global_id(0) == {item}) printf(\"@%d \" format \"\\n\", __LINE__, __VA_ARGS__);\n\
         #else\n#define AT(format, ...)\n#endif\n"
    );
    std::fs::write(folder.path().join("kernel.cl"), head + source).unwrap();
    let told = told(folder.path(), launch);
    assert!(told.len() > 3, "{name} tells too little: {told:?}");
    let mut lines: Vec<u32> = told.iter().map(|v| v.0).collect();
    lines.sort_unstable();
    lines.dedup();
    let (mut known, mut wanted) = (0, 0);
    for options in OPTIONS {
        let shown = shown(folder.path(), launch, options, &lines, item, 3 * told.len() + 20);
        let mut last: BTreeMap<u32, usize> = BTreeMap::new();
        for (line, values) in shown.iter().filter(|v| lines.contains(&v.0)) {
            let agrees = |visit: &Visit| {
                visit.0 == *line
                    && visit.1.iter().all(|(k, v)| values.get(k).is_none_or(|s| s.contains("optimised out") || same(s, v)))
            };
            // A line with a call is come to again behind it.
            let at = last.entry(*line).or_default();
            let found = told[*at..].iter().position(agrees);
            let visits: Vec<&Visit> = told.iter().filter(|v| v.0 == *line).collect();
            let found =
                found.unwrap_or_else(|| panic!("{name} {options:?}, line {line}: shown {values:?}, told {visits:?}, at {at}"));
            *at += found;
            let names = told[*at].1.keys();
            wanted += names.len();
            known += names.filter(|k| values.get(*k).is_some_and(|v| !v.contains("optimised out"))).count();
        }
    }
    println!("{name}: {known} of {wanted} known");
    (known, wanted)
}

#[test]
fn loops_and_branches() {
    let source = r#"
__kernel void k(__global int *a, int n)
{
    int i = get_global_id(0);
    AT("i=%d n=%d", i, n) int v = a[i] + 3;
    AT("i=%d n=%d v=%d", i, n, v) if (i & 1)
    {
        AT("v=%d", v) v += n;
    }
    AT("v=%d", v) int sum = 0;
    for (int j = 0; j < n; j++) {
        AT("v=%d sum=%d j=%d", v, sum, j) int t = a[(i + j) & 63] * v;
        AT("v=%d sum=%d j=%d t=%d", v, sum, j, t) if (t > 40 + j) {
            AT("v=%d sum=%d j=%d t=%d", v, sum, j, t) sum -= t ^ j;
        } else {
            AT("v=%d sum=%d j=%d t=%d", v, sum, j, t) sum += t;
        }
        AT("v=%d sum=%d j=%d t=%d", v, sum, j, t) v = v * 5 + t;
    }
    AT("v=%d sum=%d", v, sum) a[i] = v * i + sum;
}
"#;
    let launch = ["--kernel=k", "--global=64", "--local=64", "--arg=a=random:int32:64,seed=3,low=0,high=20", "--arg=i32=7"];
    for item in [0, 5, 41] {
        let (known, wanted) = compare("loops_and_branches", source, &launch, item);
        assert!(known * 10 > wanted * 6, "{known} of {wanted}");
    }
}

#[test]
fn floats_vectors_and_calls() {
    let source = r#"
float mix2(float x, float y, int w)
{
    AT("x=%.9g y=%.9g w=%d", x, y, w) float r = x * w;
    AT("x=%.9g y=%.9g w=%d r=%.9g", x, y, w, r) r += y;
    AT("r=%.9g", r) return r * 0.5f;
}
__kernel void k(__global float *a, float4 f, int n)
{
    int i = get_global_id(0);
    AT("i=%d n=%d", i, n) float q = a[i];
    AT("q=%.9g", q) float4 g = f * q;
    AT("q=%.9g", q) float s = 0;
    for (int j = 0; j < n; j += 2) {
        AT("q=%.9g s=%.9g j=%d", q, s, j) float z = mix2(q, s, j);
        AT("q=%.9g s=%.9g j=%d z=%.9g", q, s, j, z) s += z * g.y;
        AT("q=%.9g s=%.9g j=%d z=%.9g", q, s, j, z) g.x -= s;
        AT("q=%.9g s=%.9g j=%d z=%.9g", q, s, j, z) if (s > 100.0f) {
            AT("s=%.9g j=%d", s, j) break;
        }
    }
    AT("q=%.9g s=%.9g", q, s) float last = g.x + g.w;
    AT("s=%.9g last=%.9g", s, last) a[i] = s + last;
}
"#;
    let launch =
        ["--kernel=k", "--global=64", "--local=32", "--arg=a=random:float32:64,seed=5", "--arg=f32=1,2,3,4", "--arg=i32=9"];
    for item in [3, 40] {
        let (known, wanted) = compare("floats_vectors_and_calls", source, &launch, item);
        assert!(known * 2 > wanted, "{known} of {wanted}");
    }
}

#[test]
fn wide_numbers_and_many_values() {
    let source = r#"
__kernel void k(__global long *a, __global const int *b, int n)
{
    int i = get_global_id(0);
    AT("i=%d", i) long v = a[i] * 0x100000001L;
    AT("v=%ld", v) ulong u = (ulong)v >> 7;
    AT("v=%ld u=%lu", v, u) int p = b[i], q = b[(i + 1) & 63], r = b[(i + 2) & 63], s = b[(i + 3) & 63];
    AT("v=%ld u=%lu p=%d q=%d r=%d s=%d", v, u, p, q, r, s) int t = p * q + r, w = q * r + s, x = r * s + p, y = s * p + q;
    for (int j = 0; j < n; ++j) {
        AT("v=%ld u=%lu p=%d q=%d r=%d s=%d t=%d w=%d x=%d y=%d j=%d", v, u, p, q, r, s, t, w, x, y, j) t += w * p;
        AT("v=%ld u=%lu p=%d q=%d r=%d s=%d t=%d w=%d x=%d y=%d j=%d", v, u, p, q, r, s, t, w, x, y, j) w += x * q;
        AT("v=%ld u=%lu p=%d q=%d r=%d s=%d t=%d w=%d x=%d y=%d j=%d", v, u, p, q, r, s, t, w, x, y, j) x += y * r;
        AT("v=%ld u=%lu p=%d q=%d r=%d s=%d t=%d w=%d x=%d y=%d j=%d", v, u, p, q, r, s, t, w, x, y, j) y += t * s;
        AT("v=%ld u=%lu t=%d w=%d x=%d y=%d j=%d", v, u, t, w, x, y, j) v += (long)t * y;
        AT("v=%ld u=%lu t=%d w=%d x=%d y=%d j=%d", v, u, t, w, x, y, j) u ^= (ulong)v << (j & 31);
    }
    AT("v=%ld u=%lu t=%d w=%d x=%d y=%d", v, u, t, w, x, y) uchar c = t;
    AT("v=%ld u=%lu t=%d c=%d", v, u, t, (int)c) short h = w;
    AT("v=%ld u=%lu c=%d h=%d", v, u, (int)c, (int)h) a[i] = v + u + c + h + x + y + p + q + r + s;
}
"#;
    let launch = [
        "--kernel=k",
        "--global=64",
        "--local=64",
        "--arg=a=random:int64:64,seed=3,low=0,high=2000",
        "--arg=b=random:int32:64,seed=4,low=-50,high=50",
        "--arg=i32=6",
    ];
    for item in [1, 38] {
        let (known, wanted) = compare("wide_numbers_and_many_values", source, &launch, item);
        assert!(known * 10 > wanted * 6, "{known} of {wanted}");
    }
}

#[test]
fn divergent_loops_and_barriers() {
    let source = r#"
__kernel void k(__global int *a, __local int *l)
{
    int i = get_global_id(0), m = get_local_id(0);
    AT("i=%d m=%d", i, m) int x = a[i];
    AT("i=%d m=%d x=%d", i, m, x) l[m] = x;
    AT("x=%d", x) barrier(CLK_LOCAL_MEM_FENCE);
    AT("x=%d m=%d", x, m) int steps = 0;
    while (x != 1) {
        AT("x=%d steps=%d", x, steps) if (x & 1) {
            AT("x=%d steps=%d", x, steps) x = 3 * x + 1;
        } else {
            AT("x=%d steps=%d", x, steps) x >>= 1;
        }
        AT("x=%d steps=%d", x, steps) steps++;
        AT("x=%d steps=%d", x, steps) if (steps > 30 + (i & 7)) {
            AT("x=%d steps=%d", x, steps) break;
        }
    }
    AT("x=%d steps=%d", x, steps) int best = steps;
    for (int d = 16; d > 0; d >>= 1) {
        AT("best=%d d=%d", best, d) int other = l[m ^ d];
        AT("best=%d d=%d other=%d", best, d, other) switch (other & 3) {
        case 0: AT("best=%d d=%d other=%d", best, d, other) best += d; break;
        case 1: AT("best=%d d=%d other=%d", best, d, other) best ^= other; break;
        default: AT("best=%d d=%d other=%d", best, d, other) best -= 1; break;
        }
        AT("best=%d d=%d other=%d", best, d, other) barrier(CLK_LOCAL_MEM_FENCE);
    }
    AT("x=%d steps=%d best=%d", x, steps, best) a[i] = best + steps;
}
"#;
    let launch = ["--kernel=k", "--global=64", "--local=32", "--arg=a=random:int32:64,seed=9,low=1,high=90", "--arg=local=128"];
    for item in [2, 9, 50] {
        let (known, wanted) = compare("divergent_loops_and_barriers", source, &launch, item);
        assert!(known * 2 > wanted, "{known} of {wanted}");
    }
}

#[test]
fn memory_and_structures() {
    let source = r#"
typedef struct { int x; float y; int k[4]; } item;
int pick(const item *p, int n)
{
    AT("n=%d", n) int r = p->k[n & 3];
    AT("n=%d r=%d", n, r) return r + p->x;
}
__kernel void k(__global int *a, __global const item *items, int n)
{
    int i = get_global_id(0);
    AT("i=%d", i) item own = items[i & 3];
    AT("i=%d", i) int order[8];
    for (int j = 0; j < 8; ++j) {
        AT("i=%d j=%d", i, j) order[j] = (a[i] * j) & 7;
    }
    AT("i=%d", i) int s = 0;
    for (int j = 0; j < n; ++j) {
        AT("s=%d j=%d", s, j) int o = order[(s + j) & 7];
        AT("s=%d j=%d o=%d", s, j, o) own.k[o & 3] += j;
        AT("s=%d j=%d o=%d", s, j, o) s += pick(&own, o) + o;
    }
    AT("s=%d", s) a[i] = s + own.x;
}
"#;
    let launch = [
        "--kernel=k",
        "--global=32",
        "--local=32",
        "--arg=a=random:int32:32,seed=2,low=0,high=60",
        "--arg=b=random:int32:24,seed=4,low=-50,high=50",
        "--arg=i32=6",
    ];
    for item in [1, 30] {
        let (known, wanted) = compare("memory_and_structures", source, &launch, item);
        assert!(known * 2 > wanted, "{known} of {wanted}");
    }
}

fn compiled(case: &Case, more: &[String], machine: &Machine) -> Image {
    let (inputs, frontend) = driver::case_frontend(case, more).unwrap();
    let options = CompileOptions { frontend, ..Default::default() };
    let compilation = driver::compile(&inputs, Emit::Obj, &options, machine);
    read::parse(&compilation.unwrap_or_else(|e| panic!("{}: {e}", case.source().display())).output).unwrap()
}

/// Code does not depend on debug information: the instructions, their lines and all that a launch needs are the same.
#[test]
fn code_is_the_same_with_and_without() {
    let machine = Machine::default_machine();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-kernels");
    let mut cases: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path().join("case.json")).collect();
    cases.retain(|c| c.is_file());
    cases.sort();
    let (mut compared, mut known) = (0, 0);
    for path in cases {
        let case = Case::read(&path).unwrap();
        let without = compiled(&case, &[], &machine);
        let mut with = compiled(&case, &["-g".into()], &machine);
        for kernel in &mut with.metadata.kernels {
            let variables = kernel.variables.take();
            known += usize::from(variables.is_some_and(|v| !v.locations.is_empty()));
        }
        assert!(without.metadata == with.metadata, "{}", path.display());
        assert!(without.text == with.text, "{}: other instructions", path.display());
        assert!(without.data == with.data && without.lines == with.lines, "{}: other data or lines", path.display());
        compared += 1;
    }
    println!("{compared} cases, {known} kernels with variables");
    assert!(compared > 100 && known > 100, "{compared} cases, {known} kernels with variables");
}

/// A statement of a loop stops a warp as often as it executes, however the loop was unrolled.
#[test]
fn each_copy_of_an_unrolled_statement_stops() {
    let source = "typedef struct { float x, y; int n; } P;\n\
        float length2(P p) { float s = p.x * p.x; s += p.y * p.y; return s; }\n\
        kernel void k(global const float *a, global float *out, int n) {\n  int x = get_global_id(0), y = get_global_id(1);\n  float sum = 0;\n  \
        P p = { 1.0f, 2.0f, n };\n  for (int i = 0; i < n; i++) {\n    float v = a[2 * (y * n + i)];\n    p.x += v;\n    \
        sum += v * i + length2(p);\n  }\n  out[y * get_global_size(0) + x] = sum;\n}\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kernel.cl"), source).unwrap();
    for n in [1, 2, 5, 31] {
        let n_argument = format!("--arg=i32={n}");
        let launch = [
            "--kernel=k",
            "--global=32,1",
            "--local=32,1",
            "--arg=a=random:float32:64",
            "--arg=out=zeros:float32:128",
            &n_argument,
        ];
        for line in [8, 9, 10] {
            let stops = shown(folder.path(), &launch, &[], &[line], 0, n + 8);
            assert_eq!(stops.iter().filter(|s| s.0 == line).count(), n, "line {line} of {n} iterations: {stops:?}");
        }
    }
}
