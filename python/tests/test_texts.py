"""What the compiler made of kernels: texts, tables, pictures."""

from __future__ import annotations

import xml.etree.ElementTree as Xml

import pytest

import heddle
from heddle import text

SOURCE = """kernel void spread(global int *a, global const int *b, int n) {
    int i = get_global_id(0);
    for (int k = 0; k < n; k++) if (a[i + k] > b[k]) a[i] += k * n;
}
kernel void other(global float *x) { x[get_global_id(0)] = 1; }
"""


@pytest.fixture(scope="module")
def program():
    return heddle.Machine().compile(SOURCE)


def test_texts_are_the_command_lines(program, tmp_path, text_of, request, monkeypatch):
    binary = request.getfixturevalue("program_path")
    path = tmp_path / "kernel.cl"
    path.write_text(SOURCE)
    # The program names files below the folder it is started in by their relative paths.
    monkeypatch.chdir(tmp_path)
    for form in ("mir", "asm"):
        whole = text_of(binary, "build", "kernel.cl", "--emit", form, "-o", "-")
        assert program.text(form) == whole
        assert getattr(program["spread"], form) in whole
    assert program["spread"].ir.startswith("define ") and "@spread(" in program["spread"].ir and "@other(" not in program["spread"].ir
    assert "kernel @other" in program["other"].mir and "spread" not in program["other"].mir
    ir = tmp_path / "kernel.ll"
    ir.write_text(program.text("ir"))
    assert program.analysis("uniformity") == text_of(binary, "opt", "--passes=print<uniformity>", "--disable-output", ir)


@pytest.fixture(scope="module")
def program_path(request):
    from conftest import ROOT

    path = ROOT / "target" / "debug" / "heddle"
    import os

    path = type(path)(os.environ.get("HEDDLE_BIN", path))
    if not path.is_file():
        pytest.skip("no heddle program: set HEDDLE_BIN")
    return path


def test_frames_have_all_lines_of_the_analyses(program):
    kernel = program["spread"]
    uniformity = kernel.uniformity
    printed = [line for line in text._section(program.analysis("uniformity"), "uniformity of 'spread':") if not line.startswith("block")]
    assert len(uniformity) == len(printed)
    assert {"uniform", "varying", "divergent branch"} <= set(uniformity["class"])
    assert "work-item id" in set(uniformity["reason"])
    surfaces = kernel.surfaces
    assert list(surfaces["argument"]) == ["%a", "%b"] and surfaces["loads"].sum() >= 2 and surfaces["stores"][0] >= 1
    assert set(surfaces["kind"]) <= {"typed UAV", "untyped UAV", "typed buffer", "raw buffer"}
    hints = kernel.cache_hints
    assert set(hints["access"]) == {"load", "store"} and (hints["line"] == 3).all()
    assert len(hints) == len(text._section(program.analysis("cache-hints"), "cache hints of spread:"))
    with pytest.raises(heddle.InputError, match="uniformty"):
        program.analysis("uniformty")


def test_control_flow_is_drawn(program):
    graph = program["spread"].control_flow
    assert graph.svg == graph._repr_svg_()
    root = Xml.fromstring(graph.svg)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}path")) == len(graph.edges) and len(graph.blocks) > 4
    assert {kind for _, _, kind in graph.edges} >= {"always", "taken", "falls through"}
    assert "divergent" in {kind for _, _, kind in graph.edges}
    # No two boxes overlap.
    boxes = [tuple(float(r.get(k)) for k in ("x", "y", "width", "height")) for r in root.findall(f"{space}rect") if r.get("x")]
    assert len(boxes) == len(graph.blocks)
    for i, (x, y, w, h) in enumerate(boxes):
        assert not any(x < u + v and u < x + w and y < t + s and t < y + h for u, t, v, s in boxes[i + 1 :])


def test_code_is_shown_with_colours_and_nothing_is_lost(program):
    import html
    import re

    for code in (program["spread"].ir, program["spread"].mir, program["spread"].asm):
        shown = code._repr_html_()
        inside = shown.split("<pre", 1)[1].split(">", 1)[1].rsplit("</pre>", 1)[0]
        assert html.unescape(re.sub(r"</?span[^>]*>", "", inside)) == code
        assert inside.count("<span") > 10


def test_stubs_name_what_there_is():
    """`_native.pyi` has the names of the extension, and no others."""
    import ast
    from pathlib import Path

    from heddle import _native

    tree = ast.parse((Path(heddle.__file__).parent / "_native.pyi").read_text())
    stated: dict[str, set[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            stated[node.name] = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} | {
                n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
        elif isinstance(node, ast.FunctionDef):
            stated[node.name] = set()
        elif isinstance(node, ast.AnnAssign):
            stated[node.target.id] = set()
    real = {name for name in dir(_native) if not name.startswith("__")} | {"__version__"}
    assert set(stated) == real
    for name, members in stated.items():
        kind = getattr(_native, name)
        if isinstance(kind, type) and not issubclass(kind, Exception):
            assert {m for m in members if not m.startswith("__")} == {m for m in vars(kind) if not m.startswith("__")}, name


def test_what_the_package_is_built_from_lies_in_its_crates(root):
    """cargo packs no crate, and maturin makes no source distribution, if a build script lies outside its crate."""
    for manifest in [*root.glob("crates/*/Cargo.toml"), *root.glob("llvm-passes/**/Cargo.toml"), root / "python/Cargo.toml"]:
        outside = [line for line in manifest.read_text("utf-8").splitlines() if line.startswith("build =") and ".." in line]
        assert not outside, f"{manifest}: {outside}"
