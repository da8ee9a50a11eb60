//! The forms of OpenCL C's built-in functions: for each function and type a kernel that calls it.

/// What is known of a form that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The kernel compares the vector form with the scalar one, component by component.
    Components,
    /// Another test runs it and compares values with the host's.
    Values,
    /// It compiles.
    Compiles,
}

/// One function with arguments of certain types.
#[derive(Clone, Debug)]
pub struct Form {
    /// The section of the page.
    pub section: &'static str,
    /// The function.
    pub function: String,
    /// The type, without the width.
    pub ty: String,
    /// The width, or what tells this form from the others.
    pub width: String,
    /// The kernel's statements. `d`: data, `w`: room for results, `l`: local memory, `i`: the work-item, `bad`: counts wrong components.
    pub body: String,
    /// What is known if it compiles (and counts nothing wrong).
    pub evidence: Evidence,
}

const WIDTHS: [usize; 6] = [1, 2, 3, 4, 8, 16];
const INTEGERS: [&str; 8] = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];
const FLOATS: [&str; 3] = ["half", "float", "double"];

fn vector(ty: &str, n: usize) -> String {
    if n == 1 { ty.to_string() } else { format!("{ty}{n}") }
}

fn signed(ty: &str) -> &'static str {
    match ty {
        "half" | "short" | "ushort" => "short",
        "float" | "int" | "uint" => "int",
        "double" | "long" | "ulong" => "long",
        _ => "char",
    }
}

fn unsigned(ty: &str) -> String {
    format!("u{}", signed(ty))
}

fn wider(ty: &str) -> &'static str {
    match ty {
        "char" => "short",
        "uchar" => "ushort",
        "short" => "int",
        "ushort" => "uint",
        "int" => "long",
        _ => "ulong",
    }
}

/// A component-wise function. The signature's first letter is the result, the others the arguments: `g` the type, `s` its scalar, `i` int, `j` scalar
/// int, `u` unsigned and `x` signed integers of the same size, `o` the next wider type, `r` the result of a relation, `P` and `Q` pointers to `g` and `i`
/// in the given address space.
fn componentwise(section: &'static str, function: &str, signature: &str, ty: &str, n: usize, space: &str) -> Form {
    let of = |letter: char, n: usize| match letter {
        'g' | 'P' => vector(ty, n),
        's' => ty.to_string(),
        'i' | 'Q' => vector("int", n),
        'j' => "int".to_string(),
        'u' => vector(&unsigned(ty), n),
        'x' => vector(signed(ty), n),
        'o' => vector(wider(ty), n),
        'r' if n == 1 => "int".to_string(),
        _ => vector(signed(ty), n),
    };
    let letters: Vec<char> = signature.chars().collect();
    let mut body = String::new();
    let (mut call, mut element) = (Vec::new(), Vec::new());
    for (k, letter) in letters[1..].iter().enumerate() {
        let t = of(*letter, n);
        if matches!(letter, 'P' | 'Q') {
            let scalar = of(*letter, 1);
            body += &match space {
                "private" => format!("{t} v{k}; {scalar} e{k}; "),
                _ => format!("{scalar} e{k}; "),
            };
            call.push(match space {
                "private" => format!("&v{k}"),
                "local" => format!("(local {t} *)l + i"),
                _ => format!("(global {t} *)w + i"),
            });
            element.push(format!("&e{k}"));
        } else {
            body += &format!("{t} a{k} = ((global const {t} *)d)[i + {}]; ", 3 * k);
            call.push(format!("a{k}"));
            if n > 1 && !matches!(letter, 's' | 'j') {
                body += &format!("{} b{k}[16]; vstore{n}(a{k}, 0, b{k}); ", of(*letter, 1));
                element.push(format!("b{k}[k]"));
            } else {
                element.push(format!("a{k}"));
            }
        }
    }
    let result = of(letters[0], n);
    body += &format!("{result} r = {function}({}); ", call.join(", "));
    if n == 1 {
        body += &format!("((global {result} *)w)[i] = r;");
    } else {
        // A relation is 1 for scalars and -1 for components. The function is called with the scalar types.
        let one = if letters[0] == 'r' { signed(ty).to_string() } else { of(letters[0], 1) };
        let sign = if letters[0] == 'r' { "-" } else { "" };
        body += &format!(
            "{one} rs[16]; vstore{n}(r, 0, rs); for (int k = 0; k < {n}; k++) {{ {one} e = {sign}{function}({}); \
             if (e != rs[k] && (e == e || rs[k] == rs[k])) atomic_inc(bad); }}",
            element.join(", ")
        );
    }
    let name = if space.is_empty() { vector("", n).replace(' ', "") } else { space.to_string() };
    let width = match (n, space) {
        (1, "") => "1".to_string(),
        (_, "") => name,
        (n, space) => format!("{n} {space}"),
    };
    let evidence = if n == 1 { Evidence::Values } else { Evidence::Components };
    Form { section, function: function.into(), ty: ty.into(), width, body, evidence }
}

