"""What torch_bench.py makes networks of: PyTorch's modules, numbered as WORKLOADS.md says, with TensorFlow's padding."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers"))

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import inputs  # noqa: E402


class Conv(nn.Conv2d):
    """A convolution without bias that pads as SAME does: where the padding is odd, one more at the end."""

    def __init__(self, n_in, n_out, k, stride=1, groups=1, bias=False):
        odd = (k - stride) % 2 if k > stride else 0
        super().__init__(n_in, n_out, k, stride, max(k - stride, 0) // 2, bias=bias, groups=groups)
        if odd:
            self.padding = (0, 0)
            self.before, self.after = (k - stride) // 2, (k - stride) // 2 + 1
        self.odd = odd

    def forward(self, x):
        if self.odd:
            x = F.pad(x, (self.before, self.after, self.before, self.after))
        return super().forward(x)


def values(k, module):
    """The k-th weight of a model, in the layout of the module."""
    shape = list(module.weight.shape)
    if isinstance(module, nn.Linear):
        return torch.from_numpy(inputs.weight(k, shape[::-1])).T
    if not isinstance(module, nn.Conv2d):
        return torch.from_numpy(inputs.weight(k, shape))
    out, n_in, h, w = shape
    if module.groups > 1:
        return torch.from_numpy(inputs.depthwise(k, [h, w, out, 1])).permute(2, 3, 0, 1)
    return torch.from_numpy(inputs.weight(k, [h, w, n_in, out])).permute(3, 2, 0, 1)


def numbered(model):
    """The model with the workloads' weights 1, 2, 3 and so on in the order of its modules; biases are 0. Convolutions
    have channels last, which PyTorch recommends on processors and the images of the workloads have."""
    k = 0
    for m in model.modules():
        if isinstance(m, (nn.Linear, nn.Conv2d, nn.Embedding)):
            k += 1
            with torch.no_grad():
                m.weight.copy_(values(k, m))
                if getattr(m, "bias", None) is not None:
                    m.bias.zero_()
    return model.to(memory_format=torch.channels_last)


def image(x):
    """An image batch of the workloads as PyTorch wants it, in the same memory: channels last."""
    return torch.from_numpy(x).permute(0, 3, 1, 2)


def label(y):
    return torch.from_numpy(y).long()


class Adam(torch.optim.Adam):
    """torch.optim.Adam adds epsilon after the correction of the second moment, TensorFlow before."""

    def step(self, closure=None):
        self.t = getattr(self, "t", 0) + 1
        self.param_groups[0]["eps"] = 1e-8 / (1 - 0.999 ** self.t) ** 0.5
        return super().step(closure)
