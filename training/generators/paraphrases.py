"""Triplets and question-passage pairs for hearth-embed, composed from the lexicon and the facts.

A sentence is a frame with concepts in its slots. A positive says the same with another frame and other words; a hard
negative keeps the frame and most words and changes one concept.
"""

import random

import chat
import words as w
from facts import FACTS, SERVICE_NAMES
from associations import associations
from lexicon import concepts
from related import fields

IRREGULAR = {
    "drive": "drove", "buy": "bought", "sell": "sold", "write": "wrote", "go": "went", "take": "took", "get": "got", "give": "gave", "find": "found", "lose": "lost", "win": "won", "eat": "ate", "drink": "drank", "sleep": "slept",
    "speak": "spoke", "say": "said", "tell": "told", "think": "thought", "know": "knew", "see": "saw", "hear": "heard", "feel": "felt", "come": "came", "leave": "left", "meet": "met", "pay": "paid", "send": "sent", "spend": "spent",
    "teach": "taught", "catch": "caught", "bring": "brought", "build": "built", "make": "made", "run": "ran", "sing": "sang", "swim": "swam", "fly": "flew", "grow": "grew", "throw": "threw", "draw": "drew", "wear": "wore", "tear": "tore",
    "break": "broke", "steal": "stole", "freeze": "froze", "choose": "chose", "forget": "forgot", "begin": "began", "ride": "rode", "rise": "rose", "fall": "fell", "hold": "held", "keep": "kept", "stand": "stood", "understand": "understood",
    "sit": "sat", "bite": "bit", "hide": "hid", "shoot": "shot", "fight": "fought", "seek": "sought", "sweep": "swept", "weep": "wept", "sow": "sowed", "lend": "lent", "wake": "woke", "swear": "swore", "sting": "stung", "flee": "fled", "hurt": "hurt", "cut": "cut", "put": "put", "set": "set", "read": "read", "quit": "quit", "let": "let", "split": "split", "mow": "mowed", "lead": "led", "feed": "fed", "bleed": "bled", "load": "loaded",
}
VOWELS = "aeiou"


def bend(word, form):
    """Inflects the first word of a verb or the last of a noun: `ing`, `ed`, `s`."""
    head, rest = (word.split(" ", 1) + [""])[:2] if form != "plural" else ("", "")
    if form == "plural":
        if word.endswith(("s", "x", "ch", "sh")):
            return word if word.endswith("s") else word + "es"
        return word[:-1] + "ies" if word.endswith("y") and word[-2:-1] not in VOWELS else word + "s"
    rest = " " + rest if rest else ""
    double = len(head) <= 5 and len(head) > 2 and head[-1] in "bdgmnpt" and head[-2] in VOWELS and head[-3] not in VOWELS
    if form == "s":
        return (head + "es" if head.endswith(("s", "x", "ch", "sh", "o")) else head[:-1] + "ies" if head.endswith("y") and head[-2] not in VOWELS else head + "s") + rest
    if form == "ed":
        if head in IRREGULAR:
            return IRREGULAR[head] + rest
        return (head + "d" if head.endswith("e") else head[:-1] + "ied" if head.endswith("y") and head[-2:-1] not in VOWELS else head + head[-1] + "ed" if double else head + "ed") + rest
    return (head[:-1] + "ing" if head.endswith("e") and not head.endswith("ee") else head + head[-1] + "ing" if double else head + "ing") + rest


