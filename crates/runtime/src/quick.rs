//! Launches described on the command line instead of in a case file: `heddle run kernel.cl --kernel k --global 1024 --arg …`.
//!
//! The words are turned into the JSON of a case, so that there is one reader, one set of checks and one set of messages.

use serde_json::{Map, Value, json};

/// A launch in words.
#[derive(Clone, Debug, Default)]
pub struct Quick {
    /// The source, as the user gave it.
    pub source: String,
    /// Options for the compiler.
    pub options: Vec<String>,
    /// Kernel name.
    pub kernel: String,
    /// Global size, comma-separated.
    pub global: Option<String>,
    /// Work-group size.
    pub local: Option<String>,
    /// Work-groups, in the place of the global size.
    pub grid: Option<String>,
    /// Work-group size, where the number of work-groups is given.
    pub block: Option<String>,
    /// Bytes of the last argument, which is work-group memory.
    pub shared: Option<u32>,
    /// Global offset.
    pub offset: Option<String>,
    /// Arguments, in order.
    pub args: Vec<String>,
}

/// Kinds of values, as in case files.
const SCALARS: &[&str] = &["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64"];

impl Quick {
    /// The text of the case.
    ///
    /// # Errors
    /// A sentence naming the word that cannot be read.
    pub fn case_text(&self) -> Result<String, String> {
        let mut buffers = Map::new();
        let mut args = Vec::new();
        for (i, a) in self.args.iter().enumerate() {
            args.push(argument(a, &mut buffers).map_err(|m| format!("--arg {a} (argument {i}): {m}"))?);
        }
        let mut launch = Map::new();
        launch.insert("kernel".into(), self.kernel.as_str().into());
        let (given, blocks) =
            ([("global", &self.global), ("local", &self.local)], [("grid", &self.grid), ("block", &self.block)]);
        for (key, text) in given.into_iter().chain(blocks).chain([("offset", &self.offset)]) {
            if let Some(t) = text {
                launch.insert(key.into(), sizes(t, ',').map_err(|m| format!("--{key} {t}: {m}"))?);
            }
        }
        if let Some(bytes) = self.shared {
            launch.insert("shared".into(), bytes.into());
        }
        launch.insert("args".into(), args.into());
        let case = json!({ "source": self.source, "options": self.options, "buffers": buffers, "launches": [launch] });
        Ok(case.to_string())
    }
}

/// `64,4` or `64x4`.
fn sizes(text: &str, separator: char) -> Result<Value, String> {
    let parse = |t: &str| match t.trim() {
        "" if text.is_empty() || text.contains(|c: char| c.is_ascii_digit()) => Err("a size is missing".to_string()),
        "" => Err(format!("`{text}` is no size; sizes are numbers, as in 64,64")),
        t => t.parse::<u64>().map_err(|_| format!("`{t}` is no size")),
    };
    text.split([separator, 'x']).map(parse).collect::<Result<Vec<_>, _>>().map(Value::from)
}

