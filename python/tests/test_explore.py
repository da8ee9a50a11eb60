"""Sweeps, comparisons, ablations, plots."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest

import heddle


@pytest.fixture(scope="session")
def case(root):
    return root / "test-kernels" / "saxpy" / "case.json"


AXES = {"sm.count": [1, 2, 4], "regfile": ["multilevel", "single"]}


def test_a_sweep_is_a_frame(case, root, tmp_path):
    cases = [case, root / "test-kernels" / "sgemm_tiled" / "case.json"]
    frame = heddle.sweep(cases, AXES, minimise=["cycles", "energy_pj"], folder=tmp_path / "s", progress=False)
    assert len(frame) == 6 * len(cases) and (frame["status"] == "passed").all()
    assert set(frame["sm.count"]) == {1, 2, 4} and set(frame["regfile"]) == {"multilevel", "single"}
    row = frame[(frame["sm.count"] == 2) & (frame["regfile"] == "single")].iloc[0]
    run = heddle.run(cases[0], heddle.Machine(**{"sm.count": 2}), regfile="single")
    assert row["cycles"] == run.cycles and row["energy_pj"] == run.energy_pj
    assert frame.attrs["minimise"] == ["cycles", "energy_pj"]
    for name in ("results.parquet", "results.csv", "results.jsonl", "pareto.html", "journal.jsonl", "sweep.toml"):
        assert (tmp_path / "s" / name).is_file()


def test_a_sweep_goes_on_where_it_was(case, tmp_path):
    folder = tmp_path / "s"
    sweep = heddle.sweep(case, AXES, folder=folder, run=False)
    assert len(sweep) == 6 and len(sweep.missing()) == 6 and "sm.count: 1, 2, 4" in sweep.overview()
    points = sweep.missing()
    sweep.finish([p() for p in points[:2]])
    assert [p.number for p in sweep.missing()] == [3, 4, 5, 6]
    first = (folder / "journal.jsonl").read_text().splitlines()
    frame = heddle.sweep(case, AXES, folder=folder, progress=False)
    lines = (folder / "journal.jsonl").read_text().splitlines()
    assert lines[: len(first)] == first and len(lines) == 7 and len(frame) == 6
    # One more value: only its points run.
    frame = heddle.sweep(case, AXES | {"sm.count": [1, 2, 4, 3]}, folder=folder, progress=False)
    assert len((folder / "journal.jsonl").read_text().splitlines()) == 9 and len(frame) == 8
    assert "Pareto-optimal" in heddle.Sweep(folder).summary()


def test_results_are_the_command_lines(case, tmp_path, request):
    program = request.getfixturevalue("program")
    heddle.sweep(case, AXES, folder=tmp_path / "s", progress=False)
    subprocess.run([program, "sweep", tmp_path / "s" / "sweep.toml", "--out", tmp_path / "c"], check=True, capture_output=True)

    def rows(folder):
        # An id says which build of Heddle made it.
        return [{k: v for k, v in json.loads(line).items() if k != "id"} for line in (folder / "results.jsonl").read_text().splitlines()]

    assert rows(tmp_path / "s") == rows(tmp_path / "c")


def test_points_are_tasks_for_others(case, tmp_path):
    joblib = pytest.importorskip("joblib")
    sweep = heddle.sweep(case, AXES, folder=tmp_path / "s", run=False)
    assert pickle.loads(pickle.dumps(sweep.missing()[2])).number == 3
    sweep.finish(joblib.Parallel(n_jobs=2)(joblib.delayed(p)() for p in sweep.missing()))
    assert sweep.missing() == [] and len(sweep.results()) == 6


def test_points_are_tasks_for_dask(case, tmp_path):
    dask = pytest.importorskip("dask")
    sweep = heddle.sweep(case, AXES, folder=tmp_path / "s", run=False)
    sweep.finish(dask.compute(*[dask.delayed(p)() for p in sweep.missing()], scheduler="threads"))
    assert sweep.missing() == []


def test_points_that_fail_are_rows(case, tmp_path):
    axes = {"clusters.*.local-registers": [4, 100_000], "sm.count": range(1, 3)}
    frame = heddle.sweep(case, {"max-registers": [8, 250], "sm.max-main-registers": [64, 256]}, folder=tmp_path / "s", progress=False)
    assert set(frame["status"]) == {"passed", "refused"} and frame[frame["status"] == "refused"]["error"].str.contains("max-registers").all()
    with pytest.raises(heddle.InputError, match="no machine can be made with the value 100000"):
        heddle.sweep(case, axes, progress=False)
    with pytest.raises(heddle.InputError, match="regfle"):
        heddle.sweep(case, {"regfle": ["single"]}, progress=False)
    with pytest.raises(heddle.InputError, match="needs a folder"):
        heddle.sweep(case, AXES, run=False)


def test_axes_of_all_kinds(case):
    frame = heddle.sweep(case, {"memory.l2.bytes": {"powers-of-two": [262144, 524288]}, "clusters.*.local-registers": (2, 4), "no-rename": [True, False]},
                         fields={"sm.count": 2}, options={"no_schedule": True}, sample=4, seed=1, progress=False)
    assert len(frame) == 4 and set(frame["memory.l2.bytes"]) <= {262144, 524288}


def test_progress_is_shown(case, capfd):
    pytest.importorskip("tqdm")
    heddle.sweep(case, {"sm.count": [1, 2]})
    assert "2/2" in capfd.readouterr().err


def test_plots(case, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    frame = heddle.sweep(case, AXES, minimise=["cycles", "energy_pj"], progress=False)
    best = heddle.plot.front(frame, "cycles", "energy_pj")
    for _, row in best.iterrows():
        beaten = (frame["cycles"] <= row["cycles"]) & (frame["energy_pj"] <= row["energy_pj"])
        assert (frame[beaten][["cycles", "energy_pj"]] == row[["cycles", "energy_pj"]]).all(axis=None)
    ax = heddle.plot.pareto(frame, colour="regfile", label=["sm.count"])
    assert len(ax.texts) == len(best) and ax.get_xlabel().startswith("cycles") and ax.get_legend() is not None
    ax.figure.savefig(tmp_path / "p.png")
    heddle.plot.pareto(frame, "cycles", "energy_pj", colour="sm.count")
    largest = heddle.plot.front(frame, "cycles", "occupancy", maximise=["occupancy"])
    assert largest["cycles"].min() == frame["cycles"].min() and largest["occupancy"].max() == frame["occupancy"].max()


def test_comparisons(case, tmp_path, request, text_of):
    program = request.getfixturevalue("program")
    a, b = heddle.run(case), heddle.run(case, regfile="single")
    comparison = heddle.compare(a, b)
    frame = comparison.frame()
    assert frame.loc["cycles", "a"] == a.cycles and frame.loc["cycles", "b"] == b.cycles
    assert frame.loc["cycles", "ratio"] == pytest.approx(b.cycles / a.cycles)
    assert "cycles" in str(comparison) and "<html" in comparison.html.lower()
    for name, run in (("A", a), ("B", b)):
        (tmp_path / f"{name}.json").write_text(run._native.json())
    text = text_of(program, "compare", tmp_path / "A.json", tmp_path / "B.json")
    assert text.splitlines()[3:] == comparison.text.splitlines()[3:]
    assert len(heddle.compare(tmp_path / "A.json", b, all=True).frame()) > len(frame)


def test_ablations(case):
    ablation = heddle.ablate(case)
    frame = ablation.frame()
    assert list(frame["setup"])[0] == "all on" and list(frame["setup"])[-1] == "all off"
    assert frame["cycles"][0] == heddle.run(case).cycles and frame["cycles/all on"][0] == 1.0
    assert "all off" in ablation.text
    repeated = heddle.ablate(case, runs=2).frame()
    assert repeated["cycles/all on ±"][1] >= 0 and "cycles/all on ±" not in frame
    with pytest.raises(heddle.InputError, match="runs"):
        heddle.ablate(case, runs=0)


def test_case_files_that_do_not_pass(case, tmp_path):
    given = json.loads(case.read_text())
    for buffer in given["buffers"].values():
        for key in ("npy", "expect"):
            buffer[key] = str(case.parent / buffer[key])
    given["source"] = str(case.parent / "kernel.cl")
    given["launches"][0]["args"][2] = {"f32": 2.0}
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(given))
    run = heddle.run(wrong)
    assert not run.passed and list(run.mismatches) == ["y"] and run.buffers["y"].shape
    assert heddle.run(case, check="all").mode == "functional"
    with pytest.raises(heddle.InputError, match="cannot read the case file"):
        heddle.run(tmp_path / "none.json")


def test_it_runs_without_pandas_and_matplotlib(case):
    code = f"""
import sys
for name in ("pandas", "matplotlib", "tqdm", "pyarrow"):
    sys.modules[name] = None
import heddle
assert heddle.run({str(case)!r}).passed
try:
    heddle.run({str(case)!r}).frame()
except ImportError as e:
    assert "pandas" in str(e)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
