"""Muon: momentum whose update is made orthogonal by Newton-Schulz steps; about twice as frugal with data as AdamW."""

import torch


def orthogonal(matrix, steps=5):
    x = matrix.bfloat16()
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return (x.T if tall else x).float()


class Muon:
    def __init__(self, parameters, lr, decay=0.0, momentum=0.95):
        self.parameters, self.lr, self.decay, self.momentum = list(parameters), lr, decay, momentum
        self.buffers = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self, scale):
        for p, buffer in zip(self.parameters, self.buffers):
            buffer.lerp_(p.grad, 1 - self.momentum)
            update = orthogonal(p.grad.lerp(buffer, self.momentum))
            p.mul_(1 - self.lr * scale * self.decay)
            p.add_(update, alpha=-self.lr * scale * max(1.0, p.shape[0] / p.shape[1]) ** 0.5)

    def state_dict(self):
        return {"buffers": self.buffers}

    def load_state_dict(self, state):
        for mine, saved in zip(self.buffers, state["buffers"]):
            mine.copy_(saved)