FRAMES = {
    "vn": ["how (do|can|should) I {v} (the|a|my) {n}", "what is the best way to {v} (a|the) {n}", "I (want|would like|need|have) to {v} (my|the|a) {n}", "(tips|steps|advice|instructions|a guide) (to|for those who want to) {v} (a|your) {n}", "{v} (the|my|a|) {n}", "is it possible to {v} (a|the) {n}", "{v:ing} (a|the|my|) {n}", "(somebody|he|she|they|we|I) {v:ed} the {n}",
           "(he|she) {v:s} the {n}", "they are {v:ing} (a|the) {n}", "please {v} the {n}", "could you {v} this {n} for me", "ways of {v:ing} {n:p}", "we {v:ed} (our|some|two) {n:p} (yesterday|today|last week|)", "the {n} (was|has been|must be|will be) {v:ed}", "do not {v} the {n}", "who {v:ed} the {n}", "(my|our) plan is to {v} the {n} (soon|tomorrow|)"],
    "an": ["the {n} is {a}", "a {a} {n}", "(my|our|this|that) {n} (seems|looks|is|was) (very|really|quite|rather|so|) {a}", "I (have|saw|found|got) a {a} {n}", "why is the {n} (so|) {a}", "{a} {n:p}", "what a {a} {n}", "the {n} turned out to be {a}", "{n:p} that are {a}", "there is a {a} {n} here", "how come the {n} is {a}"],
    "nn": ["the {n} and the {m}", "a {n} for the {m}", "there is a {n} (near|in|at|by|next to) the {m}", "the {n} of the {m}", "{n} and {m}", "(I|we|he|she) saw a {n} with a {m}", "the {m} has a {n}", "which {n} belongs to the {m}", "{m} {n}", "no {n} without a {m}"],
    "nvn": ["the {n} (wants|has|tries|likes|plans|needs) to {v} the {m}", "a {n} {v:s} a {m}", "the {n} {v:ed} (the|a|his|her) {m}", "{n} {v:ing} a {m}", "the {m} was {v:ed} by the {n}", "our {n} will {v} the {m}", "why did the {n} {v} the {m}", "the {n} is {v:ing} the {m} (now|today|again|)"],
    "n": ["what is (a|the|) {n}", "tell me (something|more|) about {n:p}", "(information|details|facts|news) (on|about) (the|) {n}", "(everything|a question) about {n:p}", "I need a {n}", "where is the {n}", "{n}", "how does a {n} work", "looking for a {n}", "our {n}", "problems with my {n}"],
    "va": ["{v} {a}", "it is {a} to {v}", "(he|she|it) {v:s} and is {a}", "I {v:ed} and felt {a}", "{v:ing} makes you {a}", "to {v} when you are {a}", "(we|they) were {a} and {v:ed}"],
    "nan": ["the {n} of the {a} {m}", "a {a} {m} and its {n}", "the {m} is {a} because of the {n}", "the {n} made the {m} {a}", "{n} for {a} {m:p}"],
    "vnn": ["{v} the {n} (in|at|with|for|from) the {m}", "(I|we|they) {v:ed} a {n} (in|at|with|for|from) the {m}", "how to {v} {n:p} in a {m}", "the {n} in the {m} was {v:ed}", "can I {v} my {n} at the {m}", "{v:ing} a {n} needs a {m}"],
}
NEED = {"vn": "vn", "an": "an", "nn": "nm", "nvn": "nvm", "n": "n", "va": "va", "nan": "nam", "vnn": "vnm"}
SHARES = {"vn": 6, "an": 4, "nn": 3, "nvn": 4, "n": 3, "va": 2, "nan": 2, "vnn": 4}

ALL = list(concepts())
BY_KIND = {k: [i for i, c in enumerate(ALL) if c[1] == k] for k in "nva"}
BY_TOPIC = {}
for index, (topic, _, _) in enumerate(ALL):
    BY_TOPIC.setdefault(topic, []).append(index)


def pick(rng, slot, near=None):
    kind = "n" if slot == "m" else slot
    if near is not None:
        same = [i for i in BY_TOPIC[ALL[near][0]] if ALL[i][1] == kind and i != near]
        if same:
            return rng.choice(same)
    return rng.choice(BY_KIND[kind])


def say(rng, skeleton, slots, avoid=(), frame=None):
    """A sentence; words in `avoid` are not used where the concept has others."""
    frame = frame or w.expand(rng.choice(FRAMES[skeleton]), rng)
    used, out = [], frame
    for slot, concept in slots.items():
        options = [x for x in ALL[concept][2] if x not in avoid] or ALL[concept][2]
        word = rng.choice(options)
        used.append(word)
        for form in ("ing", "ed", "s"):
            if f"{{{slot}:{form}}}" in out:
                out = out.replace(f"{{{slot}:{form}}}", bend(word, form))
        out = out.replace(f"{{{slot}:p}}", bend(word, "plural")).replace(f"{{{slot}}}", word)
    return out, used, frame


def triplet(rng):
    skeleton = rng.choices(list(SHARES), list(SHARES.values()))[0]
    slots = {}
    for slot in NEED[skeleton]:
        near = next(iter(slots.values())) if slots and rng.random() < 0.6 else None
        slots[slot] = pick(rng, slot, near)
    anchor, used, frame = say(rng, skeleton, slots)
    if skeleton == "nvn" and rng.random() < 0.3:  # who does it may be left out
        positive, _, _ = say(rng, "vn", {"v": slots["v"], "n": slots["m"]}, avoid=used)
    else:
        positive, _, _ = say(rng, skeleton, slots, avoid=used)
    # The negative repeats the anchor's frame and words, except for one or two concepts.
    changed = dict(slots)
    for slot in rng.sample(list(slots), 1 if len(slots) < 3 or rng.random() < 0.5 else 2):
        changed[slot] = pick(rng, slot, slots[slot] if rng.random() < 0.5 else None)
    negative = frame
    for slot, word in zip(slots, used):
        if changed[slot] != slots[slot]:
            word = rng.choice(ALL[changed[slot]][2])
        for form in ("ing", "ed", "s"):
            negative = negative.replace(f"{{{slot}:{form}}}", bend(word, form))
        negative = negative.replace(f"{{{slot}:p}}", bend(word, "plural")).replace(f"{{{slot}}}", word)
    return anchor, positive, negative


