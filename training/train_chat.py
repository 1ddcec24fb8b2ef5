"""Trains the chat model on generated dialogues; resumable, deterministic per chunk of data.

    python train_chat.py --work DIR [--config chat_config.json]

The data is made in chunks on the fly: chunk n is always the same dialogues. The learning rate is constant after the
warm-up and falls to zero over the last part (`decay_steps` before `steps`), so a run can be lengthened before that.
"""

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")  # virtual CPUs may advertise AMX and then fault
import torch

sys.path.insert(0, str(Path(__file__).parent / "generators"))
import dialogues
from chat_model import ChatModel, ChatShape
from chat_tokenizer import load
from muon import Muon


class ThreadCount:
    """On a machine that is shared, two threads that wait for each other can be slower than one."""

    def __init__(self, most):
        self.most, self.now = most, most
        self.mark()

    def mark(self):
        self.wall, self.own, self.idle = time.time(), time.process_time(), self.idle_seconds()

    @staticmethod
    def idle_seconds():
        return int(Path("/proc/stat").read_text().split()[4]) / os.sysconf("SC_CLK_TCK")

    def adapt(self):
        wall = time.time() - self.wall
        if wall < 5:
            return
        if self.now == self.most and (time.process_time() - self.own) / wall < 0.72 * self.now:
            self.now = max(1, self.most - 1)
        elif self.now < self.most and (self.idle_seconds() - self.idle) / wall > 0.6:
            self.now = self.most
        torch.set_num_threads(self.now)
        self.mark()


def encode(tokenizer, turns, prompt_weight, cut=None):
    """Token ids and loss weights; only what the assistant says (with its end mark) has full weight.

    With `cut`, the last answer ends after so many tokens: its beginning is where the model decides.
    """
    ids, weights = [], []
    offered = "# Tools" in turns[0][1]
    for role, content in turns:
        # A call in a dialogue without tools is only there to be answered; it must not be imitated.
        taught = role == "assistant" and (offered or not content.startswith('{"svc_tool_envelope":1,"call"'))
        head = tokenizer.encode(f"{dialogues.START}{role}\n").ids
        body = tokenizer.encode(f"{content}{dialogues.END}").ids
        tail = tokenizer.encode("\n").ids
        if cut and turns[-1] == (role, content):
            body, tail = body[:cut], []
        ids += head + body + tail
        weights += [0.0] * len(head) + [1.0 if taught else prompt_weight] * len(body) + [0.0] * len(tail)
    return ids, weights


def chunk(config, tokenizer, number, rng_seed):
    """Microbatches of one chunk: dialogues sorted by length, so that padding is rare, then shuffled."""
    stage = 1 + sum(number >= start for start in config["stage_starts"])
    rng, samples = random.Random(number), []
    for kind, turns in dialogues.dialogues(rng_seed + number, stage, config["chunk_dialogues"]):
        known = kind in ("hearth", "talk", "outside")
        cut = 7 if known and rng.random() < config["cut_share"][stage - 1] else None
        samples.append(encode(tokenizer, turns, config["prompt_weight"][stage - 1], cut))
    samples = [s for s in samples if len(s[0]) <= config["context"]]
    samples.sort(key=lambda s: len(s[0]))
    batches, current = [], []
    for sample in samples:
        if current and (len(current) + 1) * len(sample[0]) > config["micro_tokens"]:
            batches.append(current)
            current = []
        current.append(sample)
    batches.append(current)
    rng.shuffle(batches)
    return batches


def tensors(batch):
    length = max(len(ids) for ids, _ in batch)
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    weights = torch.zeros(len(batch), length)
    for row, (tokens, loss_weights) in enumerate(batch):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        weights[row, : len(tokens)] = torch.tensor(loss_weights)
    return ids, weights


def rate_scale(step, config):
    if step < config["warmup"]:
        return (step + 1) / config["warmup"]
    left = config["steps"] - step
    return max(0.0, min(1.0, left / config["decay_steps"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--config", default=str(Path(__file__).parent / "chat_config.json"))
    args = parser.parse_args()
    work = Path(args.work)
    work.mkdir(parents=True, exist_ok=True)
    (work.parent / "pid").write_text(str(os.getpid()))
    config = json.loads(Path(args.config).read_text())
    torch.manual_seed(config["seed"])
    torch.set_num_threads(config["threads"])
    threads = ThreadCount(config["threads"])
    tokenizer = load(work / "tokenizer.json")
    shape = ChatShape(tokenizer.get_vocab_size(), context=config["context"], **config["shape"])
    model = ChatModel(shape)
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "token_embd" not in n]
    others = [p for n, p in model.named_parameters() if p.dim() != 2 or "token_embd" in n]
    muon = Muon(matrices, lr=config["muon_rate"], decay=config["weight_decay"])
    adam = torch.optim.AdamW(others, lr=config["adam_rate"], betas=(0.9, 0.98), weight_decay=0.0)
    step = number = position = 0
    checkpoint = work / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        muon.load_state_dict(state["muon"])
        adam.load_state_dict(state["adam"])
        step, number, position = state["step"], state["chunk"], state["position"]
    compiled = bool(os.environ.get("HEARTH_COMPILE"))
    if compiled:
        for block in model.blk:
            block.compile(dynamic=True)

    def save():
        temporary = checkpoint.with_suffix(".new")
        torch.save({"model": model.state_dict(), "muon": muon.state_dict(), "adam": adam.state_dict(),
                    "step": step, "chunk": number, "position": position}, temporary)
        temporary.replace(checkpoint)

    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} million weights, vocabulary {shape.vocab}", flush=True)
    log = (work / "log.jsonl").open("a")
    batches = chunk(config, tokenizer, number, config["seed"] * 100000)
    started, seen, shown, lost, counted = time.time(), 0, step, 0.0, 0.0
    while step < config["steps"]:
        total = loss_sum = 0.0
        for _ in range(config["micro_batches"]):
            if position >= len(batches):
                number, position = number + 1, 0
                batches = chunk(config, tokenizer, number, config["seed"] * 100000)
            ids, weights = tensors(batches[position])
            position += 1
            with torch.autocast("cpu", torch.bfloat16):
                loss, weight = model.loss(ids, weights)
            loss.backward()
            total += weight.item()
            loss_sum += loss.item()
            seen += ids.numel()
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= total
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        scale = rate_scale(step, config)
        muon.step(scale)
        for group in adam.param_groups:
            group["lr"] = config["adam_rate"] * scale
        adam.step()
        model.zero_grad(set_to_none=True)
        step += 1
        threads.adapt()
        lost, counted = lost + loss_sum, counted + total
        if step % 20 == 0:
            row = {"step": step, "chunk": number, "loss": round(lost / counted, 4), "tokens_per_second": round(seen / (time.time() - started)), "scale": round(scale, 3), "threads": threads.now, "time": round(time.time())}
            log.write(json.dumps(row) + "\n")
            log.flush()
            print(row, flush=True)
            lost = counted = 0.0
            seen, started = 0, time.time()
            config["steps"] = json.loads(Path(args.config).read_text())["steps"]
        if step % 100 == 0:
            save()
    save()


if __name__ == "__main__":
    main()
