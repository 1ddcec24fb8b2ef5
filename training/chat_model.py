"""The chat model: a llama-architecture decoder (RMSNorm, RoPE, SwiGLU, tied embeddings).

The module names mirror the GGUF tensor names. The rotary embedding turns the two halves of a head against each other;
llama.cpp turns neighbouring pairs, so the export reorders the rows of the query and key matrices.
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
    heads: int = 4
    feed_forward: int = 704
    context: int = 1024
    rope_base: float = 100000.0
    norm_eps: float = 1e-5

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    @property
    def inverse_frequencies(self):
        return self.rope_base ** (-torch.arange(0, self.head_width, 2).float() / self.head_width)


class RmsNorm(nn.Module):
    def __init__(self, width: int, eps: float, trained: bool = False):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width), requires_grad=trained)
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.eps)


def rotate(x, cos, sin):
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1).to(x.dtype)


class Block(nn.Module):
    def __init__(self, shape: ChatShape):
        super().__init__()
        self.shape = shape
        width, wide = shape.width, shape.feed_forward
        self.attn_norm = RmsNorm(width, shape.norm_eps)
        self.attn_q = nn.Linear(width, width, bias=False)
        self.attn_k = nn.Linear(width, width, bias=False)
        self.attn_v = nn.Linear(width, width, bias=False)
        self.attn_output = nn.Linear(width, width, bias=False)
        self.ffn_norm = RmsNorm(width, shape.norm_eps)
        self.ffn_gate = nn.Linear(width, wide, bias=False)
        self.ffn_up = nn.Linear(width, wide, bias=False)
        self.ffn_down = nn.Linear(wide, width, bias=False)

    def attend(self, x, cos, sin, future):
        batch, length, width = x.shape
        heads, head_width = self.shape.heads, self.shape.head_width
        split = lambda y: y.view(batch, length, heads, head_width).transpose(1, 2)
        q, k, v = split(self.attn_q(x)), split(self.attn_k(x)), split(self.attn_v(x))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        # Plain matrix products: on a CPU their backward pass is several times faster than the fused attention's.
        scores = (q * head_width**-0.5) @ k.transpose(-1, -2)
        y = torch.softmax(scores + future, -1, dtype=torch.float32).to(v.dtype) @ v
        return self.attn_output(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x, cos, sin, future):
        x = x + self.attend(self.attn_norm(x), cos, sin, future)
        h = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class ChatModel(nn.Module):
    def __init__(self, shape: ChatShape):
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Embedding(shape.vocab, shape.width)
        self.blk = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = RmsNorm(shape.width, shape.norm_eps, trained=True)
        angles = torch.outer(torch.arange(shape.context).float(), shape.inverse_frequencies)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        self.reset()

    @torch.no_grad()
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
        self.prepare_copying()

    def prepare_copying(self):
        """Starts with a rough copying circuit, which a small model otherwise takes most of its training to find.

        A head of the first layer looks one token back and writes what it saw to channels that the embeddings leave
        free. A head of the second layer looks for the place where this note equals the current token, and brings back
        the token found there: what followed last time. Training refines and keeps it.
        """
        shape, half = self.shape, self.shape.head_width // 2
        first, second = self.blk[0], self.blk[1]
        frequencies = shape.inverse_frequencies
        slow = (frequencies < 0.002).nonzero().flatten()  # pairs that hardly turn within a dialogue compare contents
        places = torch.cat((slow, slow + half))
        channels = 1 + torch.arange(len(places))
        fast = (frequencies > 0.02).nonzero().flatten()  # pairs that tell neighbours apart compare positions
        self.token_embd.weight[:, channels] *= 0.1
        self.token_embd.weight[:, 0] = 0.0
        self.token_embd.weight.copy_(F.normalize(self.token_embd.weight, dim=1) * 0.05 * shape.width**0.5)
        self.token_embd.weight[:, 0] = 0.15  # every token carries this constant, by which positions are compared
        directions = torch.linalg.qr(torch.randn(shape.width, shape.width))[0]
        signature, brought = directions[: len(places)].clone(), directions[-shape.head_width:].clone()
        signature[:, 0] = brought[:, 0] = 0.0
        signature[:, channels] = brought[:, channels] = 0.0

        rows = slice(0, shape.head_width)
        for block in (first, second):
            for matrix in (block.attn_q, block.attn_k, block.attn_v):
                matrix.weight[rows] = 0.0
        first.attn_q.weight[fast, 0] = 2.2
        first.attn_k.weight[fast, 0] = 2.2 * frequencies[fast].cos()  # turned by one position
        first.attn_k.weight[fast + half, 0] = 2.2 * frequencies[fast].sin()
        first.attn_v.weight[: len(places)] = signature
        first.attn_output.weight[channels, : len(places)] = 0.05 * torch.eye(len(places))
        second.attn_q.weight[places] = 2.0 * signature
        second.attn_k.weight[places, channels] = 2.0
        second.attn_v.weight[rows] = brought
        second.attn_output.weight[:, rows] = 0.15 * brought.T

    def hidden(self, ids):
        length = ids.shape[1]
        cos, sin = self.cos[:length], self.sin[:length]
        future = torch.full((length, length), float("-inf"), dtype=torch.bfloat16).triu(1)
        x = self.token_embd(ids)
        for block in self.blk:
            x = block(x, cos, sin, future)
        return self.output_norm(x)

    def loss(self, ids, weights):
        """Weighted next-token loss; the (tied) output matrix is applied only where a weight is set."""
        h = self.hidden(ids[:, :-1]).flatten(0, 1)
        targets, weights = ids[:, 1:].flatten(), weights[:, 1:].flatten()
        chosen = weights.nonzero().squeeze(1)
        each = self.token_losses(h[chosen], self.token_embd.weight, targets[chosen])
        w = weights[chosen]
        return (each * w).sum(), w.sum()

    def token_losses(self, h, embeddings, targets):
        return F.cross_entropy((h @ embeddings.T).float(), targets, reduction="none")

    def compile(self):
        """Fuses what lies between the matrix products; needs a C++ compiler.

        The compiler takes sizes that are equal on the first call for one and the same (a length of 256 for the width),
        and then made kernels with wrong gradients. So the first call has sizes that occur nowhere else.
        """
        for block in self.blk:
            block.compile(dynamic=True)
        self.token_losses = torch.compile(self.token_losses, dynamic=True)
        sample = torch.ones(21, 353, dtype=torch.long)
        with torch.autocast("cpu", torch.bfloat16):
            self.loss(sample, sample.float())[0].backward()
        self.zero_grad(set_to_none=True)
