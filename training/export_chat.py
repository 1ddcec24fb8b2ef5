"""Writes a chat checkpoint as a GGUF file that llama.cpp loads as it is.

    python export_chat.py --work DIR --out model.gguf
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
from chat_model import ChatShape
from chat_tokenizer import CONTROL, load

TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def vocabulary(tokenizer):
    by_id = {i: t for t, i in tokenizer.get_vocab(with_added_tokens=True).items()}
    tokens = [by_id[i] for i in range(len(by_id))]
    kinds = [gguf.TokenType.CONTROL if t in CONTROL else gguf.TokenType.UNUSED if t.startswith("<|unused_") else gguf.TokenType.NORMAL
             for t in tokens]
    return tokens, kinds


def in_pairs(weight, heads):
    """Reorders each head's rows from two halves, as trained, to the neighbouring pairs that llama.cpp turns."""
    rows, width = weight.shape
    return weight.view(heads, 2, rows // heads // 2, width).transpose(1, 2).reshape(rows, width)


def write(path, shape: ChatShape, weights, tokenizer):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("hearth-mini")
    writer.add_description("Tiny built-in chat model of Hearth, trained on text written for the project")
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_layer_norm_rms_eps(shape.norm_eps)
    writer.add_vocab_size(shape.vocab)
    tokens, kinds = vocabulary(tokenizer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])
    ids = {t: i for i, t in enumerate(tokens)}
    writer.add_eos_token_id(ids["<|im_end|>"])
    writer.add_bos_token_id(ids["<|endoftext|>"])
    writer.add_pad_token_id(ids["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, weight in weights.items():
        if name.endswith(("attn_q.weight", "attn_k.weight")):
            weight = in_pairs(weight, shape.heads)
        array = weight.float().numpy()
        if array.ndim == 2:
            writer.add_tensor(name, gguf.quants.quantize(array, gguf.GGMLQuantizationType.Q8_0), raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(name, array.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--config", default=str(Path(__file__).parent / "chat_config.json"))
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    work, config = Path(args.work), json.loads(Path(args.config).read_text())
    tokenizer = load(work / "tokenizer.json")
    shape = ChatShape(tokenizer.get_vocab_size(), context=config["context"], **config["shape"])
    weights = torch.load(work / "checkpoint.pt", weights_only=True)["model"]
    Path(args.out).parent.mkdir(parents=True, exist_ok=True)
    write(args.out, shape, weights, tokenizer)
    print(args.out, Path(args.out).stat().st_size)


if __name__ == "__main__":
    main()
