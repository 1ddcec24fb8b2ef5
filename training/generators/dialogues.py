"""Mixes all dialogue kinds in fixed shares; the shares depend on the stage of the curriculum."""

import json
import random
import zlib
from pathlib import Path

import chat
import tools
import words as w

START, END, TEXT_END = "<|im_start|>", "<|im_end|>", "<|endoftext|>"


def copy_dialogue(rng):
    """Bare lists of invented words, said twice: the quickest way to learn to copy."""
    parts = [rng.choice([w.invented, w.code, w.word, w.first_name, w.city, w.path, w.email])(rng) for _ in range(rng.randint(3, 14))]
    kind = rng.random()
    if kind < 0.5:
        said = rng.choice([" ", ", ", "\n"]).join(parts)
        return [("user", "repeat: " + said), ("assistant", said)]
    keys = [w.invented(rng) for _ in parts]
    if kind < 0.75:
        at = rng.randrange(len(parts))
        return [("user", tools.compact(dict(zip(keys, parts))) + "\n" + keys[at]), ("assistant", parts[at])]
    return [("user", ", ".join(f"{k} {p}" for k, p in zip(keys, parts))), ("assistant", tools.compact(dict(zip(keys, parts))))]


VERB_NAMES = sorted({name for names, *_ in tools.VERBS for name in names})
NOUNS = sorted(w.THING) + sorted(tools.OBJECTS)
SLOTS = [("city", w.city), ("person", w.person), ("code", w.code), ("count", w.integer), ("amount", w.number), ("date", w.date), ("time", w.time),
         ("title", w.title), ("place", w.city), ("owner", w.person), ("level", w.integer), ("item", w.thing), ("word", w.word)]
MENTIONS = ["{v}", "for {v}", "with {n} {v}", "{n} {v}", "to {v}", "in {v}", "of {v}", "at {v}", ", {n} {v}", ", {v}", "named {v}"]
REQUESTS = ["{verb} the {noun} {slots}", "{noun} {slots} please", "the {noun} {slots}", "I need the {noun} {slots}", "please {verb} the {noun} {slots}",
            "{verb} {noun} {slots}", "can you {verb} a {noun} {slots}?", "{noun} {slots}", "I want to {verb} the {noun} {slots}", "{slots}: {verb} the {noun}"]


class NamedTool:
    """A tool known by a verb and a noun that its requests repeat, so that a choice hangs on equal words alone."""

    def __init__(self, rng):
        self.verb = rng.choice(VERB_NAMES) if rng.random() < 0.7 else w.invented(rng)
        self.noun = rng.choice(NOUNS) if rng.random() < 0.7 else w.invented(rng)
        slots = rng.sample(SLOTS, rng.choice([0, 1, 1, 1, 2, 2]))
        self.slots = [(name if rng.random() < 0.7 else w.invented(rng), name, make) for name, make in slots]
        self.name = rng.choice(["{}_{}", "{}_{}", "{1}_{0}", "{}.{}"]).format(self.verb.lower(), self.noun.replace(" ", "_"))
        pattern = rng.choice(["{} the {}", "{} a {}", "{} {}", "{} the {} of a " + (self.slots[0][1] if self.slots else "house")])
        self.description = pattern.format(self.verb.capitalize().replace("_", " "), self.noun)

    def definition(self, rng):
        kinds = {w.integer: "integer", w.number: "number"}
        properties = {name: {"type": kinds.get(make, "string"), **({"description": f"The {known}"} if rng.random() < 0.5 else {})}
                      for name, known, make in self.slots}
        return {"name": self.name, "description": self.description,
                "parameters": {"type": "object", "properties": properties, "required": list(properties)}}

    def ask(self, rng):
        values = {name: make(rng) for name, _, make in self.slots}
        said = " ".join(rng.choice(MENTIONS).format(n=name, v=value) for name, value in values.items())
        message = rng.choice(REQUESTS).format(verb=self.verb.replace("_", " "), noun=self.noun, slots=said)
        message = " ".join(message.replace(" ,", ",").split()).strip(":, ")
        return (message[0].upper() + message[1:] if rng.random() < 0.5 else message), values


def choose_dialogue(rng):
    """Several requests to tools that are told apart by their words: nearly every answer is a choice."""
    offers = {tool.name: tool for tool in (NamedTool(rng) for _ in range(rng.choice([2, 2, 3, 3, 4, 5])))}
    turns = [("system", tools.system_turn(list(offers.values()), rng))]
    for _ in range(rng.randint(2, 6)):
        tool = rng.choice(list(offers.values()))
        message, arguments = tool.ask(rng)
        turns += [("user", message), ("assistant", tools.envelope_call(tool.name, arguments))]
    return turns


STAGES = {  # kind: share of dialogues in stage 1 (mostly copying and tools) and in stage 2 (everything)
    "copy": (0.20, 0.02), "choose": (0.24, 0.18), "tool": (0.30, 0.14), "result": (0.10, 0.05), "hearth": (0.05, 0.36),
    "talk": (0.02, 0.14), "outside": (0.02, 0.05), "sum": (0.02, 0.03), "text": (0.05, 0.03),
}
MAKERS = {
    "copy": copy_dialogue,
    "choose": choose_dialogue,
    "tool": lambda rng: tools.tool_dialogue(rng, chat.any_pair),
    "result": tools.result_dialogue,
    "hearth": lambda rng: chat.chat_dialogue(rng, chat.hearth_pair),
    "talk": lambda rng: chat.chat_dialogue(rng, chat.small_talk_pair),
    "outside": lambda rng: chat.chat_dialogue(rng, chat.outside_pair),
    "sum": lambda rng: chat.chat_dialogue(rng, chat.arithmetic_pair),
    "text": lambda rng: chat.chat_dialogue(rng, chat.text_task),
}


def bare(text: str) -> str:
    return " ".join(text.lower().split()).strip(" ?!.")


def tool_names(system: str):
    return [part.split('"', 1)[0] for part in system.split('{"name":"')[1:]]


def held_out():
    """Prompts and tool names of the evaluation, which must not be taught."""
    prompts, names = set(), set()
    for name in ("talk", "hearth", "outside", "tools", "results"):
        for line in (Path(__file__).parent / f"../eval/{name}.jsonl").read_text().splitlines():
            case = json.loads(line)
            prompts.add(bare(case["message"]))
            names.update(tool["name"] for tool in case.get("tools", []))
    return prompts, names


PROMPTS, NAMES = held_out()


def is_held_out(turns) -> bool:
    return any((role == "user" and bare(content) in PROMPTS) or (role == "system" and not NAMES.isdisjoint(tool_names(content)))
               for role, content in turns)


def dialogues(seed: int, stage: int, count: int):
    rng = random.Random(zlib.crc32(f"{seed}:{stage}".encode()))
    kinds, shares = list(STAGES), [STAGES[k][stage - 1] for k in STAGES]
    for _ in range(count):
        kind = rng.choices(kinds, shares)[0]
        turns = MAKERS[kind](rng)
        if not is_held_out(turns):
            yield kind, turns


def render(turns) -> str:
    return "".join(f"{START}{role}\n{content}{END}\n" for role, content in turns)


if __name__ == "__main__":
    import sys
    for kind, turns in dialogues(7, 2, int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print(f"=== {kind}\n{render(turns)}")
