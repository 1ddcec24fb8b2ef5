"""Mixes all dialogue kinds in fixed shares; the shares depend on the stage of the curriculum."""

import json
import random
import zlib
from pathlib import Path

import chat
import tools
import word_lists as words
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
SHORT_NOUNS = [noun for noun in words.NOUNS if len(noun) <= 5]


def noun(rng):
    """Words of every make, so that a choice by equal words does not hang on the words that were taught."""
    r = rng.random()
    if r < 0.25:
        return rng.choice(NOUNS)
    if r < 0.7:
        return rng.choice(words.NOUNS)
    return rng.choice(SHORT_NOUNS) + rng.choice(SHORT_NOUNS) if r < 0.83 else w.invented(rng)


def verb(rng):
    return rng.choice(rng.choices([VERB_NAMES, words.VERBS, [w.invented(rng)]], [5, 3, 2])[0])


def label(rng):
    """What one of several places of a kind is called."""
    return rng.choice([lambda: rng.choice(w.ADJECTIVE), lambda: w.last_name(rng), lambda: w.invented(rng).capitalize(), lambda: w.code(rng),
                       lambda: str(rng.randint(1, 99)), lambda: str(rng.randint(1, 9999)), lambda: f"{rng.choice('ABCDEFGHKLMNPRSTX')}{rng.randint(1, 30)}", lambda: rng.choice(w.CITY),
                       lambda: rng.choice(words.PROPER), lambda: rng.choice(words.KINDS), lambda: rng.choice(words.ADJECTIVES), lambda: f"{rng.choice(words.PROPER)} {rng.choice(words.PROPER)}"])()


def name_of(rng):
    return rng.choice([lambda: rng.choice(words.PROPER), lambda: rng.choice(words.KINDS), lambda: rng.choice(words.NOUNS), lambda: rng.choice(words.NOUNS).capitalize(),
                       lambda: f"{rng.choice(words.ADJECTIVES)} {rng.choice(words.NOUNS)}", lambda: f"{rng.choice(words.ADJECTIVES)} {rng.choice(words.NOUNS)}".title(),
                       lambda: f"{rng.choice(words.NOUNS)} and {rng.choice(words.NOUNS)}".title().replace(" And ", " and ")])()


def measure(rng):
    return rng.choice([rng.randint(1, 12), rng.randint(1, 99), rng.randint(1, 999)])


def decimal(rng):
    return round(rng.random() * rng.choice([10, 100, 1000]) + 0.1, 1)


def flag(rng):
    return rng.random() < 0.5


def digits(rng):
    return str(rng.randint(10 ** rng.randint(3, 11), 10 ** 12))[: rng.randint(4, 12)]


def file_name(rng):
    part = lambda: rng.choice([rng.choice(words.NOUNS), rng.choice(words.KINDS), w.invented(rng), f"{rng.choice(words.NOUNS)}{rng.randint(1, 99)}"])
    folder = rng.choice(["", "", "/", "~/", "/home/", "/srv/", "/tmp/", "./", f"/{part()}/", f"~/{part()}/", f"{part()}/"])
    between = rng.choice(["", "", part() + "/"]) if folder else ""
    return folder + between + part() + rng.choice([".txt", ".csv", ".json", ".pdf", ".png", ".jpg", ".webp", ".tif", ".bmp", ".mp3", ".zip", ".svg", ".wav", ".docx", ".md"])


def link(rng):
    part = lambda: rng.choice([rng.choice(words.NOUNS), w.invented(rng), rng.choice(words.KINDS)])
    host = rng.choice([part(), f"{part()}-{part()}", f"{part()}.{part()}"])
    tail = rng.choice(["", f"/{part()}", f"/{part()}/{part()}", f"/{rng.choice('abcxyz')}", f"/{part()}?id={rng.randint(1, 999)}"])
    return f"{rng.choice(['https', 'https', 'http'])}://{host}.{rng.choice(['com', 'org', 'net', 'io', 'dev', 'eu', 'de'])}{tail}"