fn plain(section: &'static str, function: &str, ty: &str, width: &str, body: String, evidence: Evidence) -> Form {
    Form { section, function: function.into(), ty: ty.into(), width: width.into(), body, evidence }
}

fn math(forms: &mut Vec<Form>) {
    let section = "Math functions";
    let one = "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp exp2 exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma trunc";
    let two = "atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder";
    let mut table: Vec<(&str, &str)> = one.split(' ').map(|f| (f, "gg")).chain(two.split(' ').map(|f| (f, "ggg"))).collect();
    table.extend([
        ("fma", "gggg"),
        ("mad", "gggg"),
        ("ilogb", "ig"),
        ("ldexp", "ggi"),
        ("pown", "ggi"),
        ("rootn", "ggi"),
        ("nan", "gu"),
    ]);
    for ty in FLOATS {
        for n in WIDTHS {
            forms.extend(table.iter().map(|(f, s)| componentwise(section, f, s, ty, n, "")));
            if n > 1 {
                for (f, s) in [("fmax", "ggs"), ("fmin", "ggs"), ("ldexp", "ggj")] {
                    let mut form = componentwise(section, f, s, ty, n, "");
                    form.width += " with scalar";
                    forms.push(form);
                }
            }
            for (f, s) in
                [("fract", "ggP"), ("modf", "ggP"), ("sincos", "ggP"), ("frexp", "ggQ"), ("lgamma_r", "ggQ"), ("remquo", "gggQ")]
            {
                for space in ["private", "local", "global"] {
                    forms.push(componentwise(section, f, s, ty, n, space));
                }
            }
        }
    }
    let of_float = "cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan";
    for n in WIDTHS {
        for prefix in ["half", "native"] {
            forms.extend(of_float.split(' ').map(|f| componentwise(section, &format!("{prefix}_{f}"), "gg", "float", n, "")));
            forms.extend(["divide", "powr"].map(|f| componentwise(section, &format!("{prefix}_{f}"), "ggg", "float", n, "")));
        }
    }
}

fn integer(forms: &mut Vec<Form>) {
    let section = "Integer functions";
    let table = [
        ("abs", "ug"),
        ("abs_diff", "ugg"),
        ("add_sat", "ggg"),
        ("hadd", "ggg"),
        ("rhadd", "ggg"),
        ("clamp", "gggg"),
        ("clz", "gg"),
        ("ctz", "gg"),
        ("mad_hi", "gggg"),
        ("mad_sat", "gggg"),
        ("max", "ggg"),
        ("min", "ggg"),
        ("mul_hi", "ggg"),
        ("rotate", "ggg"),
        ("sub_sat", "ggg"),
        ("popcount", "gg"),
    ];
    for ty in INTEGERS {
        for n in WIDTHS {
            forms.extend(table.iter().map(|(f, s)| componentwise(section, f, s, ty, n, "")));
            if !matches!(ty, "long" | "ulong") {
                forms.push(componentwise(section, "upsample", "ogu", ty, n, ""));
            }
            if matches!(ty, "int" | "uint") {
                forms.push(componentwise(section, "mul24", "ggg", ty, n, ""));
                forms.push(componentwise(section, "mad24", "gggg", ty, n, ""));
            }
            if n > 1 {
                for (f, s) in [("clamp", "ggss"), ("max", "ggs"), ("min", "ggs")] {
                    let mut form = componentwise(section, f, s, ty, n, "");
                    form.width += " with scalar";
                    forms.push(form);
                }
            }
        }
    }
}

