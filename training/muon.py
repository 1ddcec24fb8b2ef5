"""Muon: momentum whose update is made orthogonal by Newton-Schulz steps; about twice as frugal with data as AdamW."""

import torch


def orthogonal(matrices, steps=5):
    """Works on a stack of matrices at once: many small products would waste a CPU's matrix unit."""
    x = matrices.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return (x.mT if tall else x).float()


class Muon:
    def __init__(self, parameters, lr, decay=0.0, momentum=0.95):
        self.lr, self.decay, self.momentum = lr, decay, momentum
        by_shape = {}
        for p in parameters:
            by_shape.setdefault(tuple(p.shape), []).append(p)
        self.groups = list(by_shape.values())
        self.buffers = [torch.zeros(len(group), *group[0].shape) for group in self.groups]

    @torch.no_grad()
    def step(self, scale):
        for group, buffer in zip(self.groups, self.buffers):
            gradients = torch.stack([p.grad for p in group])
            buffer.lerp_(gradients, 1 - self.momentum)
            updates = orthogonal(gradients.lerp_(buffer, self.momentum))
            height, width = group[0].shape
            rate = self.lr * scale * max(1.0, height / width) ** 0.5
            for p, update in zip(group, updates):
                p.mul_(1 - self.lr * scale * self.decay).add_(update, alpha=-rate)

    def state_dict(self):
        return {"buffers": self.buffers}

    def load_state_dict(self, state):
        for mine, saved in zip(self.buffers, state["buffers"]):
            mine.copy_(saved)


def optimisers(model, config):
    """Muon for the matrices, AdamW for the embeddings and everything else that is trained."""
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "token_embd" not in n]
    others = [p for n, p in model.named_parameters() if p.requires_grad and (p.dim() != 2 or "token_embd" in n)]
    muon = Muon(matrices, lr=config["muon_rate"], decay=config["weight_decay"])
    return muon, torch.optim.AdamW(others, lr=config["adam_rate"], betas=(0.9, 0.98), weight_decay=0.0)
