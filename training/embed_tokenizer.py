"""WordPiece vocabulary of the embedder: the words of the lexicon and of the facts, and pieces for every other word."""

import re
import sys
from collections import Counter
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

sys.path.insert(0, str(Path(__file__).parent / "generators"))

CONTROL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SMALL = set("""a an the this that these those of in on at to for from with by and or but if so as is are was were be been being am do does did done
has have had having will would can could shall should may might must not no it its he she they we you i me him her them us my your his our their who
what which when where why how there here then than too very more most some any all each every both only just also about into over under up down out off
again still yet once before after while because until during between through against without within one ones get got gets go goes going went make
makes made take takes took put puts let us really quite rather please ever never always often sometimes now today way ways thing things something someone
somebody anything nothing much many lot lots few own other another such same etc like want wants need needs know use used using""".split())
ASCII = [chr(c) for c in range(33, 127) if not chr(c).isupper()]


def forms():
    """Every single-word spelling of a concept, bent forms and stems included, with the concepts it stands for."""
    import paraphrases as p

    out = {}
    for concept, (_, kind, group) in enumerate(p.ALL):
        for phrase in group:
            words = phrase.split(" ")
            spellings = [phrase] if len(words) == 1 else []
            if kind == "v":
                head = words[0]
                spellings += [head] if len(words) == 1 else []
                if len(words) == 1:
                    spellings += [p.bend(head, "ing").removesuffix("ing"), p.bend(head, "ed").removesuffix("ed") if p.bend(head, "ed").endswith("ied") else p.IRREGULAR.get(head, head)]
                    spellings += [p.bend(head, "ed")] if p.bend(head, "ed").endswith("ied") else []
            elif kind == "n" and len(words) == 1 and p.bend(phrase, "plural").endswith("ies"):
                spellings.append(p.bend(phrase, "plural"))
            for spelling in spellings:
                if re.fullmatch(r"[a-z]+", spelling):
                    out.setdefault(spelling, [])
                    if concept not in out[spelling]:
                        out[spelling].append(concept)
    return out


def start_vectors(tokens, width, hidden, seed):
    """First token vectors: words of one concept begin near each other, words of one topic or field in one region.

    The first `hidden` dimensions do not reach the output (the last norm starts with a gain of zero there), so the share
    of a vector that lies in them says how little the token counts: all of it for function words, little for words of
    the lexicon, half for pieces of unknown words.
    """
    import numpy as np
    import associations
    import paraphrases as p
    import related

    rng = np.random.default_rng(seed)
    seen = width - hidden

    def draw():
        row = rng.standard_normal(seen)
        return row / np.linalg.norm(row)

    topic = {name: draw() for name in p.BY_TOPIC}
    concept = [draw() + 0.35 * topic[t] for t, _, _ in p.ALL]
    field = {}
    for words in related.fields():
        middle = draw()
        for word in words:
            field.setdefault(word, []).append(middle)
    for subject, answer in associations.associations():
        middle = draw()
        for word in subject + answer:
            if re.fullmatch("[a-z]+", word):
                field.setdefault(word, []).append(0.7 * middle)
    aside = rng.standard_normal(hidden)
    aside /= np.linalg.norm(aside)
    known = forms()
    small = {x for frames in p.FRAMES.values() for f in frames for x in re.findall(r"[a-z]+", f)}
    rows = []
    for token in tokens:
        own = draw()
        if token in small or token in SMALL or token in CONTROL or re.fullmatch(r"##(ing|ed|es|er|ers|ly|s|d|r)|[^a-z0-9#]+|##[^a-z0-9]+", token):
            weight, row = 0.03, own
        elif token in known or token in field:
            near = [concept[i] for i in known.get(token, [])]
            row = 0.3 * own + sum(near) / max(1, len(near)) ** 0.5 + 0.6 * sum(field.get(token, [])) / max(1, len(field.get(token, []))) ** 0.5 + (0.7 * own if not near else 0)
            kinds = {p.ALL[i][1] for i in known.get(token, [])} or {"n"}
            general = any(p.ALL[i][0] in ("quality", "action", "time") for i in known.get(token, []))
            weight = 0.4 if general else 0.8 if "n" in kinds else 0.5
        else:
            weight, row = (0.7 if not token.startswith("##") and len(token) > 4 else 0.3), own
        row = row / np.linalg.norm(row)
        rows.append(np.concatenate([aside * (1 - weight**2) ** 0.5, row * weight]))
    return np.stack(rows).astype(np.float32)


def vocabulary():
    import chat
    import associations
    import facts
    import paraphrases as p
    import related

    words = Counter()
    for _, _, group in p.ALL:
        for phrase in group:
            for word in re.findall(r"[a-z]+", phrase):
                words[word] += 50
    for form in forms():
        words[form] += 50
    texts = [" ".join(f) for f in facts.FACTS] * 2 + [x for frames in p.FRAMES.values() for x in frames] * 5
    texts += [x for _, patterns in chat.SMALL_TALK for x in patterns] + chat.OUTSIDE + chat.SUBJECTS
    for text in texts:
        words.update(re.findall(r"[a-z]+", text.lower()))
    for word in [x for field in related.fields() for x in field] + [x for pair in associations.associations() for side in pair for x in side]:
        words.update({word.lower(): 50} if re.fullmatch("[a-z]+", word) else {})
    starts, inner = Counter(), Counter()
    for word in list(words):
        for size in (2, 3, 4):
            if len(word) > size:
                starts[word[:size]] += 1
            for at in range(1, len(word) - size + 1):
                inner[word[at:at + size]] += 1
    out = list(CONTROL) + ASCII + ["##" + c for c in ASCII]
    out += [x for x, n in words.most_common() if n >= 2 and len(x) > 1]
    out += ["##" + x for x in ("ing", "ed", "es", "er", "ers", "ly", "ness", "ment", "able", "tion", "less", "ful", "ity", "est")]
    out += [x for x, _ in starts.most_common(450)] + ["##" + x for x, _ in inner.most_common(900)]
    return list(dict.fromkeys(out))


def assemble(tokens) -> Tokenizer:
    ids = {t: i for i, t in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])])
    return tokenizer
