"""BERT as sentence encoder (post-norm, learned positions, mean pooling, unit length), with the tensor names of the package."""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, heads, feed_forward, eps):
        super().__init__()
        self.heads = heads
        linear = nn.Linear
        self.attention = nn.ModuleDict({
            "self": nn.ModuleDict({name: linear(width, width) for name in ("query", "key", "value")}),
            "output": nn.ModuleDict({"dense": linear(width, width), "LayerNorm": nn.LayerNorm(width, eps)}),
        })
        self.intermediate = nn.ModuleDict({"dense": linear(width, feed_forward)})
        self.output = nn.ModuleDict({"dense": linear(feed_forward, width), "LayerNorm": nn.LayerNorm(width, eps)})

    def forward(self, x, mask):
        batch, length, width = x.shape
        parts = self.attention["self"]
        q, k, v = (parts[name](x).view(batch, length, self.heads, -1).transpose(1, 2) for name in ("query", "key", "value"))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        y = self.attention["output"]["dense"](y.transpose(1, 2).reshape(batch, length, width))
        x = self.attention["output"]["LayerNorm"](x + y)
        y = self.output["dense"](F.gelu(self.intermediate["dense"](x)))
        return self.output["LayerNorm"](x + y)


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config["hidden_size"], config["layer_norm_eps"]
        self.embeddings = nn.ModuleDict({
            "word_embeddings": nn.Embedding(config["vocab_size"], width),
            "position_embeddings": nn.Embedding(config["max_position_embeddings"], width),
            "token_type_embeddings": nn.Embedding(2, width),
            "LayerNorm": nn.LayerNorm(width, eps),
        })
        layers = range(config["num_hidden_layers"])
        self.encoder = nn.ModuleDict({
            "layer": nn.ModuleList(Layer(width, config["num_attention_heads"], config["intermediate_size"], eps) for _ in layers)
        })

    def forward(self, ids, mask):
        parts = self.embeddings
        x = parts["word_embeddings"](ids) + parts["position_embeddings"].weight[: ids.shape[1]] + parts["token_type_embeddings"].weight[0]
        x = parts["LayerNorm"](x)
        for layer in self.encoder["layer"]:
            x = layer(x, mask)
        x = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(x.float(), dim=-1)


def load(package: Path):
    """The encoder and tokenizer of a package folder (config.json, model.safetensors, tokenizer.json)."""
    model = Encoder(json.loads((package / "config.json").read_text()))
    weights = {k: v for k, v in load_file(package / "model.safetensors").items() if k in model.state_dict()}
    model.load_state_dict(weights)
    tokenizer = Tokenizer.from_file(str(package / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    return model, tokenizer


def save(model, path: Path):
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, path)


def embed(model, tokenizer, texts, groups=4):
    """Vectors of the texts, computed in groups of like length so that little is padding."""
    encoded = [e.ids for e in tokenizer.encode_batch(texts)]
    order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
    size, parts = -(-len(texts) // groups), []
    for at in range(0, len(order), size):
        chosen = [encoded[i] for i in order[at : at + size]]
        ids = torch.zeros(len(chosen), len(chosen[-1]), dtype=torch.long)
        mask = torch.zeros(ids.shape, dtype=torch.bool)
        for row, tokens in enumerate(chosen):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            mask[row, : len(tokens)] = True
        parts.append(model(ids, mask))
    return torch.cat(parts)[torch.tensor(order).argsort()]
