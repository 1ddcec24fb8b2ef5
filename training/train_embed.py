"""Goes on training all-MiniLM-L6-v2: what differs in meaning moves apart although it shares words, all else stays where the teacher has it.

    python train_embed.py --package DIR --work DIR
"""

import argparse
import copy
import json
import random
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from embed_model import embed, load, save

sys.path.insert(0, str(Path(__file__).parent / "generators"))
import paraphrases
from lookalikes import lookalikes

DEV = Path(__file__).parent / "eval/triplets-dev.jsonl"


def shuffled(rows, seed):
    """The rows in random order, again and again."""
    rng = random.Random(seed)
    while True:
        yield from rng.sample(rows, len(rows))


def composed(seed, count, hard_share):
    """Triplets of the generators; `hard_share` of them have a negative that repeats the frame and most words."""
    rng, others = random.Random(seed), paraphrases.triplets(seed)
    return [paraphrases.triplet(rng) if rng.random() < hard_share else next(others) for _ in range(count)]


def arranged(quadruples, triplets):
    """The sentences of a batch; for each the index of its paraphrase, or -1; and the number of the row it comes from."""
    rows = [*quadruples, *triplets]
    texts, partner, origin = [], [], []
    for number, row in enumerate(rows):
        at = len(texts)
        texts += row
        partner += [at + 1, at, at + 3, at + 2] if len(row) == 4 else [at + 1, at, -1]
        origin += [number] * len(row)
    return texts, torch.tensor(partner), torch.tensor(origin)


def losses(student, teacher, partner, origin, temperature):
    """Contrast of each sentence's paraphrase with all others, and the mean squared difference from the teacher's similarities."""
    scores = student @ student.T
    paired = partner >= 0
    logits = (scores / temperature).masked_fill(torch.eye(len(scores), dtype=torch.bool), -1e9)
    contrast = F.cross_entropy(logits[paired], partner[paired])
    # The teacher has no say on the pairs that are to change: those of one row.
    free = origin[:, None] == origin[None, :]
    kept = ((scores - teacher @ teacher.T) ** 2)[~free].mean()
    return contrast, kept


@torch.no_grad()
def vectors_of(model, tokenizer, texts):
    with torch.autocast("cpu", torch.bfloat16):
        return torch.cat([embed(model, tokenizer, texts[at : at + 256]) for at in range(0, len(texts), 256)])


def dev_share(model, tokenizer):
    rows = [json.loads(line) for line in DEV.read_text().splitlines()]
    found = vectors_of(model, tokenizer, [row[part] for row in rows for part in ("anchor", "positive", "negative")])
    anchor, positive, negative = found.view(len(rows), 3, -1).unbind(1)
    return ((anchor * positive).sum(1) > (anchor * negative).sum(1)).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--config", default=Path(__file__).parent / "embed_config.json", type=Path)
    args = parser.parse_args()
    config = json.loads(args.config.read_text())
    args.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(config["threads"])
    model, tokenizer = load(args.package)
    teacher = copy.deepcopy(model).eval().requires_grad_(False)
    # Words that the training text lacks must stay beside those it has.
    model.embeddings.requires_grad_(False)
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=config["rate"], weight_decay=0.0, betas=(0.9, 0.98))
    rows = shuffled(lookalikes(), config["seed"])
    steps = config["steps"]
    started = time.time()
    with (args.work / "log.jsonl").open("w") as log:
        for step in range(1, steps + 1):
            triplets = composed(config["seed"] * 1_000_000 + step, config["triplets"], config["hard_share"])
            texts, partner, origin = arranged([next(rows) for _ in range(config["lookalikes"])], triplets)
            reference = vectors_of(teacher, tokenizer, texts)
            with torch.autocast("cpu", torch.bfloat16):
                student = embed(model, tokenizer, texts)
            contrast, kept = losses(student.float(), reference.float(), partner, origin, config["temperature"])
            (config["contrast"] * contrast + config["keep"] * kept).backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            for group in optimizer.param_groups:
                group["lr"] = config["rate"] * min(1.0, step / 20) * (1 - (step - 1) / steps)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            if step % 10 == 0 or step == steps:
                row = {"step": step, "contrast": round(contrast.item(), 4), "kept": round(kept.item(), 6), "seconds": round(time.time() - started)}
                if step % 50 == 0 or step == steps:
                    row["dev"] = dev_share(model, tokenizer)
                    save(model, args.work / f"step-{step}.safetensors")
                log.write(json.dumps(row) + "\n")
                log.flush()
                print(row, flush=True)
    save(model, args.work / "model.safetensors")


if __name__ == "__main__":
    main()
