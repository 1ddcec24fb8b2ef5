"""Trains the embedder with in-batch negatives and one hard negative per row; resumable.

    python train_embed.py --work DIR
"""

import argparse
import json
import os
import time
from pathlib import Path

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
import torch
import torch.nn.functional as F
from embed_model import EmbedModel, EmbedShape
from embed_tokenizer import assemble, start_vectors, vocabulary


def embed(model, tokenizer, texts, groups=5):
    """Vectors of the texts, computed in groups of like length so that little is padding."""
    encoded = [e.ids[:128] for e in tokenizer.encode_batch(texts)]
    order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
    size, parts = -(-len(texts) // groups), []
    for at in range(0, len(order), size):
        chosen = [encoded[i] for i in order[at:at + size]]
        ids = torch.zeros(len(chosen), len(chosen[-1]), dtype=torch.long)
        mask = torch.zeros(ids.shape, dtype=torch.bool)
        for row, tokens in enumerate(chosen):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            mask[row, : len(tokens)] = True
        parts.append(model(ids, mask))
    return torch.cat(parts)[torch.tensor(order).argsort()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--config", default=str(Path(__file__).parent / "embed_config.json"))
    args = parser.parse_args()
    work, config = Path(args.work), json.loads(Path(args.config).read_text())
    work.mkdir(parents=True, exist_ok=True)
    (work / "pid").write_text(str(os.getpid()))
    torch.manual_seed(config["seed"])
    torch.set_num_threads(config["threads"])
    if not (work / "vocabulary.json").exists():
        (work / "vocabulary.json").write_text(json.dumps(vocabulary()))
    tokens = json.loads((work / "vocabulary.json").read_text())
    tokenizer = assemble(tokens)
    model = EmbedModel(EmbedShape(len(tokens), **config["shape"]))
    model.token_embd.weight.data.copy_(torch.from_numpy(start_vectors(tokens, 768, 64, config["seed"])) * 27.7)
    words = [model.token_embd.weight]
    rest = [p for p in model.parameters() if p is not words[0]]
    optimizer = torch.optim.AdamW([{"params": rest, "scale": 1.0}, {"params": words, "scale": config["word_rate"] / config["rate"]}], lr=config["rate"], weight_decay=0.0, betas=(0.9, 0.98))
    step, checkpoint = 0, work / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    import paraphrases

    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} million weights, vocabulary {len(tokens)}", flush=True)
    log = (work / "log.jsonl").open("a")
    started, total, right, n = time.time(), 0.0, 0.0, 0
    while step < config["steps"]:
        source = paraphrases.triplets(config["seed"] * 1000000 + step)
        rows = [next(source) for _ in range(config["batch"])]
        with torch.autocast("cpu", torch.bfloat16):
            out = embed(model, tokenizer, [r[0] for r in rows] + [r[1] for r in rows] + [r[2] for r in rows])
        anchor, others = out[: len(rows)], out[len(rows):]
        scores = anchor @ others.T / config["temperature"]
        target = torch.arange(len(rows))
        loss = F.cross_entropy(scores, target) + 0.5 * F.cross_entropy(scores[:, : len(rows)].T, target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        warm = min(1.0, (step + 1) / 30)
        for group in optimizer.param_groups:
            group["lr"] = config["rate"] * group["scale"] * warm * min(1.0, (config["steps"] - step) / (0.4 * config["steps"]))
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        total, right, n = total + loss.item(), right + (scores.argmax(1) == target).float().mean().item(), n + 1
        if step % 20 == 0:
            row = {"step": step, "loss": round(total / n, 4), "hit": round(right / n, 4), "seconds_per_step": round((time.time() - started) / n, 2)}
            log.write(json.dumps(row) + "\n")
            log.flush()
            print(row, flush=True)
            started, total, right, n = time.time(), 0.0, 0.0, 0
        if step % 100 == 0 or step == config["steps"]:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, checkpoint.with_suffix(".new"))
            checkpoint.with_suffix(".new").replace(checkpoint)


if __name__ == "__main__":
    main()