MENTIONS = ["{v}", "for {v}", "with {n} {v}", "{n} {v}", "to {v}", "in {v}", "of {v}", "at {v}", ", {n} {v}", ", {v}", "named {v}", "on {v}"]
LABEL_MENTIONS = ["the {v} {n}", "in the {v} {n}", "{n} {v}", "at {n} {v}", "of the {v} {n}", ", {n} {v}", "for {n} number {v}", "to the {v} {n}", "{v}", "of {n} {v}"]
MEASURE_MENTIONS = ["{v} {n}", "{v} {n}", "for {v} {n}", "with {v} {n}", ", {v} {n}", "to {v} {n}", "at {v}", "to {v}", "{n} {v}", ", {n} {v}", "at {v} {n}"]
TEXT_MENTIONS = [", {n}: {v}", 'with the {n} "{v}"', '"{v}"', ", {n} {v}", 'because "{v}"', "with {n} {v}", ', {n} "{v}"', "and the {n} {v}"]
FILE_MENTIONS = ["{v}", "{v}", "of {v}", "for {v}", "from {v}", "{n} {v}", ": {v}", "the {n} {v}", "at {v}", "with {v}", "to {v}", "on {v}"]
FLAG_MENTIONS = ["{n} {v}", "{n} {v}", "with {n} {v}", ", {n} {v}", "{n}: {v}", ", {n}: {v}", "to {n} {v}", "set {n} to {v}", "{n} = {v}"]
CHOICE_MENTIONS = ["{v}", ", {v}", "{v} {n}", "on {v}", ", {n} {v}", "{n} {v}", "with {n} {v}", "{v} please", "as {v}", "at {v}"]
SLOTS = [(name, make, MENTIONS) for name, make in [
    ("city", w.city), ("person", w.person), ("code", w.code), ("count", w.integer), ("amount", w.number), ("date", w.date), ("time", w.time),
    ("title", w.title), ("place", w.city), ("owner", w.person), ("level", w.integer), ("item", w.thing), ("word", w.word), ("day", w.day),
    ("kind", name_of), ("name", name_of), ("subject", name_of), ("until", w.time), ("start", w.time), ("region", w.city)]]
LABELS = [(name, label, LABEL_MENTIONS) for name in
          "shelf gate lane team garden ward cabin stage tank desk drawer counter platform studio orchard booth street corner roof pier".split()]
MEASURES = [(name, measure, MEASURE_MENTIONS) for name in
            "minutes guests pieces litres kilos boxes seats nights copies stars rows metres coins volts players pages drops spoons bottles sheets rounds laps weeks".split()]
MEASURES += [(name, decimal, MEASURE_MENTIONS) for name in "kilometres grams litres degrees metres percent euros hertz".split()]
MEASURES += [(name, decimal, ["{n} {v}", "{n} {v}", ", {n} {v}", "with {n} {v}", "to {n} {v}", "{v} {n}"]) for name in "latitude longitude lat lon width height x y speed pressure".split()]
FLAGS = [(name, flag, FLAG_MENTIONS) for name in "muted enabled active open locked visible public silent on paid urgent empty hidden closed".split()]
TEXTS = [(name, w.text, TEXT_MENTIONS) for name in "note remark caption wording motto excuse reason comment message".split()]
FILES = [(name, make, FILE_MENTIONS) for make, names in [
    (file_name, "file image picture document recording source scan photo"), (link, "link url page address site"), (w.ip, "ip address host server"),
    (w.email, "email recipient address"), (digits, "number id code serial"), (w.version, "version release"), (w.phone, "phone number")] for name in names.split()]
NUMBERS = {"integer", "number", "text"}  # a text may be digits
KINDS = {w.integer: "integer", measure: "integer", w.number: "number", decimal: "number", flag: "boolean"}
SHAPES = {w.time: "time", w.date: "date", w.day: "date", file_name: "file", link: "link", w.ip: "ip", w.email: "email"}
SAID_AS = {  # how a value is told by its preposition alone, whatever its place in the request
    w.city: ["in {v}", "in {v}", "at {v}", "to {v}", "from {v}"], w.person: ["for {v}", "by {v}", "with {v}", ", ask {v}", "for {v}"], w.day: ["on {v}", "{v}"], w.date: ["on {v}"],
    w.time: ["at {v}", "until {v}", "until {v}", "till {v}", "from {v}"], name_of: ["of {v}", "of {v}", "{v}", "about {v}"], w.thing: ["of {v}", "{v}"],
    w.integer: ["to {v}", "at {v}", "up to {v}"], decimal: ["to {v}", "at {v}"], file_name: ["{v}"], link: ["{v}"], w.text: [': "{v}"', 'because "{v}"']}
REQUESTS = ["{verb} the {noun} {slots}", "{noun} {slots}", "the {noun} {slots}", "I need the {noun} {slots}", "please {verb} the {noun} {slots}",
            "{verb} {noun} {slots}", "can you {verb} a {noun} {slots}?", "{noun} {slots}", "I want to {verb} the {noun} {slots}", "{slots}: {verb} the {noun}",
            "{slots} {noun}", "I want the {noun} {slots}", "could you {verb} the {noun} {slots}", "{verb} {slots}", "my {noun} {slots}", "{slots}, {noun}",
            "{noun} please, {slots}", "I want a {noun} {slots}", "{noun}: {slots}", "use {slots} for the {noun}", "what about the {noun} {slots}", "{slots} by {noun}",
            "the {noun}, {slots}, {verb} it", "{noun} {verb} {slots}", "{slots} as {noun}", "{verb} me a {noun} {slots}", "what does the {noun} say {slots}"]
TAILS = [" please", " please", " now", " for me", " today", " right away", ", thanks", " soon", " if you can", " today please", ", will you"]


