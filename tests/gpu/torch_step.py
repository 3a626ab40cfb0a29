# SPDX-License-Identifier: Apache-2.0
"""Steps of training with PyTorch. Prints JSON: microseconds a step, and with `kineto` what
PyTorch's own profiler counted.

    torch_step.py STEPS [kineto]        status 78: there is no PyTorch, or it sees no GPU"""
import json
import sys
import time

try:
    import torch
    if not torch.cuda.is_available():
        raise ImportError('PyTorch sees no GPU')
except ImportError as why:
    print(why, file=sys.stderr)
    sys.exit(78)

steps, kineto = int(sys.argv[1]), sys.argv[2:] == ['kineto']
torch.manual_seed(1)
model = torch.nn.Sequential(*[layer for _ in range(8)
                              for layer in (torch.nn.Linear(2048, 2048), torch.nn.GELU())]).cuda()
optimizer = torch.optim.Adam(model.parameters())
batch = torch.randn(512, 2048, device='cuda')


def step(i):
    torch.cuda.nvtx.range_push('step')
    optimizer.zero_grad()
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    torch.cuda.nvtx.range_pop()


def run(n):
    torch.cuda.synchronize()
    began = time.perf_counter()
    for i in range(n):
        step(i)
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / n * 1e6


run(5)
answer = {}
if kineto:
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        answer['us_per_step'] = run(steps)
    kernels = {}
    for e in p.events():
        if e.device_type == torch.autograd.DeviceType.CUDA and not e.name.startswith(
            ('Mem', 'step', 'Optimizer.')): # copies, and ranges: 'Optimizer.step#Adam.step'
            kernels[e.name] = kernels.get(e.name, 0) + 1
    answer['kernels'] = kernels
else:
    answer['us_per_step'] = run(steps)
answer['steps'], answer['torch'] = steps, torch.__version__
print(json.dumps(answer))
