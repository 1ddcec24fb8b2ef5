"""Writes an embedder checkpoint as a GGUF file with the vocabulary in llama.cpp's phantom-space form.

    python export_embed.py --work DIR --out model.gguf
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
from embed_model import EmbedShape
from embed_tokenizer import CONTROL


def phantom(token):
    if token in CONTROL:
        return token
    return token[2:] if token.startswith("##") and len(token) > 2 else "\u2581" + token


def write(path, shape: EmbedShape, weights, tokens):
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name("hearth-embed")
    writer.add_description("Small built-in embedding model of Hearth, trained on text written for the project")
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_layer_norm_eps(shape.norm_eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_vocab_size(len(tokens))
    writer.add_token_type_count(2)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([phantom(t) for t in tokens])
    writer.add_token_types([gguf.TokenType.CONTROL if t in CONTROL else gguf.TokenType.NORMAL for t in tokens])
    ids = {t: i for i, t in enumerate(tokens)}
    writer.add_pad_token_id(ids["[PAD]"])
    writer.add_unk_token_id(ids["[UNK]"])
    writer.add_uint32("tokenizer.ggml.cls_token_id", ids["[CLS]"])
    writer.add_bos_token_id(ids["[CLS]"])
    writer.add_sep_token_id(ids["[SEP]"])
    writer.add_eos_token_id(ids["[SEP]"])
    writer.add_mask_token_id(ids["[MASK]"])
    for name, weight in weights.items():
        array = weight.float().numpy()
        # Positions and token types stay in full precision: they are small, and llama.cpp adds them row by row.
        if array.ndim == 2 and name not in ("position_embd.weight", "token_types.weight"):
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
    parser.add_argument("--config", default=str(Path(__file__).parent / "embed_config.json"))
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    work, config = Path(args.work), json.loads(Path(args.config).read_text())
    tokens = json.loads((work / "vocabulary.json").read_text())
    weights = torch.load(work / "checkpoint.pt", weights_only=True)["model"]
    Path(args.out).parent.mkdir(parents=True, exist_ok=True)
    write(args.out, EmbedShape(len(tokens), **config["shape"]), weights, tokens)
    print(args.out, Path(args.out).stat().st_size)


if __name__ == "__main__":
    main()