fn common(forms: &mut Vec<Form>) {
    for ty in FLOATS {
        for n in WIDTHS {
            let table = [
                ("clamp", "gggg"),
                ("degrees", "gg"),
                ("max", "ggg"),
                ("min", "ggg"),
                ("mix", "gggg"),
                ("radians", "gg"),
                ("step", "ggg"),
                ("smoothstep", "gggg"),
                ("sign", "gg"),
            ];
            forms.extend(table.iter().map(|(f, s)| componentwise("Common functions", f, s, ty, n, "")));
            if n > 1 {
                for (f, s) in
                    [("clamp", "ggss"), ("max", "ggs"), ("min", "ggs"), ("mix", "gggs"), ("step", "gsg"), ("smoothstep", "gssg")]
                {
                    let mut form = componentwise("Common functions", f, s, ty, n, "");
                    form.width += " with scalar";
                    forms.push(form);
                }
            }
            let relations = [
                ("isequal", "rgg"),
                ("isnotequal", "rgg"),
                ("isgreater", "rgg"),
                ("isgreaterequal", "rgg"),
                ("isless", "rgg"),
                ("islessequal", "rgg"),
                ("islessgreater", "rgg"),
                ("isfinite", "rg"),
                ("isinf", "rg"),
                ("isnan", "rg"),
                ("isnormal", "rg"),
                ("isordered", "rgg"),
                ("isunordered", "rgg"),
                ("signbit", "rg"),
                ("bitselect", "gggg"),
            ];
            forms.extend(relations.iter().map(|(f, s)| componentwise("Relational functions", f, s, ty, n, "")));
        }
    }
    for ty in INTEGERS {
        forms.extend(WIDTHS.map(|n| componentwise("Relational functions", "bitselect", "gggg", ty, n, "")));
        for n in WIDTHS {
            for f in ["any", "all"] {
                if matches!(ty, "char" | "short" | "int" | "long") {
                    let t = vector(ty, n);
                    let body = format!("((global int *)w)[i] = {f}(((global const {t} *)d)[i]);");
                    forms.push(plain("Relational functions", f, ty, &n.to_string(), body, Evidence::Values));
                }
            }
        }
    }
    for ty in INTEGERS.iter().chain(&FLOATS) {
        for n in WIDTHS {
            for c in [signed(ty).to_string(), unsigned(ty)] {
                let (t, c) = (vector(ty, n), vector(&c, n));
                let body = format!(
                    "{t} x = ((global const {t} *)d)[i], y = ((global const {t} *)d)[i + 3]; ((global {t} *)w)[i] = select(x, y, ((global const {c} *)d)[i + 7]);"
                );
                forms.push(plain("Relational functions", "select", ty, &format!("{n} by {c}"), body, Evidence::Values));
            }
        }
    }
    for ty in FLOATS {
        for n in [1, 2, 3, 4] {
            let t = vector(ty, n);
            let load = format!("{t} x = ((global const {t} *)d)[i], y = ((global const {t} *)d)[i + 3];");
            for f in ["dot", "distance", "fast_distance", "length", "fast_length", "normalize", "fast_normalize", "cross"] {
                let fast = f.starts_with("fast");
                if (fast && ty != "float") || (f == "cross" && n < 3) {
                    continue;
                }
                let two = matches!(f, "dot" | "distance" | "fast_distance" | "cross");
                let result = if f.ends_with("normalize") || f == "cross" { t.clone() } else { ty.to_string() };
                let body = format!("{load} ((global {result} *)w)[i] = {f}(x{});", if two { ", y" } else { "" });
                forms.push(plain("Geometric functions", f, ty, &n.to_string(), body, Evidence::Values));
            }
        }
    }
}

