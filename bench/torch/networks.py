"""The networks of torch_bench.py. Modules are made in the order in which WORKLOADS.md numbers their weights."""
import torch
from torch import nn
from torch.nn import functional as F

from layers import Conv


def mlp(*sizes):
    layers = []
    for n_in, n_out in zip(sizes, sizes[1:]):
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutions = nn.Sequential(Conv(1, 32, 5, bias=True), nn.ReLU(), nn.MaxPool2d(2), Conv(32, 64, 5, bias=True), nn.ReLU(), nn.MaxPool2d(2))
        self.dense = mlp(3136, 1024, 10)

    def forward(self, x):
        return self.dense(self.convolutions(x).permute(0, 2, 3, 1).reshape(-1, 3136))


def normalized(n_in, n_out, k, stride=1, groups=1, epsilon=1e-5):
    return nn.Sequential(Conv(n_in, n_out, k, stride, groups), nn.BatchNorm2d(n_out, eps=epsilon))


class Block(nn.Module):
    """Adds what the layers between make of the input to the input or, if it changes shape, to a shortcut."""

    def __init__(self, between, shortcut):
        super().__init__()
        self.between, self.shortcut = nn.Sequential(*between), shortcut

    def forward(self, x):
        return F.relu(self.between(x) + self.shortcut(x))


class Averaged(nn.Module):
    """A dense layer on the means over height and width."""

    def __init__(self, layers, n_in, n_out):
        super().__init__()
        self.layers, self.dense = nn.Sequential(*layers), nn.Linear(n_in, n_out)

    def forward(self, x):
        return self.dense(self.layers(x).mean((2, 3)))


def resnet20():
    layers, n = [normalized(3, 16, 3), nn.ReLU()], 16
    for out in (16, 32, 64):
        for block in range(3):
            stride = 2 if out != 16 and not block else 1
            shortcut = normalized(n, out, 1, stride) if stride == 2 else nn.Identity()
            layers.append(Block([normalized(n, out, 3, stride), nn.ReLU(), normalized(out, out, 3)], shortcut))
            n = out
    return Averaged(layers, 64, 10)


def resnet50():
    # with ceil_mode the window that goes beyond the end is the padding of SAME
    layers, n = [normalized(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True)], 64
    for i, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << i
        for block in range(blocks):
            stride = 2 if i and not block else 1
            shortcut = nn.Identity() if block else normalized(n, 4 * width, 1, stride)
            layers.append(Block([normalized(n, width, 1), nn.ReLU(), normalized(width, width, 3, stride), nn.ReLU(), normalized(width, 4 * width, 1)], shortcut))
            n = 4 * width
    return Averaged(layers, 2048, 1000)


def mobilenet():
    layers, n = [normalized(3, 32, 3, 2, epsilon=1e-3), nn.ReLU6()], 32
    for out, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        layers += [normalized(n, n, 3, stride, n, 1e-3), nn.ReLU6(), normalized(n, out, 1, epsilon=1e-3), nn.ReLU6()]
        n = out
    return Averaged(layers, 1024, 10)


class LSTM(nn.Module):
    """Words to logits, all steps written out. The rows of the embedding are gathered outside: their gradient is sparse."""

    def __init__(self, words, units):
        super().__init__()
        self.embedding = nn.Embedding(words, units, sparse=True)
        self.cell, self.project = nn.Linear(2 * units, 4 * units), nn.Linear(units, words)

    def forward(self, rows):
        c = h = torch.zeros_like(rows[0])
        out = []
        for x in rows.unbind():
            i, j, f, o = self.cell(torch.cat([x, h], 1)).chunk(4, 1)
            c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(j)
            h = torch.sigmoid(o) * torch.tanh(c)
            out.append(h)
        return self.project(torch.cat(out))


class Layer(nn.Module):
    def __init__(self, width, heads, rate):
        super().__init__()
        self.heads, self.rate, self.drop = heads, rate, nn.Dropout(rate)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])

    def attend(self, x, mask):
        q, k, v = (f(x).unflatten(2, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, mask, self.rate if self.training else 0.0)
        return self.drop(self.out(y.transpose(1, 2).flatten(2)))

    def forward(self, x, mask):
        x = self.norms[0](x + self.attend(x, mask))
        return self.norms[1](x + self.drop(self.narrow(F.gelu(self.wide(x), approximate="tanh"))))


class Encoder(nn.Module):
    """From words [batch, steps] to [batch, steps, width]; with classes, to the logits of all words."""

    def __init__(self, width, heads, rate=0.0, classes=0, depth=4, words=1000, steps=128):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(steps, width)
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(rate)
        self.layers = nn.ModuleList([Layer(width, heads, rate) for _ in range(depth)])
        self.project = nn.Linear(width, classes) if classes else nn.Identity()

    def forward(self, words, mask):
        x = self.drop(self.norm(self.words(words) + self.positions.weight))
        for layer in self.layers:
            x = layer(x, mask)
        return self.project(x)


class WideDeep(nn.Module):
    """From gathered rows to logits. Rows are gathered outside: their gradients are sparse."""

    def __init__(self, width=32, fields=16, numbers=13):
        super().__init__()
        self.dense = mlp(fields * width + numbers, 256, 128, 1)

    def forward(self, rows, wide, x):
        return self.dense(torch.cat([rows.flatten(1), x], 1)).squeeze(1) + wide.flatten(1).sum(1)
