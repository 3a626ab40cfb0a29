# SPDX-License-Identifier: Apache-2.0
"""Records tests/data/scopes_torch_xla: PyTorch/XLA on a CPU. Two blocks with scopes are trained for
six steps. The batch of the fifth is smaller, so it compiles again.

    XLA_IR_DEBUG=1 XLA_HLO_DEBUG=1 python3 scopes_torch_xla.py LOGDIR

Recorded with torch 2.9.0, torch_xla 2.9.0 and Python 3.11 on 2 x86-64 cores."""
import sys

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.profiler as xp
from torch import nn

DEVICE = torch_xla.device()
WIDTH, CLASSES = 32, 10


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        with xp.Trace('block'):
            return x + torch.relu(self.linear(self.norm(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        with xp.Trace('head'):
            return self.head(x)


def step(net, optimizer, batch):
    with xp.Trace('load'):
        x = torch.randn(batch, WIDTH).to(DEVICE)
        y = torch.randint(0, CLASSES, (batch,)).to(DEVICE)
    with xp.Trace('model'):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
    with xp.Trace('optimizer'):
        optimizer.step()
    return loss


def main():
    net = Net().to(DEVICE)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for i in range(4):
        with xp.StepTrace('train', step_num=i):
            loss = step(net, optimizer, 64)
    xm.wait_device_ops()
    xp.start_trace(sys.argv[1])
    for i in range(4, 10):
        with xp.StepTrace('train', step_num=i):
            loss = step(net, optimizer, 48 if i == 8 else 64)
        if i == 6:
            loss.item()
    xm.wait_device_ops()
    xp.stop_trace()


main()