def slot(rng):
    """Name in the definition, name that is said, maker of values, ways to mention it."""
    r = rng.random()
    if r < 0.2:
        known = rng.choice(words.NOUNS)
        known, make, mentions = rng.choice([(known, label, LABEL_MENTIONS), (known, name_of, MENTIONS), (known + "s", measure, MEASURE_MENTIONS)])
    elif r < 0.3:
        options = rng.sample(rng.choice([words.ADJECTIVES, words.KINDS, words.NOUNS]), rng.randint(2, 5))
        known, make, mentions = rng.choice([*words.NOUNS, "mode", "level", "size", "style"] if rng.random() < 0.5 else ["mode", "size", "style", "setting", "kind"]), options, CHOICE_MENTIONS
    else:
        known, make, mentions = rng.choice(rng.choices([SLOTS, LABELS, MEASURES, TEXTS, FILES, FLAGS], [10, 6, 6, 3, 4, 1])[0])
    return known if rng.random() < 0.75 else w.invented(rng), known, make, mentions


def make_is_said(make):
    return not isinstance(make, list) and make in SAID_AS


def one_value(make, rng):
    return rng.choice(make) if isinstance(make, list) else make(rng)


class NamedTool:
    """A tool known by a verb and a noun that its requests repeat, so that a choice hangs on equal words alone."""

    def __init__(self, rng):
        self.verb, self.noun = verb(rng), noun(rng)
        drawn = {known: (name, known, make, mentions) for name, known, make, mentions in (slot(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 2])))}
        self.slots = list(drawn.values())
        self.name = rng.choice(["{}_{}", "{}_{}", "{1}_{0}", "{}.{}"]).format(self.verb.lower(), self.noun.replace(" ", "_"))
        pattern = rng.choice(["{} the {}", "{} a {}", "{} {}", "{} the {} of a " + (self.slots[0][1] if self.slots else "house")])
        self.description = pattern.format(self.verb.capitalize().replace("_", " "), self.noun)

    def definition(self, rng):
        properties = {}
        for name, known, make, _ in self.slots:
            properties[name] = {"type": "string", "enum": make} if isinstance(make, list) else {"type": KINDS.get(make, "string")}
            if rng.random() < 0.5 or (name != known and len(self.slots) > 1):  # else nothing tells which value is meant
                properties[name]["description"] = rng.choice([f"The {known}", f"The {known}", f"Which {known}", f"{known.capitalize()} of the {self.noun}"])
        return {"name": self.name, "description": self.description,
                "parameters": {"type": "object", "properties": properties, "required": list(properties)}}

    def ask(self, rng):
        values = {name: one_value(make, rng) for name, _, make, _ in self.slots}
        said, unnamed = [], set()
        natural = rng.random() < 0.5 and len({SHAPES.get(make, make) for _, _, make, _ in self.slots if make_is_said(make)}) == len(self.slots) > 1
        for name, known, make, mentions in self.slots:
            shape = "choice" if isinstance(make, list) else SHAPES.get(make, KINDS.get(make, "text"))
            bare = not unnamed or (shape not in unnamed and not (shape in NUMBERS and unnamed & NUMBERS))  # two alike without names could be mistaken
            mention = rng.choice(SAID_AS[make] if natural else [m for m in mentions if "{n}" in m or bare])
            if "{n}" not in mention:
                unnamed.add(shape)
            spoken = str(values[name]).lower() if make is flag else values[name]
            said.append(mention.format(n=known if rng.random() < 0.7 else name, v=spoken))
        rng.shuffle(said)
        pattern = rng.choice([r for r in REQUESTS if said or "{verb}" in r or "{noun}" in r])
        message = pattern.format(verb=self.verb.replace("_", " "), noun=self.noun, slots=" ".join(said))
        message = " ".join(message.replace(" ,", ",").replace(",,", ",").split()).strip(":, ") + (rng.choice(TAILS) if rng.random() < 0.2 else "")
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
    "copy": (0.20, 0.02), "choose": (0.24, 0.26), "tool": (0.30, 0.20), "result": (0.10, 0.22), "hearth": (0.05, 1.05),
    "talk": (0.02, 0.50), "outside": (0.02, 0.07), "cannot": (0.02, 0.30), "text": (0.05, 0.045),
}
MAKERS = {
    "copy": copy_dialogue,
    "choose": choose_dialogue,
    "tool": lambda rng: tools.tool_dialogue(rng, chat.any_pair),
    "result": tools.result_dialogue,
    "hearth": lambda rng: chat.chat_dialogue(rng, chat.hearth_pair),
    "talk": lambda rng: chat.chat_dialogue(rng, chat.small_talk_pair),
    "outside": lambda rng: chat.chat_dialogue(rng, chat.outside_pair),
    "cannot": lambda rng: chat.chat_dialogue(rng, chat.cannot_pair),
    "text": lambda rng: chat.chat_dialogue(rng, chat.text_task),
}


def bare(text: str) -> str:
    return " ".join(text.lower().split()).strip(" ?!.")


def tool_names(system: str):
    return [part.split('"', 1)[0] for part in system.split('{"name":"')[1:]]


def held_out():
    """Prompts and tool names of the evaluation, which must not be taught."""
    prompts, names = set(), set()
    for name in ("talk", "hearth", "outside", "tools", "results", "limits", "sums", "sorting", "addresses"):
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
