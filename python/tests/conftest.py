"""What the tests share: where the repository is, its program, and machines that are made once."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

import heddle

ROOT = Path(__file__).resolve().parents[2]

# A shell starts what runs in its background with SIGINT ignored; these tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def program() -> Path:
    """The command line's program of the same build."""
    named = os.environ.get("HEDDLE_BIN")
    path = Path(named) if named else ROOT / "target" / "debug" / "heddle"
    if not path.is_file():
        pytest.skip("no heddle program: set HEDDLE_BIN")
    return path


@pytest.fixture
def gpu() -> heddle.Machine:
    return heddle.Machine("heddle", **{"sm.count": 4})


@pytest.fixture(scope="session")
def text_of():
    """What a command prints, which must succeed."""

    def run(*words: object) -> str:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
