#!/usr/bin/env python3
"""PyTorch side of the speed comparison, on the processor: eager or, with --compile, compiled by inductor.

Definitions: WORKLOADS.md. How to run: BENCHMARKS.md.

Threads are PyTorch's own settings: torch.set_num_threads for operations, of which one runs at a time, forward and
backward, and torch.set_num_interop_threads for what programs start themselves. OMP_NUM_THREADS is for inductor's loops.

With --compile the forward and backward passes are compiled; optimizers are PyTorch's fused ones either way. Dropout is
drawn by PyTorch's default generator. TORCHINDUCTOR_FREEZING=1 makes constants of the weights in workload 30.
"""
import importlib.metadata
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "peers"))

from harness import ARGS, answer_times, arguments, run, train_steps, wanted  # noqa: E402
import inputs  # noqa: E402


def start(threads):
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(threads)  # before PyTorch is imported
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import torch
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(threads)
    torch.manual_seed(0)


def compiled(f):
    import torch
    return torch.compile(f, dynamic=False) if ARGS.compile else f


def train(name, model, optimizers, loss, batches, n, n_check, **options):
    """Trains the model by loss(*batch)."""
    def step(*batch):
        value = loss(*batch)
        for o in optimizers:
            o.zero_grad()
        value.backward()
        for o in optimizers:
            o.step()
        return value.item()
    train_steps(name, step, lambda: [p.detach().numpy() for p in model.parameters()], batches, n, n_check, **options)


def classify(name, model, optimizer, batches, *args, **options):
    """Trains model(*inputs) of batches of inputs and labels."""
    import layers
    import torch
    model = layers.numbered(model)
    forward = compiled(lambda *batch: torch.nn.functional.cross_entropy(model(*batch[:-1]).flatten(0, -2), batch[-1]))
    train(name, model, [optimizer(model.parameters())], forward, batches, *args, **options)


def images(batches):
    import layers
    return [(layers.image(x), layers.label(y)) for x, y in batches]


def sgd(rate, momentum=0.0):
    import torch
    return lambda parameters: torch.optim.SGD(parameters, rate, momentum, fused=True)


def adam(rate):
    import layers
    return lambda parameters: layers.Adam(parameters, rate, fused=True)


def mlp_train():
    import layers
    import networks
    import torch
    batches = [(torch.from_numpy(x), layers.label(y)) for x, y in inputs.image_batches(10, 100, [784])]
    for name, optimizer in (("sgd.", sgd(0.01)), ("adam.", adam(0.001))):
        classify(name, networks.mlp(784, 512, 512, 10), optimizer, batches, 50, 20)


def lenet_train():
    import networks
    classify("", networks.LeNet(), adam(0.001), images(inputs.image_batches(10, 64, [28, 28, 1])), 10, 10)


def resnet_train():
    import networks
    classify("", networks.resnet20(), sgd(0.05, 0.9), images(inputs.image_batches(4, 32, [32, 32, 3])), 5, 5)


def mobilenet_train():
    import networks
    classify("", networks.mobilenet(), sgd(0.005, 0.9), images(inputs.coloured_batches()), 2, 1, tolerances={"param_delta": 0.01})


def lstm_train(words=1000, units=128, rate=2.0):
    import layers
    import networks
    import torch
    model = layers.numbered(networks.LSTM(words, units))
    between = compiled(lambda rows, y: torch.nn.functional.cross_entropy(model(rows), y))
    batches = [(torch.from_numpy(x.T.copy()), layers.label(y.T.reshape(-1))) for x, y in inputs.token_batches()]
    table, *others = model.parameters()
    optimizers = [torch.optim.SGD([table], rate), sgd(rate)(others)]
    train("unrolled.", model, optimizers, lambda x, y: between(model.embedding(x), y), batches, 20, 10)


def transformer_train():
    import layers
    import networks
    import torch
    batches = [(torch.from_numpy(w), torch.from_numpy(mask), layers.label(y)) for w, mask, y in inputs.sentence_batches()]
    for rate in (0.0, 0.1):
        # numbers drawn by PyTorch itself
        loose = dict.fromkeys(("loss_first", "loss_last", "param_delta"), 0.01) if rate else {}
        classify("" if rate else "plain.", networks.Encoder(256, 4, rate, 1000), adam(0.001), batches, 2 if rate else 0, 5, tolerances=loose)


def inference():
    import layers
    import networks
    import torch
    for n in (1, 32):
        for name in ("resnet50", "encoder"):
            if not wanted("%s_b%d" % (name, n)):
                continue
            if name == "resnet50":
                values, model = [inputs.pos(1001, [n, 224, 224, 3])], networks.resnet50()
            else:
                values, model = [v[0] for v in inputs.sentences(1, n)], networks.Encoder(512, 8)
            read = layers.image if name == "resnet50" else torch.from_numpy
            model = compiled(layers.numbered(model).eval())

            @torch.inference_mode()
            def answer(*values):
                return model(*map(read, values)).numpy()
            answer_times(name, answer, values, n)


def wide_deep_train(rows=1000000, width=32, rate=0.5):
    import networks
    import layers
    import torch
    model = layers.numbered(networks.WideDeep())
    between = compiled(lambda rows, wide, x, y: torch.nn.functional.binary_cross_entropy_with_logits(model(rows, wide, x), y))
    dense = list(model.parameters())
    table = torch.nn.Embedding.from_pretrained(torch.from_numpy(inputs.uni(101, [rows, width], 0.05)), freeze=False, sparse=True)
    wide = torch.nn.Embedding.from_pretrained(torch.zeros(rows, 1), freeze=False, sparse=True)
    model.tables = torch.nn.ModuleList([table, wide])
    kept = {"lr": rate, "initial_accumulator_value": 0.1, "eps": 0}
    optimizers = [torch.optim.Adagrad(model.tables.parameters(), **kept), torch.optim.Adagrad(dense, fused=True, **kept)]
    batches = [tuple(map(torch.from_numpy, b)) for b in inputs.wide_deep_batches()]
    train("", model, optimizers, lambda ids, x, y: between(table(ids), wide(ids), x, y), batches, 10, 10)


WORKLOADS = [
    ("03-mlp-train", mlp_train), ("04-lenet-train", lenet_train), ("05-resnet20-train", resnet_train), ("06-lstm-train", lstm_train),
    ("28-transformer-train", transformer_train), ("29-mobilenet-train", mobilenet_train), ("30-inference", inference), ("31-wide-deep-train", wide_deep_train),
]


def main():
    ap = arguments(__doc__)
    ap.add_argument("--compile", action="store_true", help="by torch.compile, that is inductor, which needs a C++ compiler")
    ap.parse_args(namespace=ARGS)
    version = importlib.metadata.version("torch").split("+")[0]
    return run(WORKLOADS, "torch-" + version + ("+compile" if ARGS.compile else ""), start)


if __name__ == "__main__":
    sys.exit(main())
