//! What `heddle run` and `heddle debug` launch: a case file, or a source with the launch on the command line.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, Outcome};
use heddle_object::Image;
use heddle_runtime::case::{COMMAND_LINE, Case};
use heddle_runtime::quick::Quick;

/// Extensions of sources; anything else is a case file.
const SOURCES: [&str; 13] = ["cl", "clcpp", "cu", "hip", "cpp", "cc", "cxx", "spv", "spvasm", "ll", "bc", "mir", "s"];

/// What is launched, as the command line says it.
#[derive(Args)]
pub struct LaunchArgs {
    /// The case file (.json), or a source (.cl, .clcpp, .cu, .hip, .spv, .spvasm, .ll, .bc, .mir, .s) with
    /// --global or --grid.
    #[arg(value_name = "CASE OR SOURCE")]
    pub(super) case: PathBuf,
    /// Kernel to launch; where the source has one alone, that one. In CUDA and HIP instances of templates are
    /// named with their arguments: 'scale<float>'.
    #[arg(long, value_name = "NAME", help_heading = "A launch without a case file")]
    pub(super) kernel: Option<String>,
    /// Global size, up to three dimensions: 1024 or 64,64.
    #[arg(long, value_name = "SIZES", help_heading = "A launch without a case file")]
    pub(super) global: Option<String>,
    /// Work-group size; chosen if missing.
    #[arg(long, value_name = "SIZES", help_heading = "A launch without a case file")]
    pub(super) local: Option<String>,
    /// Work-groups, in the place of --global: blocks in the words of CUDA.
    #[arg(long, value_name = "SIZES", help_heading = "A launch without a case file", requires = "block")]
    #[arg(conflicts_with_all = ["global", "local"])]
    pub(super) grid: Option<String>,
    /// Work-group size, with --grid: threads of a block in the words of CUDA.
    #[arg(long, value_name = "SIZES", help_heading = "A launch without a case file", requires = "grid")]
    pub(super) block: Option<String>,
    /// Bytes of local memory whose size the launch says (`extern __shared__` in CUDA and HIP).
    #[arg(long, value_name = "BYTES", help_heading = "A launch without a case file")]
    pub(super) shared: Option<u32>,
    /// Global offset.
    #[arg(long, value_name = "SIZES", help_heading = "A launch without a case file")]
    pub(super) offset: Option<String>,
    /// An argument: A=zeros:float32:1024, A=random:int32:64x64,seed=1,low=0,high=9, A=in.npy, A (again); with
    /// ,save=F ,expect=F ,rtol=R ,atol=R; i32=5, f32=1,2,3,4, local=256, bytes=BASE64.
    #[arg(long = "arg", value_name = "ARGUMENT", help_heading = "A launch without a case file")]
    pub(super) args: Vec<String>,
    /// The value of a specialisation constant of SPIR-V, by its number, after those of a case. May be repeated.
    #[arg(long, value_name = "ID=VALUE")]
    spec: Vec<String>,
    /// An option for the compiler, after those of a case: --option=-DN=4 is the same as -DN=4.
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true)]
    pub(super) source_options: Vec<String>,
}

impl LaunchArgs {
    /// Whether the input is a source, which the command line describes a launch for.
    pub(super) fn is_source(&self) -> bool {
        self.case.extension().is_some_and(|e| SOURCES.iter().any(|s| e == *s))
    }

    /// Options for the compiler.
    pub(super) fn compiler_words(&self) -> Vec<String> {
        let spec = self.spec.iter().map(|s| format!("--spec={s}"));
        self.source_options.iter().cloned().chain(spec).collect()
    }

    /// clang's options of the command line, for a case: folders are the user's, not the case's.
    pub(super) fn more_options(&self) -> Result<Vec<String>, Failure> {
        // The case that words become has them as its own.
        if self.is_source() {
            return Ok(Vec::new());
        }
        let absolute = |folder: &str| {
            let path = std::path::absolute(folder).map_err(|e| Failure::input(format!("-I {folder}: {e}")))?;
            Ok::<String, Failure>(path.display().to_string())
        };
        let mut words: Vec<String> = Vec::new();
        for word in &self.compiler_words() {
            let is_folder = words.last().is_some_and(|w| ["-I", "-isystem", "-iquote"].contains(&w.as_str()));
            words.push(match word.strip_prefix("-I").filter(|folder| !folder.is_empty()) {
                Some(folder) if !is_folder => format!("-I{}", absolute(folder)?),
                _ if is_folder => absolute(word)?,
                _ => word.clone(),
            });
        }
        Ok(words)
    }

    /// The case of the file, or of the words on the command line. There the kernel may have no name yet.
    pub(super) fn read_case(&self) -> Result<Case, Failure> {
        let name = self.case.display();
        if !self.is_source() {
            let launch = self.kernel.is_some() || self.global.is_some() || self.grid.is_some() || !self.args.is_empty();
            if launch || self.local.is_some() || self.offset.is_some() || self.shared.is_some() {
                let sources = SOURCES.map(|s| format!(".{s}")).join(", ");
                return Err(Failure::input(format!(
                    "{name}: --kernel, --global, --arg … go with a source ({sources}), not with a case file"
                )));
            }
            let is_json = self.case.extension().is_some_and(|e| e == "json");
            let sources = SOURCES.map(|s| format!(".{s}")).join(" ");
            let hint = if is_json { String::new() } else { format!(" (sources end in {sources}; this is read as a case file)") };
            return Case::read(&self.case).map_err(|e| Failure::input(format!("{e}{hint}")));
        }
        if self.global.is_none() && self.grid.is_none() {
            let message = "a source needs --global SIZES, or --grid and --block (and an --arg for each argument of the kernel)";
            return Err(Failure::input(message));
        }
        let words = Quick {
            source: name.to_string(),
            options: self.compiler_words(),
            kernel: self.kernel.clone().unwrap_or_default(),
            global: self.global.clone(),
            local: self.local.clone(),
            grid: self.grid.clone(),
            block: self.block.clone(),
            shared: self.shared,
            offset: self.offset.clone(),
            args: self.args.clone(),
        };
        let text = words.case_text().map_err(Failure::input)?;
        Case::parse(&text, COMMAND_LINE, PathBuf::new()).map_err(Failure::input)
    }

    /// Names the kernel of a launch that does not: the only one there is.
    pub(super) fn choose_kernel(&self, case: &mut Case, image: &Image) -> Outcome {
        if !self.is_source() || self.kernel.is_some() {
            return Ok(());
        }
        let names: Vec<&str> = image.metadata.launchable().map(|k| k.name.as_str()).collect();
        let name = self.case.display();
        match names[..] {
            [only] => case.launches.iter_mut().for_each(|l| l.kernel = only.into()),
            [] => return Err(Failure::input(format!("{name}: there is no kernel"))),
            _ => return Err(Failure::input(format!("{name}: --kernel NAME says which one to run: {}", names.join(", ")))),
        }
        Ok(())
    }
}
