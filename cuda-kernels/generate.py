#!/usr/bin/env python3
"""Makes the cases of the kernels in CUDA and HIP: case.json, inputs and goldens, none of which is from Heddle.

    python3 generate.py            # writes all that differ
    python3 generate.py saxpy      # some folders
    python3 generate.py --check    # writes nothing: says what differs

`goldens.py` or `goldens_warps.py` has a function for each folder, which describes the case as those of `test-kernels` do (`../test-kernels/cases.py`).
"""

import sys
import zlib
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent / "test-kernels"))
sys.path.insert(0, str(ROOT))
import cases  # noqa: E402
import goldens  # noqa: E402
import goldens_warps  # noqa: E402


def main(arguments):
    check = "--check" in arguments
    names = [a for a in arguments if not a.startswith("--")] or sorted(p.parent.name for p in ROOT.glob("*/kernel.*"))
    made_by = vars(goldens_warps) | vars(goldens)
    unknown = [n for n in names if n not in made_by]
    if unknown:
        print(f"no function makes these: {', '.join(unknown)}", file=sys.stderr)
        return 2
    differing = []
    for name in names:
        folder = ROOT / name
        source = next(folder.glob("kernel.*")).name
        made = cases.files(*made_by[name](np.random.default_rng(zlib.crc32(name.encode()))), source=source)
        differing += cases.settle(folder, made, check)
        for old in folder.glob("*.npy"):
            if old.name not in made:
                differing.append(old)
                if not check:
                    old.unlink()
    for path in differing:
        print(f"{'differs' if check else 'written'}: {path.relative_to(ROOT)}")
    print(f"{len(names)} kernels, {len(differing)} files {'differ' if check else 'written'}")
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
