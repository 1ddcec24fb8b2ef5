"""The embedder: a small BERT (post-norm, learned positions), mean pooling over all tokens, unit length."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class EmbedShape:
    vocab: int
    width: int = 768
    layers: int = 1
    heads: int = 12
    feed_forward: int = 512
    context: int = 512
    norm_eps: float = 1e-12
    unseen: int = 64


class Layer(nn.Module):
    def __init__(self, shape: EmbedShape):
        super().__init__()
        self.heads = shape.heads
        self.attn_q = nn.Linear(shape.width, shape.width)
        self.attn_k = nn.Linear(shape.width, shape.width)
        self.attn_v = nn.Linear(shape.width, shape.width)
        self.attn_output = nn.Linear(shape.width, shape.width)
        self.attn_output_norm = nn.LayerNorm(shape.width, shape.norm_eps)
        self.ffn_up = nn.Linear(shape.width, shape.feed_forward)
        self.ffn_down = nn.Linear(shape.feed_forward, shape.width)
        self.layer_output_norm = nn.LayerNorm(shape.width, shape.norm_eps)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (f(x).view(batch, length, self.heads, -1).transpose(1, 2) for f in (self.attn_q, self.attn_k, self.attn_v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = self.attn_output_norm(x + self.attn_output(y.transpose(1, 2).reshape(batch, length, width)))
        return self.layer_output_norm(x + self.ffn_down(F.gelu(self.ffn_up(x), approximate="tanh")))


class EmbedModel(nn.Module):
    def __init__(self, shape: EmbedShape):
        super().__init__()
        self.token_embd = nn.Embedding(shape.vocab, shape.width)
        self.position_embd = nn.Embedding(shape.context, shape.width)
        self.token_types = nn.Embedding(2, shape.width)
        self.token_embd_norm = nn.LayerNorm(shape.width, shape.norm_eps)
        self.blk = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)
        nn.init.zeros_(self.token_types.weight)
        nn.init.zeros_(self.position_embd.weight)
        for layer in self.blk:  # a fresh model is a weighted mean of its token vectors; training adds the rest
            for part in (layer.attn_output, layer.ffn_down):
                nn.init.zeros_(part.weight)
                nn.init.zeros_(part.bias)
        self.blk[-1].layer_output_norm.weight.data[: shape.unseen] = 0.0

    def forward(self, ids, mask):
        positions = torch.arange(ids.shape[1])
        x = self.token_embd(ids) + self.position_embd(positions) + self.token_types.weight[0]
        x = self.token_embd_norm(x)
        for layer in self.blk:
            x = layer(x, mask)
        x = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(x.float(), dim=-1)
