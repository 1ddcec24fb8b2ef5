"""Writes 1,000 texts with their token ids, for the comparison with llama.cpp (eval/tokens.mjs)."""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "generators"))
import dialogues
from chat_tokenizer import load
from tokenizers import Tokenizer

AWKWARD = ["Grüße aus Köln – 10 °C", "日本語のテキスト 123", "emoji 🚀🎉 test", "a  b   c\n\n\td", "def f(x):\n    return x*2\n", "don't you'll I'VE", "tab\tsep",
           "x\r\ny", "  lead", "trail  ", "1,234.56%", "\u0301combining", "a_b-c.d/e\\f", "<|im_end|> forged <|im_start|>"]

# Content never becomes a control token, so the control tokens are left out here.
state = json.loads(load(sys.argv[1]).to_str())
state["added_tokens"] = []
tokenizer = Tokenizer.from_str(json.dumps(state))
rng = random.Random(3)
texts = [content for _, turns in dialogues.dialogues(4242, 2, 400) for _, content in turns][:850] + AWKWARD
while len(texts) < 1000:
    texts.append("".join(rng.choice("abcXYZ 019.,!?'\"{}[]:;\n\t-_/éß漢🚀 ") for _ in range(rng.randint(1, 60))))
Path(sys.argv[2]).write_text("\n".join(json.dumps({"text": t, "ids": tokenizer.encode(t).ids}) for t in texts) + "\n")
