"""Fails when an evaluation prompt, tool name or sentence occurs in the training text; for the hand-written sentences of
lookalikes/, nearly the same is too much: more than four in five of the words of both."""

import json
import re
import sys
from itertools import chain, islice
from pathlib import Path

here = Path(__file__).parent
sys.path.insert(0, str(here / "generators"))
import dialogues
import paraphrases
from lookalikes import lookalikes

config = json.loads((here / "chat_config.json").read_text())
chunks = int(sys.argv[1]) if len(sys.argv) > 1 else 60


def lines(name):
    return [json.loads(line) for line in (here / f"eval/{name}.jsonl").read_text().splitlines()]


def bare(text):
    return " ".join(text.lower().split()).strip(" ?!.")


def words(text):
    return frozenset(re.findall(r"\w+", text.lower()))


def nearly(sentences, others):
    """The sentences that share more than four in five of all their words with one of the others."""
    sets = [words(other) for other in others]
    return sorted(s for s in sentences for w in [words(s)] if any(len(w & o) > 0.8 * len(w | o) for o in sets))


prompts = {bare(c["message"]) for name in ("talk", "hearth", "outside", "tools", "results", "limits", "sums", "sorting", "addresses") for c in lines(name)}
names = {t["name"] for name in ("tools", "results") for c in lines(name) for t in c["tools"]}
seen, used = set(), set()
for number in range(chunks):
    # Training changes from stage 1 to stage 2 at some chunk; both are looked at for every number.
    made = chain(*(dialogues.dialogues(config["seed"] * 100000 + number, stage, config["chunk_dialogues"]) for stage in (1, 2)))
    for _, turns in made:
        for role, content in turns:
            if role == "user":
                seen.add(bare(content))
            elif role == "system":
                used.update(part.split('"', 1)[0] for part in content.split('{"name":"')[1:])
sentences = set()
for seed in range(60):
    for row in islice(paraphrases.triplets(seed), 2000):
        sentences.update(map(bare, row))
evaluated = {x for name in ("triplets", "triplets-hard", "triplets-words", "triplets-dev", "retrieval", "retrieval-hard") for t in lines(name) for x in t.values()}
written = [sentence for row in lookalikes() for sentence in row]
ours = set(map(bare, evaluated))
found = sorted(prompts & seen), sorted(names & used), sorted(ours & sentences), nearly(written, evaluated)
print(f"{len(prompts)} prompts against {len(seen)} generated messages, {len(names)} tool names against {len(used)}, "
      f"{len(ours)} sentences against {len(sentences)} composed and {len(written)} written ones")
print("found again: prompts", found[0], "tool names", found[1], "sentences", found[2], "nearly", found[3])
sys.exit(any(found))