fn memory(forms: &mut Vec<Form>) {
    let section = "Vector loads and stores";
    for ty in INTEGERS.iter().chain(&FLOATS) {
        for n in [2, 3, 4, 8, 16] {
            for space in ["private", "local", "global", "constant"] {
                let from = match space {
                    "private" => format!("{ty} p[64]; for (int k = 0; k < 64; k++) p[k] = ((global const {ty} *)d)[k]; "),
                    "local" => format!(
                        "local {ty} *p = (local {ty} *)l; for (int k = 0; k < 64; k++) p[k] = ((global const {ty} *)d)[k]; "
                    ),
                    "constant" => format!("constant {ty} *p = (constant {ty} *)c; "),
                    _ => format!("global const {ty} *p = (global const {ty} *)d; "),
                };
                let body = format!("{from}vstore{n}(vload{n}(i & 1, p + 1), i, (global {ty} *)w);");
                forms.push(plain(section, "vloadn", ty, &format!("{n} {space}"), body, Evidence::Compiles));
                if space != "constant" {
                    let to = match space {
                        "private" => format!("{ty} q[64]; "),
                        "local" => format!("local {ty} *q = (local {ty} *)l; "),
                        _ => format!("global {ty} *q = (global {ty} *)w; "),
                    };
                    let body = format!(
                        "{to}global const {ty} *p = (global const {ty} *)d; vstore{n}(vload{n}(0, p), 1, q); for (int k = 0; k < {n}; k++) \
                         if (q[{n} + k] != p[k] && p[k] == p[k]) atomic_inc(bad);"
                    );
                    forms.push(plain(section, "vstoren", ty, &format!("{n} {space}"), body, Evidence::Components));
                }
            }
        }
    }
    for n in WIDTHS {
        let t = vector("float", n);
        let name = |f: &str| if n == 1 { f.to_string() } else { format!("{f}{n}") };
        for f in ["vload_half", "vloada_half"] {
            if n == 1 && f == "vloada_half" {
                continue;
            }
            let body = format!("{t} v = {}(i, (global const half *)d); ((global {t} *)w)[i] = v;", name(f));
            forms.push(plain(section, f, "half", &n.to_string(), body, Evidence::Values));
        }
        for f in ["vstore_half", "vstorea_half"] {
            if n == 1 && f == "vstorea_half" {
                continue;
            }
            for mode in ["", "_rte", "_rtz", "_rtp", "_rtn"] {
                for ty in ["float", "double"] {
                    let body = format!("{}{mode}(((global const {} *)d)[i], i, (global half *)w);", name(f), vector(ty, n));
                    forms.push(plain(section, &format!("{f}{mode}"), ty, &n.to_string(), body, Evidence::Values));
                }
            }
        }
    }
    for ty in INTEGERS.iter().chain(&FLOATS) {
        for m in [2, 4, 8, 16] {
            for n in [2, 4, 8, 16] {
                let (a, r, k) = (vector(ty, m), vector(ty, n), vector(&unsigned(ty), n));
                for (f, second) in [("shuffle", ""), ("shuffle2", &*format!(", ((global const {a} *)d)[i + 5]"))] {
                    let body = format!(
                        "((global {r} *)w)[i] = {f}(((global const {a} *)d)[i]{second}, ((global const {k} *)d)[i + 9]);"
                    );
                    forms.push(plain("Shuffles", f, ty, &format!("{m} to {n}"), body, Evidence::Values));
                }
            }
        }
    }
    let all: Vec<&str> = INTEGERS.iter().chain(&FLOATS).copied().collect();
    for from in &all {
        for to in &all {
            for n in WIDTHS {
                let (a, r) = (vector(from, n), vector(to, n));
                for suffix in ["", "_rte", "_rtz", "_rtp", "_rtn", "_sat", "_sat_rte", "_sat_rtz", "_sat_rtp", "_sat_rtn"] {
                    if suffix.contains("sat") && FLOATS.contains(to) || (n > 1 && !matches!(suffix, "" | "_rtz" | "_sat_rte")) {
                        continue;
                    }
                    let body = format!("((global {r} *)w)[i] = convert_{r}{suffix}(((global const {a} *)d)[i]);");
                    let evidence = if n == 1 { Evidence::Values } else { Evidence::Compiles };
                    forms.push(plain("Conversions", &format!("convert_{to}{suffix}"), from, &n.to_string(), body, evidence));
                }
            }
        }
    }
    for ty in &all {
        for n in WIDTHS {
            let t = vector(ty, n);
            for (f, stride) in [("async_work_group_copy", ""), ("async_work_group_strided_copy", ", 2")] {
                let body = format!(
                    "event_t e = {f}((local {t} *)l, (global const {t} *)d, 4{stride}, 0); wait_group_events(1, &e); \
                     e = {f}((global {t} *)w, (local const {t} *)l, 4{stride}, 0); wait_group_events(1, &e);"
                );
                forms.push(plain(
                    "Copies and prefetch",
                    f,
                    ty,
                    &n.to_string(),
                    body,
                    if n == 1 { Evidence::Values } else { Evidence::Compiles },
                ));
            }
            forms.push(plain(
                "Copies and prefetch",
                "prefetch",
                ty,
                &n.to_string(),
                format!("prefetch((global const {t} *)d, 4);"),
                Evidence::Compiles,
            ));
        }
    }
}

