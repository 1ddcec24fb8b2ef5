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


def rows_of(seed, count, hard_share):
    """Triplets; `hard_share` of them are sentences whose negative repeats the frame and most words."""
    rng, others = random.Random(seed), paraphrases.triplets(seed)
    return [paraphrases.triplet(rng) if rng.random() < hard_share else next(others) for _ in range(count)]


def losses(student, teacher, count, temperature):
    """Contrast of each anchor with all positives and negatives, and the mean squared difference from the teacher's similarities."""
    anchor, others = student[:count], student[count:]
    scores = anchor @ others.T / temperature
    target = torch.arange(count)
    contrast = F.cross_entropy(scores, target) + 0.5 * F.cross_entropy(scores[:, :count].T, target)
    # The teacher has no say on the pairs that are to change: an anchor, its positive and its negative.
    free = torch.eye(count).repeat(3, 3) > 0
    kept = ((student @ student.T - teacher @ teacher.T) ** 2)[~free].mean()
    return contrast, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--config", default=Path(__file__).parent / "embed_config.json", type=Path)
    args = parser.parse_args()
    config = json.loads(args.config.read_text())
    args.work.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(config["seed"])
    torch.set_num_threads(config["threads"])
    model, tokenizer = load(args.package)
    teacher = copy.deepcopy(model).eval().requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["rate"], weight_decay=0.0, betas=(0.9, 0.98))
    steps, count = config["steps"], config["batch"]
    started = time.time()
    with (args.work / "log.jsonl").open("w") as log:
        for step in range(1, steps + 1):
            rows = rows_of(config["seed"] * 1_000_000 + step, count, config["hard_share"])
            texts = [row[part] for part in range(3) for row in rows]
            with torch.no_grad():
                reference = embed(teacher, tokenizer, texts)
            contrast, kept = losses(embed(model, tokenizer, texts), reference, count, config["temperature"])
            (config["contrast"] * contrast + config["keep"] * kept).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for group in optimizer.param_groups:
                group["lr"] = config["rate"] * min(1.0, step / 20) * (1 - (step - 1) / steps)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            if step % 10 == 0 or step == steps:
                row = {"step": step, "contrast": round(contrast.item(), 4), "kept": round(kept.item(), 6), "seconds": round(time.time() - started)}
                log.write(json.dumps(row) + "\n")
                log.flush()
                print(row, flush=True)
            if step % 100 == 0 or step == steps:
                save(model, args.work / "model.safetensors")


if __name__ == "__main__":
    main()
