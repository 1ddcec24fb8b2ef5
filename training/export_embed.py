"""Writes all-MiniLM-L6-v2 as a GGUF file for llama.cpp, its vocabulary in the phantom-space form and its matrices quantised.

    python export_embed.py --package DIR [--weights FILE] --out model.gguf [--words Q4_0] [--layers Q4_0]
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load_file

CONTROL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# The tensors of one layer: the name in the package → the name in the file.
LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
EMBEDDINGS = {
    "word_embeddings.weight": "token_embd.weight",
    "position_embeddings.weight": "position_embd.weight",
    "token_type_embeddings.weight": "token_types.weight",
    "LayerNorm.weight": "token_embd_norm.weight",
    "LayerNorm.bias": "token_embd_norm.bias",
}


def phantom(token):
    if token in CONTROL:
        return token
    return token[2:] if token.startswith("##") and len(token) > 2 else "\u2581" + token


def tensors(weights, layers):
    """Pairs of (name in the file, array)."""
    for theirs, ours in EMBEDDINGS.items():
        yield ours, weights[f"embeddings.{theirs}"]
    for i in range(layers):
        for theirs, ours in LAYER.items():
            for part in ("weight", "bias"):
                yield f"blk.{i}.{ours}.{part}", weights[f"encoder.layer.{i}.{theirs}.{part}"]


def kind_of(name, array, words, layers):
    """Positions and token types stay whole: llama.cpp adds them row by row. So does what is no matrix."""
    if array.ndim != 2 or name in ("position_embd.weight", "token_types.weight"):
        return None
    return words if name == "token_embd.weight" else layers


def write(package, weights, out, words, layers):
    config = json.loads((package / "config.json").read_text())
    tokens = (package / "vocab.txt").read_text().splitlines()
    writer = gguf.GGUFWriter(out, "bert")
    writer.add_name("hearth-embed")
    writer.add_description("Small built-in embedding model of Hearth: all-MiniLM-L6-v2, trained further on text written for the project")
    writer.add_license("apache-2.0")
    writer.add_source_url("https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2")
    writer.add_file_type(gguf.LlamaFileType[f"MOSTLY_{layers}" if layers != "F32" else "ALL_F32"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
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
    for name, array in tensors(load_file(weights), config["num_hidden_layers"]):
        kind = kind_of(name, array, words, layers)
        if kind is None:
            writer.add_tensor(name, array.astype(np.float32))
        else:
            quantisation = gguf.GGMLQuantizationType[kind]
            writer.add_tensor(name, gguf.quants.quantize(array.astype(np.float32), quantisation), raw_dtype=quantisation)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", required=True, type=Path, help="the folder with model.safetensors and vocab.txt")
    parser.add_argument("--weights", type=Path, help="other weights than the package's, as train_embed.py writes them")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--words", default="Q4_0", help="type of the word vectors")
    parser.add_argument("--layers", default="Q4_0", help="type of the layers' matrices")
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    write(args.package, args.weights or args.package / "model.safetensors", args.out, args.words, args.layers)
    print(args.out, args.out.stat().st_size)


if __name__ == "__main__":
    main()
