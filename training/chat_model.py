"""The chat model: a llama-architecture decoder (RMSNorm, RoPE, grouped-query attention, SwiGLU).

The module names mirror the GGUF tensor names, and the rotary embedding uses the interleaved pairing that
llama.cpp applies to the `llama` architecture, so that the export is a plain copy of every matrix.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class ChatShape:
    vocab: int
    width: int = 256
    layers: int = 6
    heads: int = 8
    kv_heads: int = 4
    feed_forward: int = 704
    context: int = 1024
    rope_base: float = 10000.0
    norm_eps: float = 1e-5

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class RmsNorm(nn.Module):
    def __init__(self, width: int, eps: float, trained: bool = False):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width), requires_grad=trained)
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.eps)


def rope_tables(shape: ChatShape):
    inverse = shape.rope_base ** (-torch.arange(0, shape.head_width, 2).float() / shape.head_width)
    angles = torch.outer(torch.arange(shape.context).float(), inverse)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    """Rotates neighbouring pairs (2i, 2i+1), as llama.cpp does for this architecture."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class Block(nn.Module):
    def __init__(self, shape: ChatShape):
        super().__init__()
        self.shape = shape
        kv_width = shape.kv_heads * shape.head_width
        self.attn_norm = RmsNorm(shape.width, shape.norm_eps)
        self.attn_q = nn.Linear(shape.width, shape.width, bias=False)
        self.attn_k = nn.Linear(shape.width, kv_width, bias=False)
        self.attn_v = nn.Linear(shape.width, kv_width, bias=False)
        self.attn_output = nn.Linear(shape.width, shape.width, bias=False)
        self.ffn_norm = RmsNorm(shape.width, shape.norm_eps)
        self.ffn_gate = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.ffn_up = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.ffn_down = nn.Linear(shape.feed_forward, shape.width, bias=False)

    def attend(self, x, cos, sin, hidden):
        batch, length, _ = x.shape
        shape = self.shape
        q = self.attn_q(x).view(batch, length, shape.heads, shape.head_width).transpose(1, 2)
        k = self.attn_k(x).view(batch, length, shape.kv_heads, shape.head_width).transpose(1, 2)
        v = self.attn_v(x).view(batch, length, shape.kv_heads, shape.head_width).transpose(1, 2)
        q, k = rotate(q, cos, sin).to(v.dtype), rotate(k, cos, sin).to(v.dtype)
        if shape.kv_heads != shape.heads:
            k = k.repeat_interleave(shape.heads // shape.kv_heads, dim=1)
            v = v.repeat_interleave(shape.heads // shape.kv_heads, dim=1)
        # Plain matrix products: on a CPU their backward pass is several times faster than the fused attention's.
        scores = (q * shape.head_width**-0.5) @ k.transpose(-1, -2)
        y = torch.softmax(scores + hidden.to(scores.dtype), -1, dtype=scores.dtype) @ v
        return self.attn_output(y.transpose(1, 2).reshape(batch, length, shape.width))

    def forward(self, x, cos, sin, hidden):
        x = x + self.attend(self.attn_norm(x), cos, sin, hidden)
        h = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class ChatModel(nn.Module):
    def __init__(self, shape: ChatShape):
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Embedding(shape.vocab, shape.width)
        self.blk = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = RmsNorm(shape.width, shape.norm_eps, trained=True)
        cos, sin = rope_tables(shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.reset()

    def reset(self):
        for name, weight in self.named_parameters():
            if weight.dim() != 2:
                continue
            if name.endswith(("attn_output.weight", "ffn_down.weight")):
                nn.init.zeros_(weight)
            elif name.startswith("token_embd"):
                nn.init.normal_(weight, std=0.05)
            else:
                nn.init.normal_(weight, std=self.shape.width**-0.5)

    def hidden(self, ids):
        length = ids.shape[1]
        cos, sin = self.cos[:length], self.sin[:length]
        future = torch.full((length, length), float("-inf")).triu(1)
        x = self.token_embd(ids)
        for block in self.blk:
            x = block(x, cos, sin, future)
        return self.output_norm(x)

    def loss(self, ids, weights):
        """Weighted next-token loss; the (tied) output matrix is applied only where a weight is set."""
        h = self.hidden(ids[:, :-1]).flatten(0, 1)
        targets, weights = ids[:, 1:].flatten(), weights[:, 1:].flatten()
        chosen = weights.nonzero().squeeze(1)
        logits = h[chosen] @ self.token_embd.weight.T
        each = F.cross_entropy(logits.float(), targets[chosen], reduction="none")
        w = weights[chosen]
        return (each * w).sum(), w.sum()
