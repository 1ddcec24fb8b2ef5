"""Quick look at the embedder during training, in PyTorch; the figures of the card come from eval/embed.mjs."""

import json
import sys
from pathlib import Path

import torch
from embed_model import EmbedModel, EmbedShape
from embed_tokenizer import assemble, start_vectors
from train_embed import embed

here = Path(__file__).parent
work = Path(sys.argv[1])
config = json.loads((here / "embed_config.json").read_text())
tokens = json.loads((work / "vocabulary.json").read_text())
model = EmbedModel(EmbedShape(len(tokens), **config["shape"]))
if len(sys.argv) > 2:
    model.token_embd.weight.data.copy_(torch.from_numpy(start_vectors(tokens, 768, 64, config["seed"])) * 27.7)
else:
    model.load_state_dict(torch.load(work / "checkpoint.pt", weights_only=True)["model"])
tokenizer = assemble(tokens)
with torch.no_grad():
    for name in ("triplets", "triplets-hard"):
        rows = [json.loads(line) for line in (here / f"eval/{name}.jsonl").read_text().splitlines()]
        a, p, n = (embed(model, tokenizer, [r[k] for r in rows]) for k in ("anchor", "positive", "negative"))
        print(name, ((a * p).sum(1) > (a * n).sum(1)).float().mean().item())
    for name in ("retrieval", "retrieval-hard"):
        rows = [json.loads(line) for line in (here / f"eval/{name}.jsonl").read_text().splitlines()]
        q, d = (embed(model, tokenizer, [r[k] for r in rows]) for k in ("question", "passage"))
        print(name, ((q @ d.T).argmax(1) == torch.arange(len(rows))).float().mean().item())
