"""Renders templates as transformers does, and prints a digest of each result as JSON.

    python3 -m venv venv && venv/bin/pip install jinja2==3.1.6 transformers==5.23.0
    venv/bin/python test/corpus/reference.py conversations TEMPLATES... > test/corpus/conversations.expected.json
    venv/bin/python test/corpus/reference.py language > packages/chat-templates/test/language.expected.json

The date is fixed. A refusal is written as "!" and the reason: the template's own sentence, or Python's.
"""

import hashlib
import json
import pathlib
import sys
from datetime import datetime

from transformers.utils import chat_template_utils

FOLDER = pathlib.Path(__file__).parent
LANGUAGE = FOLDER.parent.parent / "packages" / "chat-templates" / "test"
# The third member of what the script renders with: see `pinnedMs` in the tests.
PINNED = datetime(2026, 3, 7, 9, 5, 2)


class PinnedClock:
    @staticmethod
    def now():
        return PINNED


chat_template_utils.datetime = PinnedClock


def render(source, messages, tools, variables):
    try:
        return chat_template_utils.render_jinja_template(
            conversations=[messages],
            tools=tools,
            chat_template=source,
            add_generation_prompt=True,
            bos_token="<s>",
            eos_token="</s>",
            **variables,
        )[0][0]
    except Exception as error:
        kind = type(error).__name__
        return f"!{error}" if kind == "TemplateError" else f"!{kind}: {error}"


def digest(text):
    return text if text.startswith("!") else hashlib.sha256(text.encode()).hexdigest()[:16]


def conversations(paths):
    corpus = json.loads((FOLDER / "conversations.json").read_text())
    expected = {}
    for path in sorted(map(pathlib.Path, paths), key=lambda path: path.name):
        source = path.read_text()
        expected[path.stem] = {
            one["name"]: digest(
                render(source, one["messages"], corpus["tools"].get(one["tools"]), one["variables"])
            )
            for one in corpus["conversations"]
        }
    return expected


def language():
    """Short programs, each with its text, so that a difference can be read."""
    programs = json.loads((LANGUAGE / "language.json").read_text())
    return {source: render(source, programs["messages"], None, programs["variables"]) for source in programs["sources"]}


if __name__ == "__main__":
    made = language() if sys.argv[1] == "language" else conversations(sys.argv[2:])
    json.dump(made, sys.stdout, indent=1, ensure_ascii=False)
    print()
