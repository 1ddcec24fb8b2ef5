"""Makes a work folder from an exported chat model, so that `train_chat.py` goes on where that model ended.

    python continue_chat.py --model ../models/hearth-mini/model.gguf --work DIR [--tokens 153600000]

Checkpoints are too large for the repository, and the model file has all that matters of one: the vocabulary and the
weights, rounded to Q8_0. The optimisers start afresh, so the step count does too, and with it the warm-up.
"""

import argparse
import json
import sys
from pathlib import Path

import gguf
import torch
from chat_model import ChatModel, ChatShape
from chat_tokenizer import CONTROL, assemble
from muon import optimisers

TOKENS_PER_DIALOGUE = 100  # fewer than the real mean, so that the chunk counted with it is past all those used


def tokenizer_of(reader):
    """The tokenizer as trained: the control tokens are the last ids and are added after the vocabulary."""
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    merges = reader.fields["tokenizer.ggml.merges"].contents()
    vocab = {token: i for i, token in enumerate(tokens) if token not in CONTROL}
    return assemble(vocab, [tuple(merge.split(" ")) for merge in merges])


def in_halves(weight, heads):
    """Undoes `in_pairs` of export_chat.py: each head's rows from neighbouring pairs back to two halves."""
    rows, width = weight.shape
    return weight.view(heads, rows // heads // 2, 2, width).transpose(1, 2).reshape(rows, width)


def weights_of(reader, shape):
    weights = {}
    for tensor in reader.tensors:
        weight = torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
        halved = tensor.name.endswith(("attn_q.weight", "attn_k.weight"))
        weights[tensor.name] = in_halves(weight, shape.heads) if halved else weight
    return weights


def checkpoint(config, shape, weights, tokens):
    model = ChatModel(shape)
    model.load_state_dict(weights)
    muon, adam = optimisers(model, config)
    chunk = tokens // (TOKENS_PER_DIALOGUE * config["chunk_dialogues"])
    return {"model": model.state_dict(), "muon": muon.state_dict(), "adam": adam.state_dict(), "step": 0, "tokens": tokens,
            "chunk": chunk, "position": 0, "stage": 1 if tokens < config["full_mix_from"] else 2}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--config", default=str(Path(__file__).parent / "chat_config.json"))
    parser.add_argument("--tokens", type=int, default=153600000, help="how many tokens the model has seen")
    args = parser.parse_args()
    work, config = Path(args.work), json.loads(Path(args.config).read_text())
    if (work / "checkpoint.pt").exists():
        sys.exit(f"{work} already has a checkpoint; train_chat.py goes on from it")
    reader = gguf.GGUFReader(args.model)
    tokenizer = tokenizer_of(reader)
    shape = ChatShape(tokenizer.get_vocab_size(), context=config["context"], **config["shape"])
    state = checkpoint(config, shape, weights_of(reader, shape), args.tokens)
    work.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(work / "tokenizer.json"))
    torch.save(state, work / "checkpoint.pt")
    print(f"{work}: {state['tokens']} tokens, goes on with chunk {state['chunk']}")


if __name__ == "__main__":
    main()
