# Configuration of the lit suite: `cargo xtask test` runs it; alone: HEDDLE_BIN=target/release/heddle lit tests/lit
import os
import shutil
import sys
import lit.formats

config.name = "heddle"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".ll", ".mir", ".s", ".cl", ".clcpp", ".cu", ".hip", ".spvasm", ".test"]
config.excludes = ['Inputs']
config.test_source_root = os.path.dirname(__file__)
root = os.path.dirname(os.path.dirname(config.test_source_root))
config.test_exec_root = os.path.join(root, "target", "lit")
os.makedirs(config.test_exec_root, exist_ok=True)
heddle = os.path.abspath(os.environ.get("HEDDLE_BIN", os.path.join(root, "target", "release", "heddle")))
config.substitutions.append(("%heddle", heddle))
config.substitutions.append(("%root", root))
library = "libheddle_passes.dylib" if sys.platform == "darwin" else "libheddle_passes.so"
plugin = os.path.abspath(os.environ.get("HEDDLE_PLUGIN", os.path.join(os.path.dirname(heddle), library)))
config.substitutions.append(("%plugin", plugin))
if "HEDDLE_PLUGIN" in os.environ or os.path.isfile(plugin):
    config.available_features.add("plugin")
translators = ["llvm-spirv"] + [f"llvm-spirv-{n}" for n in range(15, 20)]
if any(map(shutil.which, translators)) and shutil.which("spirv-as"):
    config.available_features.add("spirv")
tools = ["/usr/lib/llvm-19/bin", "/usr/lib/llvm19/bin", "/opt/homebrew/opt/llvm@19/bin"]
config.environment["PATH"] = os.pathsep.join([t for t in tools if os.path.isdir(t)] + [os.environ.get("PATH", "")])
for name in ("HEDDLE_CLANG", "HOME", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
