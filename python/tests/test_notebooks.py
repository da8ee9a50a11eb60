"""The notebooks under `examples/notebooks` run from the first cell to the last."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 5


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(notebook, tmp_path, program):
    for module in ("nbconvert", "ipykernel", "pandas", "matplotlib", "joblib"):
        pytest.importorskip(module)
    if "pyopencl" in notebook.stem:
        if importlib.util.find_spec("pyopencl") is None:
            pytest.skip("no pyopencl")
        if not (program.parent / "libheddle_opencl.so").is_file():
            pytest.skip("no OpenCL driver beside the heddle program")
    environment = os.environ | {"HEDDLE_BIN": str(program), "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "--output-dir", tmp_path, notebook]
    done = subprocess.run(command, capture_output=True, text=True, cwd=notebook.parent, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    page = (tmp_path / f"{notebook.stem}.html").read_text()
    assert "Traceback" not in page
    if notebook.stem.startswith("1"):
        assert "<iframe" in page and "srcdoc=" in page
        # The picture of the control flow, in the page or as an image.
        assert re.search(r'<svg|<img[^>]+src="data:image/svg\+xml', page)
