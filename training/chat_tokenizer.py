"""Byte-level BPE for the chat model, exactly as llama.cpp's `smollm` pre-tokeniser reads it.

Merges are learned on words without their leading space, so that a name is cut in the same pieces inside quotes and
after a space: copying then needs no translation between two spellings. Frequent words get their space merged on last.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SPACE = "\u0120"
BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def assemble(vocab: dict, merges: list) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), BYTE_LEVEL])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(CONTROL)
    return tokenizer


def train(texts, pieces: int, spaced: int) -> Tokenizer:
    base = Tokenizer(models.BPE())
    base.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), BYTE_LEVEL, pre_tokenizers.Split(Regex(SPACE), "isolated")])
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    base.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=len(alphabet) + pieces, initial_alphabet=alphabet, show_progress=False))
    state = json.loads(base.to_str())["model"]
    vocab, merges = state["vocab"], [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in state["merges"]]
    follow = Counter()
    for text in texts:
        tokens = base.encode(text).tokens
        follow.update(b for a, b in zip(tokens, tokens[1:]) if a == SPACE and b != SPACE and not b.isdigit())
    for piece, _ in follow.most_common(spaced):
        vocab[SPACE + piece] = len(vocab)
        merges.append((SPACE, piece))
    while (len(vocab) + len(CONTROL)) % 64:  # round number of rows for the matrices
        vocab[f"<|unused_{len(vocab)}|>"] = len(vocab)
    return assemble(vocab, merges)


def load(path) -> Tokenizer:
    return Tokenizer.from_file(str(path))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent / "generators"))
    import random

    import dialogues

    rng, texts = random.Random(5), []
    for kind, turns in dialogues.dialogues(1002, 2, 60000):
        # Invented names must not crowd the words of the documentation out of the vocabulary.
        if kind in ("hearth", "talk", "outside") or rng.random() < {"tool": 0.2, "result": 0.2, "text": 0.3}.get(kind, 0.1):
            texts += [content for _, content in turns]
    tokenizer = train(texts, pieces=2900, spaced=930)
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(out))
    size = sum(len(t) for t in texts[:20000])
    print("vocabulary", tokenizer.get_vocab_size(), "characters per token", size / sum(len(tokenizer.encode(t).ids) for t in texts[:20000]))
