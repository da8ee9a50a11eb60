"""What `import heddle` says where something that it needs at run time is missing."""

from __future__ import annotations

import os
import shutil

INSTALL = "apt install libllvm19 clang-19"


def without_llvm(error: ImportError) -> ImportError:
    """The same error, with what to do about it if LLVM's library is what is missing."""
    text = str(error)
    if "LLVM" not in text:
        return error
    return ImportError(
        f"heddle needs the shared library of LLVM 19, which is not here ({text}). On Debian and Ubuntu, "
        f"`{INSTALL}` installs it; elsewhere it comes with the package of LLVM 19."
    )


def check_clang(path: str) -> str | None:
    """A sentence if there is no clang at `path`, which may be a name for the search path."""
    found = shutil.which(path) if os.sep not in path else (path if os.access(path, os.X_OK) else None)
    if found:
        return None
    return (
        f"heddle compiles programs with clang 19, and there is no `{path}`. On Debian and Ubuntu, `{INSTALL}` "
        "installs it; HEDDLE_CLANG names one elsewhere. Compiled programs in the cache still run."
    )
