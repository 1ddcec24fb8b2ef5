"""Writes a chat model whose weights lie between an exported one and the checkpoint that a short training made of it.

    python blend_chat.py --model ../models/hearth-mini/model.gguf --work DIR --share 0.5 --out model.gguf

A short training on new answers takes some of the old ones; between both, most of either is there.
"""

import argparse
import json
from pathlib import Path

import gguf
import torch
from chat_model import ChatShape
from continue_chat import tokenizer_of, weights_of
from export_chat import write


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True, help="the model before the training")
    parser.add_argument("--work", required=True, help="the work folder of the training")
    parser.add_argument("--config", default=str(Path(__file__).parent / "chat_config.json"))
    parser.add_argument("--share", type=float, default=0.5, help="of the weights after it")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    config, reader = json.loads(Path(args.config).read_text()), gguf.GGUFReader(args.model)
    tokenizer = tokenizer_of(reader)
    shape = ChatShape(tokenizer.get_vocab_size(), context=config["context"], **config["shape"])
    before = weights_of(reader, shape)
    after = torch.load(Path(args.work) / "checkpoint.pt", weights_only=True)["model"]
    write(args.out, shape, {name: (1 - args.share) * before[name].float() + args.share * after[name].float() for name in after}, tokenizer)


if __name__ == "__main__":
    main()
