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


def label(rng):
    """What one of several places of a kind is called."""
    return rng.choice([lambda: rng.choice(w.ADJECTIVE), lambda: w.last_name(rng), lambda: w.invented(rng).capitalize(), lambda: w.code(rng),
                       lambda: str(rng.randint(1, 99)), lambda: str(rng.randint(1, 9999)), lambda: f"{rng.choice('ABCDEFGHKLMNPRSTX')}{rng.randint(1, 30)}", lambda: rng.choice(w.CITY)])()


def measure(rng):
    return rng.choice([rng.randint(1, 12), rng.randint(1, 99), rng.randint(1, 999)])


MENTIONS = ["{v}", "for {v}", "with {n} {v}", "{n} {v}", "to {v}", "in {v}", "of {v}", "at {v}", ", {n} {v}", ", {v}", "named {v}", "on {v}"]
LABEL_MENTIONS = ["the {v} {n}", "in the {v} {n}", "{n} {v}", "at {n} {v}", "of the {v} {n}", ", {n} {v}", "for {n} number {v}", "to the {v} {n}", "{v}", "of {n} {v}"]
MEASURE_MENTIONS = ["{v} {n}", "{v} {n}", "for {v} {n}", "with {v} {n}", ", {v} {n}", "to {v} {n}", "at {v}", "to {v}", "{n} {v}", ", {n} {v}", "at {v} {n}"]
TEXT_MENTIONS = [", {n}: {v}", 'with the {n} "{v}"', '"{v}"', ", {n} {v}", 'because "{v}"', "with {n} {v}", ', {n} "{v}"', "and the {n} {v}"]
SLOTS = [(name, make, MENTIONS) for name, make in [
    ("city", w.city), ("person", w.person), ("code", w.code), ("count", w.integer), ("amount", w.number), ("date", w.date), ("time", w.time),
    ("title", w.title), ("place", w.city), ("owner", w.person), ("level", w.integer), ("item", w.thing), ("word", w.word), ("day", w.day)]]
LABELS = [(name, label, LABEL_MENTIONS) for name in
          "shelf gate lane team garden ward cabin stage tank desk drawer counter platform studio orchard booth street corner roof pier".split()]
MEASURES = [(name, measure, MEASURE_MENTIONS) for name in
            "minutes guests pieces litres kilos boxes seats nights copies stars rows metres coins volts players pages drops spoons bottles sheets rounds laps weeks".split()]
TEXTS = [(name, w.text, TEXT_MENTIONS) for name in "note remark caption wording motto excuse".split()]
KINDS = {w.integer: "integer", measure: "integer", w.number: "number"}
REQUESTS = ["{verb} the {noun} {slots}", "{noun} {slots}", "the {noun} {slots}", "I need the {noun} {slots}", "please {verb} the {noun} {slots}",
            "{verb} {noun} {slots}", "can you {verb} a {noun} {slots}?", "{noun} {slots}", "I want to {verb} the {noun} {slots}", "{slots}: {verb} the {noun}",
            "{slots} {noun}", "I want the {noun} {slots}", "could you {verb} the {noun} {slots}", "{verb} {slots}", "my {noun} {slots}", "{slots}, {noun}"]
TAILS = [" please", " please", " now", " for me", " today", " right away", ", thanks", " soon", " if you can", " today please", ", will you"]


def slot(rng):
    """Name in the definition, name that is said, maker of values, ways to mention it."""
    known, make, mentions = rng.choice(rng.choices([SLOTS, LABELS, MEASURES, TEXTS], [5, 3, 3, 1])[0])
    return known if rng.random() < 0.7 else w.invented(rng), known, make, mentions


class NamedTool:
    """A tool known by a verb and a noun that its requests repeat, so that a choice hangs on equal words alone."""

    def __init__(self, rng):
        self.verb = rng.choice(VERB_NAMES) if rng.random() < 0.7 else w.invented(rng)
        self.noun = rng.choice(NOUNS) if rng.random() < 0.7 else w.invented(rng)
        drawn = {known: (name, known, make, mentions) for name, known, make, mentions in (slot(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 2])))}
        self.slots = list(drawn.values())
        self.name = rng.choice(["{}_{}", "{}_{}", "{1}_{0}", "{}.{}"]).format(self.verb.lower(), self.noun.replace(" ", "_"))
        pattern = rng.choice(["{} the {}", "{} a {}", "{} {}", "{} the {} of a " + (self.slots[0][1] if self.slots else "house")])
        self.description = pattern.format(self.verb.capitalize().replace("_", " "), self.noun)

    def definition(self, rng):
        properties = {name: {"type": KINDS.get(make, "string"), **({"description": f"The {known}"} if rng.random() < 0.5 else {})}
                      for name, known, make, _ in self.slots}
        return {"name": self.name, "description": self.description,
                "parameters": {"type": "object", "properties": properties, "required": list(properties)}}

    def ask(self, rng):
        values = {name: make(rng) for name, _, make, _ in self.slots}
        said, unnamed = [], False
        for name, known, _, mentions in self.slots:
            mention = rng.choice([m for m in mentions if "{n}" in m or not unnamed])  # two values without names could be mistaken
            unnamed |= "{n}" not in mention
            said.append(mention.format(n=known if rng.random() < 0.7 else name, v=values[name]))
        rng.shuffle(said)
        pattern = rng.choice([r for r in REQUESTS if said or "{verb}" in r or "{noun}" in r])
        message = pattern.format(verb=self.verb.replace("_", " "), noun=self.noun, slots=" ".join(said))
        message = " ".join(message.replace(" ,", ",").split()).strip(":, ") + (rng.choice(TAILS) if rng.random() < 0.2 else "")
        return (message[0].upper() + message[1:] if rng.random() < 0.5 else message), values


def choose_dialogue(rng):
    """Several requests to tools that are told apart by their words: nearly every answer is a choice."""
    drawn = [NamedTool(rng) for _ in range(rng.choice([2, 2, 3, 3, 4, 5]))]
    offers = list({tool.noun: tool for tool in {tool.verb: tool for tool in drawn}.values()}.values())
    turns = [("system", tools.system_turn(offers, rng))]
    for _ in range(rng.randint(2, 6)):
        tool = rng.choice(offers)
        message, arguments = tool.ask(rng)
        turns += [("user", message), ("assistant", tools.envelope_call(tool.name, arguments))]
    return turns


STAGES = {  # kind: weight in stage 1 (mostly copying and tools) and in stage 2 (everything); a tool dialogue is ten times as long as a question
    "copy": (0.20, 0.02), "choose": (0.24, 0.17), "tool": (0.30, 0.11), "result": (0.10, 0.09), "hearth": (0.05, 0.70),
    "talk": (0.02, 0.25), "outside": (0.02, 0.09), "sum": (0.02, 0.05), "text": (0.05, 0.045),
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