/// One `--arg`: `NAME=zeros:DTYPE:SHAPE[,option…]`, `NAME=random:DTYPE:SHAPE[,…]`, `NAME=FILE.npy[,…]`,
/// `NAME` again, `local=BYTES`, `bytes=BASE64`, `pointer=null`, `f32=1.5`, `f32=1,2,3,4`.
fn argument(text: &str, buffers: &mut Map<String, Value>) -> Result<Value, String> {
    let Some((name, value)) = text.split_once('=') else {
        if buffers.contains_key(text) {
            return Ok(json!({ "buffer": text }));
        }
        return Err(
            "no such buffer so far; say what it holds, as in A=zeros:float32:1024 or A=in.npy, or give a value, as in i32=5"
                .into(),
        );
    };
    let number = |t: &str| -> Result<Value, String> {
        if matches!(t, "nan" | "inf" | "-inf") {
            return Ok(t.into());
        }
        serde_json::from_str::<serde_json::Number>(t).map(Value::Number).map_err(|_| format!("`{t}` is no number"))
    };
    match name {
        "local" => return Ok(json!({ "local": number(value)? })),
        "bytes" => return Ok(json!({ "bytes": value })),
        "pointer" => return Ok(json!({ "pointer": value })),
        _ if SCALARS.contains(&name) => {
            let parts: Vec<Value> = value.split(',').map(|t| number(t.trim())).collect::<Result<_, _>>()?;
            let mut result = Map::new();
            result.insert(name.into(), if parts.len() == 1 { parts[0].clone() } else { parts.into() });
            return Ok(result.into());
        }
        _ => {}
    }
    if buffers.contains_key(name) {
        return Err(format!("buffer `{name}` is described twice; the second time give its name alone"));
    }
    let mut words = value.split(',');
    let mut buffer = Map::new();
    let first = words.next().unwrap_or_default();
    match first.split(':').collect::<Vec<_>>()[..] {
        [kind @ ("zeros" | "random"), dtype, shape] => {
            buffer.insert(kind.into(), sizes(shape, 'x')?);
            buffer.insert("dtype".into(), dtype.into());
        }
        ["zeros" | "random", ..] => {
            return Err("zeros and random take an element type and a shape, as in zeros:float32:64x64".into());
        }
        [kind, _, ..] if !first.ends_with(".npy") => {
            return Err(format!("unknown kind `{kind}`: zeros, random, or the name of a .npy file"));
        }
        _ => {
            buffer.insert("npy".into(), first.into());
        }
    }
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}`: options are KEY=VALUE"))?;
        let value = match key {
            "expect" | "save" => value.into(),
            "rtol" | "atol" | "seed" | "low" | "high" => number(value)?,
            _ => return Err(format!("unknown option `{key}`: expect, save, rtol, atol, seed, low, high")),
        };
        buffer.insert(key.into(), value);
    }
    buffers.insert(name.into(), buffer.into());
    Ok(json!({ "buffer": name }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    fn case(args: &[&str]) -> Result<Case, String> {
        let quick = Quick {
            source: "k.cl".into(),
            kernel: "k".into(),
            global: Some("64,4".into()),
            args: args.iter().map(|a| (*a).to_string()).collect(),
            ..Default::default()
        };
        Case::parse(&quick.case_text()?, "command line", Default::default()).map_err(|e| e.0)
    }

    #[test]
    fn a_grid_of_blocks_is_a_global_size() {
        let launch = |words: Quick| {
            let quick = Quick { source: "k.cu".into(), kernel: "k".into(), ..words };
            Case::parse(&quick.case_text()?, "command line", Default::default()).map(|c| c.launches[0].clone()).map_err(|e| e.0)
        };
        let given = |grid: &str, block: &str| Quick { grid: Some(grid.into()), block: Some(block.into()), ..Default::default() };
        let l = launch(Quick { shared: Some(64), ..given("16,4", "8") }).unwrap();
        assert_eq!((l.global, l.local), (vec![128, 4], Some(vec![8, 1])));
        assert_eq!(l.args[0]["local"], 64);
        let both = launch(Quick { global: Some("4".into()), ..given("1", "1") });
        assert!(both.as_ref().is_err_and(|m| m.contains("either `global` and `local`, or `grid` and `block`")), "{both:?}");
        assert!(launch(given("18446744073709551615", "2")).is_err_and(|m| m.contains("beyond 2^32")));
    }

    #[test]
    fn words_become_a_case() {
        let c = case(&[
            "A=random:int32:8x8,seed=3,low=-5,high=5",
            "B=zeros:float32:64,expect=b.npy,rtol=1e-5",
            "A",
            "f32=1,2,3,4",
            "local=64",
            "pointer=null",
        ])
        .unwrap();
        assert_eq!(c.launches[0].global, [64, 4]);
        assert_eq!(c.buffers["A"].random.as_deref(), Some(&[8, 8][..]));
        assert_eq!(c.buffers["B"].rtol, Some(1e-5));
        assert_eq!(c.launches[0].arguments().unwrap().len(), 6);
    }

    #[test]
    fn bad_sizes_are_named() {
        let error = |global: &str| sizes(global, ',').unwrap_err();
        assert_eq!(error("x"), "`x` is no size; sizes are numbers, as in 64,64");
        assert_eq!(error("64,,2"), "a size is missing");
        assert_eq!(error(""), "a size is missing");
        assert_eq!(error("64,y"), "`y` is no size");
    }

    #[test]
    fn bad_words_are_named() {
        for (word, message) in [
            ("A", "no such buffer so far"),
            ("A=zeros:float32", "take an element type and a shape"),
            ("A=zeros:float32:4,wrong=1", "unknown option `wrong`"),
            ("pointer=A", "pointer takes \"null\", not \"A\""),
            ("i32=four", "`four` is no number"),
            ("A=zeros:float31:4", "dtype `float31` is unknown"),
            ("A=iota:int32:64", "unknown kind `iota`: zeros, random, or the name of a .npy file"),
            ("f32=1,2,3,4,5", "a vector of 5 elements"),
        ] {
            let error = case(&[word]).unwrap_err();
            assert!(error.contains(message), "{word}: {error}");
        }
    }
}
