"""The Python of the pages, block by block, as it stands there."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCKS = [
    pytest.param(block, id=f"{page}-{number}")
    for page in ("chat", "agents", "batches")
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_says_something(url, capsys, block):
    for library in re.findall(r"^(?:from|import) (\w+)", block, re.MULTILINE):
        pytest.importorskip(library)
    exec(block.replace("http://127.0.0.1:8740", url).replace("my-model", "default"), {})
    assert capsys.readouterr().out.strip() != ""
