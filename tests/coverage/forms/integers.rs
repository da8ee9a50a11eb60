//! The forms of the functions of integers: arithmetic, fields of bits and dot products of bytes.

use super::super::values;
use super::{Evidence, Form, INTEGERS, WIDTHS, componentwise, plain, signed, unsigned, vector};

/// Functions of fields of bits, with which of their arguments have many components.
const BIT_FIELDS: [(&str, &str); 3] =
    [("bitfield_insert", "x, y"), ("bitfield_extract_signed", "x"), ("bitfield_extract_unsigned", "x")];

/// A function of fields of bits, compared with its scalar form.
fn bit_field(function: &str, of: &str, ty: &str, n: usize) -> Form {
    let (t, bits) = (vector(ty, n), format!("(8 * (uint)sizeof({ty}))"));
    let result = match function {
        "bitfield_insert" => ty.to_string(),
        "bitfield_extract_signed" => signed(ty).to_string(),
        _ => unsigned(ty),
    };
    let mut body = format!(
        "{t} x = ((global const {t} *)d)[i], y = ((global const {t} *)d)[i + 3]; uint offset = i % {bits}; \
         uint count = i / 3 % ({bits} - offset + 1); {} r = {function}({of}, offset, count); ",
        vector(&result, n)
    );
    if n == 1 {
        body += &format!("((global {result} *)w)[i] = r;");
    } else {
        let elements = of.replace('x', "xs[k]").replace('y', "ys[k]");
        body += &format!(
            "{ty} xs[16], ys[16]; {result} rs[16]; vstore{n}(x, 0, xs); vstore{n}(y, 0, ys); vstore{n}(r, 0, rs); \
             for (int k = 0; k < {n}; k++) if (rs[k] != {function}({elements}, offset, count)) atomic_inc(bad);"
        );
    }
    let evidence = if n == 1 { Evidence::Values } else { Evidence::Components };
    plain("Integer functions", function, ty, &n.to_string(), body, evidence)
}

/// Adds the forms of the functions of integers.
pub fn integer(forms: &mut Vec<Form>) {
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
        ("bit_reverse", "gg"),
    ];
    for (a, b) in values::DOT_PRODUCTS {
        for (function, arguments) in values::dot_products(a, b) {
            let (of, packed) = (format!("{a} and {b}"), function.contains("packed"));
            let body = format!(
                "{a}4 x = ((global const {a}4 *)d)[i]; {b}4 y = ((global const {b}4 *)d)[i + 1]; \
                 ((global int *)w)[i] = {function}({});",
                arguments.replace("SUM", "3")
            );
            forms.push(plain(section, &function, &of, if packed { "packed" } else { "4" }, body, Evidence::Values));
        }
    }
    for ty in INTEGERS {
        for n in WIDTHS {
            forms.extend(BIT_FIELDS.iter().map(|(function, of)| bit_field(function, of, ty, n)));
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