fn together(forms: &mut Vec<Form>) {
    let old = "add sub xchg min max and or xor inc dec cmpxchg";
    for ty in ["int", "uint", "long", "ulong", "float"] {
        for space in ["global", "local"] {
            let memory = if space == "global" { "w" } else { "l" };
            for name in old.split(' ') {
                for prefix in ["atomic", "atom"] {
                    let wide = matches!(ty, "long" | "ulong");
                    if (ty == "float" && (name != "xchg" || prefix == "atom")) || (wide && prefix == "atomic") {
                        continue;
                    }
                    let arguments = match name {
                        "inc" | "dec" => "",
                        "cmpxchg" => ", 1, 2",
                        _ => ", 3",
                    };
                    let body =
                        format!("((global {ty} *)w)[64 + i] = {prefix}_{name}((volatile {space} {ty} *){memory}{arguments});");
                    forms.push(plain("Atomics of OpenCL C 1.2", &format!("{prefix}_{name}"), ty, space, body, Evidence::Values));
                }
            }
        }
    }
    for ty in ["int", "uint", "long", "ulong", "float", "double"] {
        for space in ["global", "local", "generic"] {
            let memory = if space == "global" { "w" } else { "l" };
            let qualifier = if space == "generic" { "" } else { space };
            let p = if space == "generic" {
                format!("(volatile atomic_{ty} *)(local atomic_{ty} *)l")
            } else {
                format!("(volatile {qualifier} atomic_{ty} *){memory}")
            };
            let names = "init store load exchange compare_exchange_strong compare_exchange_weak fetch_add fetch_sub fetch_or fetch_xor fetch_and fetch_min fetch_max";
            for name in names.split(' ') {
                let real = matches!(ty, "float" | "double");
                // Arithmetic of floats is an extension (cl_ext_float_atomics); the generic address space is probed once.
                if (name.starts_with("fetch") && real) || (space == "generic" && (ty != "int" || name != "load")) {
                    continue;
                }
                for explicit in ["", "_explicit"] {
                    if name == "init" && explicit == "_explicit" {
                        continue;
                    }
                    let (order, orders) = (
                        ", memory_order_relaxed, memory_scope_device",
                        ", memory_order_acq_rel, memory_order_relaxed, memory_scope_device",
                    );
                    let order = match (explicit, name.starts_with("compare")) {
                        ("", _) => "",
                        (_, true) => orders,
                        _ => order,
                    };
                    let out = format!("((global {ty} *)w)[64 + i]");
                    let body = match name {
                        "init" | "store" => format!("atomic_{name}{explicit}({p}, 3{order});"),
                        "load" => format!("{out} = atomic_load{explicit}({p}{order});"),
                        _ if name.starts_with("compare") => {
                            format!("{ty} e = 1; {out} = atomic_{name}{explicit}({p}, &e, 2{order});")
                        }
                        _ => format!("{out} = atomic_{name}{explicit}({p}, 3{order});"),
                    };
                    let values = !matches!(ty, "float" | "double") && space != "generic";
                    let evidence = if values { Evidence::Values } else { Evidence::Compiles };
                    forms.push(plain(
                        "Atomics of OpenCL C 2.0",
                        &format!("atomic_{name}{explicit}"),
                        &format!("atomic_{ty}"),
                        space,
                        body,
                        evidence,
                    ));
                }
            }
        }
    }
    for (name, body) in [
        ("atomic_flag_test_and_set", "((global int *)w)[64 + i] = atomic_flag_test_and_set((volatile global atomic_flag *)w);"),
        ("atomic_flag_clear", "atomic_flag_clear((volatile global atomic_flag *)w);"),
        ("atomic_work_item_fence", "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);"),
    ] {
        forms.push(plain("Atomics of OpenCL C 2.0", name, "atomic_flag", "global", body.into(), Evidence::Compiles));
    }
    for (section, scope) in [("Work-group functions", "work_group"), ("Sub-group functions", "sub_group")] {
        for f in ["all", "any"] {
            let body = format!("((global int *)w)[i] = {scope}_{f}(((global const int *)d)[i]);");
            forms.push(plain(section, &format!("{scope}_{f}"), "int", "1", body, Evidence::Values));
        }
        for ty in ["half", "int", "uint", "long", "ulong", "float", "double"] {
            let mut call = |f: String, more: &str| {
                let body = format!("((global {ty} *)w)[i] = {f}(((global const {ty} *)d)[i]{more});");
                forms.push(plain(section, &f, ty, "1", body, if ty == "half" { Evidence::Compiles } else { Evidence::Values }));
            };
            call(format!("{scope}_broadcast"), ", 3");
            for op in ["add", "min", "max"] {
                for kind in ["reduce", "scan_inclusive", "scan_exclusive"] {
                    call(format!("{scope}_{kind}_{op}"), "");
                }
            }
        }
    }
    for f in [
        "get_sub_group_size",
        "get_max_sub_group_size",
        "get_num_sub_groups",
        "get_enqueued_num_sub_groups",
        "get_sub_group_id",
        "get_sub_group_local_id",
    ] {
        forms.push(plain("Sub-group functions", f, "uint", "1", format!("((global uint *)w)[i] = {f}();"), Evidence::Compiles));
    }
    for (f, body) in [
        ("barrier", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"),
        ("work_group_barrier", "work_group_barrier(CLK_LOCAL_MEM_FENCE);"),
        ("work_group_barrier with scope", "work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);"),
        ("sub_group_barrier", "sub_group_barrier(CLK_LOCAL_MEM_FENCE);"),
        ("mem_fence", "mem_fence(CLK_GLOBAL_MEM_FENCE);"),
        ("read_mem_fence", "read_mem_fence(CLK_GLOBAL_MEM_FENCE);"),
        ("write_mem_fence", "write_mem_fence(CLK_GLOBAL_MEM_FENCE);"),
    ] {
        forms.push(plain("Synchronization", f, "", "", body.into(), Evidence::Compiles));
    }
    for f in
        ["global_size", "global_id", "local_size", "enqueued_local_size", "local_id", "num_groups", "group_id", "global_offset"]
    {
        let body = format!("((global size_t *)w)[i] = get_{f}(0) + get_{f}(i);");
        forms.push(plain("Work-item functions", &format!("get_{f}"), "", "", body, Evidence::Compiles));
    }
    for f in ["get_work_dim", "get_global_linear_id", "get_local_linear_id"] {
        forms.push(plain("Work-item functions", f, "", "", format!("((global size_t *)w)[i] = {f}();"), Evidence::Compiles));
    }
    for (f, body) in [
        ("vec_step", "((global int *)w)[i] = vec_step(float3);"),
        ("as_type", "((global int *)w)[i] = as_int(((global const float *)d)[i]);"),
        ("printf", "printf(\"%d %v4f %s\\n\", (int)i, ((global const float4 *)d)[0], \"text\");"),
        (
            "generic address space",
            "float *p = (float *)(global float *)w; float *q = (float *)(local float *)l; *(i & 1 ? p : q) = 1;",
        ),
        ("to_global", "int *p = (int *)(global int *)w; global int *q = to_global(p); if (q) *q = 1;"),
        ("get_fence", "int *p = (int *)(global int *)w; ((global int *)w)[i] = get_fence(p);"),
    ] {
        forms.push(plain("Miscellaneous", f, "", "", body.into(), Evidence::Compiles));
    }
}

/// All forms.
pub fn all() -> Vec<Form> {
    let mut forms = Vec::new();
    math(&mut forms);
    integer(&mut forms);
    common(&mut forms);
    memory(&mut forms);
    together(&mut forms);
    forms
}
