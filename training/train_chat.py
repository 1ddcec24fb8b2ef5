"""Trains the chat model on generated dialogues; resumable, deterministic per chunk of data.

    python train_chat.py --work DIR [--config chat_config.json]

The data is made in chunks on the fly: chunk n of a stage is always the same dialogues. Stage 1 is mostly copying and
tools, stage 2 the full mix. The learning rate is constant after the warm-up and falls to zero from `decay_from` to
`tokens`; both are read again while the run goes on, so it can be made to end in time on a machine of any speed.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BFLOAT_PRODUCT = "import torch; a = torch.ones(256, 256, dtype=torch.bfloat16); (a @ a).sum().item()"
# Some virtual CPUs advertise AMX and then fault, so that a child process tries it first.
if subprocess.run([sys.executable, "-c", BFLOAT_PRODUCT], stderr=subprocess.DEVNULL).returncode:
    os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_BF16"
import torch

sys.path.insert(0, str(Path(__file__).parent / "generators"))
import dialogues
from chat_model import ChatModel, ChatShape
from chat_tokenizer import load
from muon import optimisers


def encode(tokenizer, turns):
    """Token ids and loss weights: only what the assistant says, with its end mark, is learned."""
    ids, weights = [], []
    offered = turns[0][1].find("# Tools") >= 0
    for role, content in turns:
        # A call in a dialogue without tools is only there to be answered; it must not be imitated.
        taught = role == "assistant" and (offered or not content.startswith('{"svc_tool_envelope":1,"call"'))
        head = tokenizer.encode(f"{dialogues.START}{role}\n").ids
        body = tokenizer.encode(f"{content}{dialogues.END}").ids
        tail = tokenizer.encode("\n").ids
        ids += head + body + tail
        weights += [0.0] * len(head) + [float(taught)] * len(body) + [0.0] * len(tail)
    return ids, weights


def chunk(config, tokenizer, number, stage):
    """Batches of one chunk: dialogues sorted by length, so that padding is rare, then shuffled."""
    made = dialogues.dialogues(config["seed"] * 100000 + number, stage, config["chunk_dialogues"])
    samples = [encode(tokenizer, turns) for _, turns in made]
    samples = [s for s in samples if len(s[0]) <= config["context"]]
    samples.sort(key=lambda s: len(s[0]))
    batches, current = [], []
    for sample in samples:
        if current and (len(current) + 1) * len(sample[0]) > config["batch_tokens"]:
            batches.append(tensors(current))
            current = []
        current.append(sample)
    random.Random(number).shuffle(batches)  # the incomplete last batch of the longest dialogues is left out
    return batches


def tensors(batch):
    length = 1 + (max(len(ids) for ids, _ in batch) + 30) // 32 * 32
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    weights = torch.zeros(len(batch), length)
    for row, (tokens, loss_weights) in enumerate(batch):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        weights[row, : len(tokens)] = torch.tensor(loss_weights)
    return ids, weights


class Feed:
    """Hands out batches, and makes the next chunk in a thread while the current one is used."""

    def __init__(self, config, tokenizer, number, position, stage):
        self.make = lambda number, stage: chunk(config, tokenizer, number, stage)
        self.worker, self.number, self.position, self.stage = ThreadPoolExecutor(1), number, position, stage
        self.batches = self.make(number, stage)
        self.coming = None

    def next(self, stage):
        if self.coming is None:
            self.coming_stage, self.coming = stage, self.worker.submit(self.make, self.number + 1, stage)
        if self.position >= len(self.batches):
            self.batches, self.stage = self.coming.result(), self.coming_stage
            self.number, self.position, self.coming = self.number + 1, 0, None
        self.position += 1
        return self.batches[self.position - 1]


def probe_set(config, tokenizer, per_kind=32):
    """Dialogues of a seed that training never uses, by kind."""
    kinds = {}
    for kind, turns in dialogues.dialogues(7, 2, 6000):
        if len(kinds.setdefault(kind, [])) < per_kind:
            kinds[kind].append(encode(tokenizer, turns))
    return {kind: tensors([s for s in samples if len(s[0]) <= config["context"]]) for kind, samples in kinds.items()}


@torch.no_grad()
def probe(model, kinds):
    """Share of assistant turns whose every token is the most likely one, given what stands before it."""
    shares = {}
    for kind, (ids, weights) in kinds.items():
        right = total = 0
        for row, row_weights in zip(ids.split(8), weights.split(8)):
            with torch.autocast("cpu", torch.bfloat16):
                guesses = (model.hidden(row[:, :-1]) @ model.token_embd.weight.T).argmax(-1)
            wrong = (guesses != row[:, 1:]) & (row_weights[:, 1:] > 0)
            for misses, taught in zip(wrong, row_weights[:, 1:] > 0):
                starts = (taught & ~torch.cat((torch.tensor([False]), taught[:-1]))).cumsum(0)
                turns = int(starts.max())
                total += turns
                right += turns - len(starts[misses].unique())
        shares[kind] = round(right / total, 3)
    return shares


def rate_scale(step, tokens, config):
    left = (config["tokens"] - tokens) / (config["tokens"] - config["decay_from"])
    return max(0.0, min(1.0, (step + 1) / config["warmup_steps"], left))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--config", default=str(Path(__file__).parent / "chat_config.json"))
    args = parser.parse_args()
    work = Path(args.work)
    config = json.loads(Path(args.config).read_text())
    torch.manual_seed(config["seed"])
    torch.set_num_threads(config["threads"])
    tokenizer = load(work / "tokenizer.json")
    shape = ChatShape(tokenizer.get_vocab_size(), context=config["context"], **config["shape"])
    model = ChatModel(shape)
    muon, adam = optimisers(model, config)
    step = tokens = number = position = 0
    stage, checkpoint = 1, work / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        muon.load_state_dict(state["muon"])
        adam.load_state_dict(state["adam"])
        step, tokens, number, position, stage = (state[k] for k in ("step", "tokens", "chunk", "position", "stage"))
    if shutil.which("g++"):
        model.compile()
    feed, probes = Feed(config, tokenizer, number, position, stage), probe_set(config, tokenizer)

    def save():
        temporary = checkpoint.with_suffix(".new")
        torch.save({"model": model.state_dict(), "muon": muon.state_dict(), "adam": adam.state_dict(), "step": step, "tokens": tokens,
                    "chunk": feed.number, "position": feed.position, "stage": feed.stage}, temporary)
        temporary.replace(checkpoint)

    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} million weights, vocabulary {shape.vocab}", flush=True)
    log = (work / "log.jsonl").open("a")
    started, seen, lost, counted = time.time(), 0, 0.0, 0.0
    while tokens < config["tokens"]:
        ids, weights = feed.next(1 if tokens < config["full_mix_from"] else 2)
        with torch.autocast("cpu", torch.bfloat16):
            loss, weight = model.loss(ids, weights)
        (loss / weight).backward()
        if not torch.isfinite(model.token_embd.weight.grad).all():
            sys.exit("a gradient is not a number; the last checkpoint is intact")
        torch.nn.utils.clip_grad_norm_(adam.param_groups[0]["params"], 1.0)
        scale = rate_scale(step, tokens, config)
        muon.step(scale)
        for group in adam.param_groups:
            group["lr"] = config["adam_rate"] * scale
        adam.step()
        model.zero_grad(set_to_none=True)
        step, tokens, seen = step + 1, tokens + ids.numel(), seen + ids.numel()
        lost, counted = lost + loss.item(), counted + weight.item()
        if step % 25 == 0:
            row = {"step": step, "tokens": tokens, "stage": feed.stage, "loss": round(lost / counted, 4), "scale": round(scale, 3),
                   "tokens_per_second": round(seen / (time.time() - started)), "time": round(time.time())}
            if step % 250 == 0:
                row["probe"] = probe(model, probes)
                save()
            log.write(json.dumps(row) + "\n")
            log.flush()
            print(row, flush=True)
            started, seen, lost, counted = time.time(), 0, 0.0, 0.0
            config.update(json.loads(Path(args.config).read_text()))
    save()


if __name__ == "__main__":
    main()