def passage_pair(rng):
    """A question on one concept of a passage of some sentences; the negative is another passage of the topic."""
    topic = rng.choice(list(BY_TOPIC))
    members = BY_TOPIC[topic]

    def sentence_of(members, avoid=()):
        skeleton = rng.choice(["vn", "an", "nn", "nvn", "vnn"])
        slots = {}
        for slot in NEED[skeleton]:
            kind = "n" if slot == "m" else slot
            options = [i for i in members if ALL[i][1] == kind] or BY_KIND[kind]
            slots[slot] = rng.choice(options)
        return skeleton, slots

    plan = [sentence_of(members) for _ in range(rng.randint(1, 4))]
    skeleton, slots = rng.choice(plan)
    question, used, _ = say(rng, skeleton, slots)
    passage = ". ".join(say(rng, s, c, avoid=used)[0] for s, c in plan) + "."
    others = ". ".join(say(rng, *sentence_of(members))[0] for _ in range(rng.randint(1, 4))) + "."
    if rng.random() < 0.3:
        name = w.invented(rng)
        question, passage = f"{question} {name}", f"{name}: {passage}"
    return question + rng.choice(["", "?"]), passage, others


def fact_pair(rng):
    i, j = rng.sample(range(len(FACTS)), 2)
    if rng.random() < 0.4:  # two ways to ask the same
        a, b = (chat.vary(w.expand(rng.choice(FACTS[i][1:]).replace("@H", rng.choice(SERVICE_NAMES)), rng), rng) for _ in range(2))
        return a, b, w.expand(rng.choice(FACTS[j][1:]).replace("@H", "Hearth"), rng)
    question = chat.vary(w.expand(rng.choice(FACTS[i][1:]).replace("@H", rng.choice(SERVICE_NAMES)), rng), rng)
    return question, FACTS[i][0], FACTS[j][0]


LINKS = list(associations())
FIELDS = list(fields())
SYNONYMS = {}
for _, _, _group in ALL:
    for _word in _group:
        SYNONYMS.setdefault(_word, _group)
ASKS = ["how do I {s}", "what is {s}", "how does {s} work", "why {s}", "what helps with {s}", "{s}?", "how can one {s} better", "tell me about {s}", "what should I know about {s}", "which {s} is good", "where is {s}", "what does {s} do"]
FILLERS = ["the", "a", "with the", "and the", "for", "then", "and", "in the", "of the", "so that", "until the", "is", "from a", "which", "on the", "by", "or", "it is", "one can", "should"]


def around(rng, words):
    """Something like a sentence: the words in any order, with small words between them."""
    chosen = rng.sample(words, min(len(words), rng.randint(3, 8)))
    return " ".join(f"{rng.choice(FILLERS)} {rng.choice(SYNONYMS.get(x, [x])) if rng.random() < 0.25 else x}" for x in chosen)


def link_pair(rng):
    """A question and the words of its answer; the negative answers another question."""
    (subject, answer), (_, other) = rng.sample(LINKS, 2)
    asked = [rng.choice(SYNONYMS.get(x, [x])) if rng.random() < 0.2 else x for x in subject]
    if len(asked) > 1 and rng.random() < 0.3:
        asked.pop(rng.randrange(len(asked)))
    question = w.expand(rng.choice(ASKS), rng).replace("{s}", " ".join(asked))
    return question, around(rng, answer + subject[:1]) + ".", around(rng, other) + "."


def field_pair(rng):
    a, b = rng.sample(FIELDS, 2)
    return around(rng, a), around(rng, a), around(rng, b)


def topic_pair(rng):
    """Sentences that share a topic only: related, though not the same."""
    topic, other = rng.sample(list(BY_TOPIC), 2)

    def loose(name):
        return " ".join(rng.choice(ALL[i][2]) for i in rng.sample(BY_TOPIC[name], 3))
    return loose(topic), loose(topic), loose(other)


def triplets(seed):
    rng = random.Random(seed)
    while True:
        r = rng.random()
        yield (triplet(rng) if r < 0.45 else passage_pair(rng) if r < 0.60 else fact_pair(rng) if r < 0.70
               else link_pair(rng) if r < 0.90 else field_pair(rng) if r < 0.95 else topic_pair(rng))


if __name__ == "__main__":
    stream = triplets(3)
    for _ in range(25):
        print(next(stream))
