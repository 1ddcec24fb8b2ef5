"""Writes training text of the chat model, and proves that the generators still make the same.

    python corpus.py --seed 3 --stage 2 --dialogues 1000 --out chunk.txt    # text of one seed
    python corpus.py --check                                               # compares hashes with corpus.sha256
    python corpus.py --hash > corpus.sha256                                # after a change of the generators

The text is generated and never committed: one seed and stage make the same text on every machine.
"""

import argparse
import hashlib
import os
import sys
from pathlib import Path

here = Path(__file__).parent
if os.environ.get("PYTHONHASHSEED") != "0":
    # Sets are walked through in the order of their hashes.
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, *sys.argv])
sys.path.insert(0, str(here / "generators"))
from dialogues import dialogues, render  # noqa: E402
from lookalikes import lookalikes  # noqa: E402

SAMPLES = [(seed, stage) for stage in (1, 2) for seed in (0, 1, 7)]
SAMPLE_DIALOGUES = 400


def text(seed, stage, count):
    return "".join(render(turns) for _, turns in dialogues(seed, stage, count))


def digest(written):
    return hashlib.sha256(written.encode()).hexdigest()


def hashes():
    for seed, stage in SAMPLES:
        yield f"{digest(text(seed, stage, SAMPLE_DIALOGUES))}  seed {seed}, stage {stage}, {SAMPLE_DIALOGUES} dialogues"
    yield f"{digest(repr(list(lookalikes())))}  lookalikes"


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--stage", type=int, default=2)
parser.add_argument("--dialogues", type=int, default=1000)
parser.add_argument("--out")
parser.add_argument("--check", action="store_true")
parser.add_argument("--hash", action="store_true")
options = parser.parse_args()
if options.check:
    known = (here / "corpus.sha256").read_text().splitlines()
    changed = [line for line in hashes() if line not in known]
    for line in changed:
        print(f"changed: {line.split('  ')[1]}")
    sys.exit(1 if changed else 0)
elif options.hash:
    print("\n".join(hashes()))
else:
    written = text(options.seed, options.stage, options.dialogues)
    Path(options.out).write_text(written) if options.out else print(written)
