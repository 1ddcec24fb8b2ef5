"""Mixes all dialogue kinds in fixed shares; the shares depend on the stage of the curriculum."""

import random
import zlib

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


STAGES = {  # kind: share of dialogues in stage 1 (copying, tools), 2 (short knowledge) and 3 (everything)
    "copy": (0.22, 0.00, 0.01), "tool": (0.30, 0.03, 0.14), "result": (0.05, 0.09, 0.09), "hearth": (0.14, 0.48, 0.36),
    "talk": (0.07, 0.18, 0.12), "outside": (0.07, 0.16, 0.16), "sum": (0.05, 0.03, 0.05), "text": (0.10, 0.03, 0.07),
}
MAKERS = {
    "copy": copy_dialogue,
    "tool": lambda rng: tools.tool_dialogue(rng, chat.any_pair),
    "result": tools.result_dialogue,
    "hearth": lambda rng: chat.chat_dialogue(rng, chat.hearth_pair),
    "talk": lambda rng: chat.chat_dialogue(rng, chat.small_talk_pair),
    "outside": lambda rng: chat.chat_dialogue(rng, chat.outside_pair),
    "sum": lambda rng: chat.chat_dialogue(rng, chat.arithmetic_pair),
    "text": lambda rng: chat.chat_dialogue(rng, chat.text_task),
}


def dialogues(seed: int, stage: int, count: int):
    rng = random.Random(zlib.crc32(f"{seed}:{stage}".encode()))
    kinds, shares = list(STAGES), [STAGES[k][stage - 1] for k in STAGES]
    for _ in range(count):
        kind = rng.choices(kinds, shares)[0]
        yield kind, MAKERS[kind](rng)


def render(turns) -> str:
    return "".join(f"{START}{role}\n{content}{END}\n" for role, content in turns)


if __name__ == "__main__":
    import sys
    for kind, turns in dialogues(7, 3, int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print(f"=== {kind}\n{render(turns)}")
