"""Sentences that look alike and mean something else: the lines of ../lookalikes, written by hand for hearth-embed.

A line is `sentence | paraphrase | look-alike | paraphrase of that`. A sentence and its look-alike share many words; a
sentence and its paraphrase share few.
"""

from pathlib import Path

FOLDER = Path(__file__).parent.parent / "lookalikes"


def lookalikes():
    """Rows of four sentences."""
    rows = [line.split(" | ") for file in sorted(FOLDER.glob("*.txt")) for line in file.read_text().splitlines()]
    bad = [row for row in rows if len(row) != 4]
    if bad:
        raise ValueError(f"not four sentences: {bad[0]}")
    return rows
