"""What a batch's gradient norms cost over one plain forward and backward pass, and how exact.

usage: python bench/gradients.py [MODEL ...] [--rounds N] [--threads N] [--memory] [--table]
       pip install opacus==1.6.0 backpack-for-pytorch==1.7.1    (else their columns say so)

Each model's ways take turns on the same batch, `rounds` times; a figure is the median of the
ratios of one round to its plain pass. A way that has had 20 seconds sits out. The error is the
largest, relative, of a batch's squared norms against one-by-one autograd in float64 of the same
weights. --memory adds the peak of a process of its own over one that only builds the model, as a
ratio to the plain pass's. It all goes into gradients.json; --table prints what is there.

- plain: `loss.sum().backward()`, all parameters needing a gradient, evaluation mode.
- the authors' loop: a batch of one at a time in training mode, every gradient copied deeply. Where
  there is dropout it measures another network each time, so that its error says nothing.
- torch.func: `vmap(grad)` of the whole network, 16 examples at a time.
- BackPACK: BatchL2Grad; Opacus: GradSampleModuleFastGradientClipping with ghost clipping.
"""

import argparse
import copy
import json
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

from measure import HERE

KEPT = HERE / "gradients.json"
ENOUGH = 20.0  # seconds a way may take in all rounds


def cnn():
    """The predictor of CIFAR-10 (Hard-Bench), 256 pictures."""
    import torch
    from torch import nn

    layers = (
        *(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 800), nn.ReLU(), nn.Linear(800, 100), nn.ReLU(), nn.Linear(100, 10)),
    )
    return nn.Sequential(*layers), torch.randn(256, 3, 32, 32), torch.randint(10, (256,))


def mlp():
    """3072, 512, 512, 10; 256 examples."""
    import torch
    from torch import nn

    layers = (nn.Linear(3072, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return nn.Sequential(*layers), torch.randn(256, 3072), torch.randint(10, (256,))


def vit():
    """vit_tiny_patch16_224 whole: 12 layers, width 192, 197 positions; 8 pictures."""
    import timm
    import torch

    model = timm.create_model("vit_tiny_patch16_224", num_classes=10)
    return model, torch.randn(8, 3, 224, 224), torch.randint(10, (8,))


def resnet():
    """ResNet-18 at 224; 8 pictures."""
    import timm
    import torch

    model = timm.create_model("resnet18", num_classes=10)
    return model, torch.randn(8, 3, 224, 224), torch.randint(10, (8,))


def bert(positions, batch, layers=2):
    """BERT-base's sizes in two layers, with all its words."""
    import torch
    import transformers
    from torch import nn

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            config = transformers.BertConfig(num_hidden_layers=layers, num_labels=2)
            self.bert = transformers.BertForSequenceClassification(config)

        def forward(self, inputs):
            return self.bert(**inputs).logits

    ids = torch.randint(1000, 30000, (batch, positions))
    return Classifier(), {"input_ids": ids}, torch.randint(2, (batch,))


MODELS = {
    "conv net": cnn,
    "MLP": mlp,
    "ViT": vit,
    "ResNet-18": resnet,
    "BERT, T 64": lambda: bert(64, 8),
    "BERT, T 128": lambda: bert(128, 4),
    "BERT, T 512": lambda: bert(512, 2),
}
WHAT = {
    "conv net": "3-6-16 (5 x 5), 400-800-100-10; batch 256",
    "MLP": "3072-512-512-10; batch 256",
    "ViT": "vit_tiny_patch16_224, 12 layers; batch 8",
    "ResNet-18": "224 x 224; batch 8",
    "BERT, T 64": "768 wide, 12 heads, 3072, 2 layers, 30,522 words; batch 8",
    "BERT, T 128": "the same; batch 4",
    "BERT, T 512": "the same; batch 2",
}


def plain(module, inputs, targets):
    """One batched forward and backward pass."""
    from torch.nn import functional

    module.eval()

    def once():
        functional.cross_entropy(module(inputs), targets, reduction="none").sum().backward()

    return once


def ours(module, inputs, targets):
    """`GradientNorms`, opened once and for all, its comparison with autograd before the clock."""
    from hardset.lowresource.norms import GradientNorms

    norms = GradientNorms(module.eval()).__enter__()
    return lambda: norms(inputs, targets).squared_norms


def authors(module, inputs, targets):
    """The published way, in our words: example by example, in training mode, copying deeply."""
    import torch
    from torch import nn
    from torch.utils._pytree import tree_map

    module.train()
    loss = nn.CrossEntropyLoss()

    def once():
        found = []
        for i in range(len(targets)):
            module.zero_grad()
            loss(module(tree_map(lambda t: t[i : i + 1], inputs)), targets[i : i + 1]).backward()  # noqa: B023
            gradients = [copy.deepcopy(p.grad) for p in module.parameters() if p.grad is not None]
            found.append(sum(float(torch.dot(g.view(-1), g.view(-1))) for g in gradients))
        return torch.tensor(found)

    return once


def func(module, inputs, targets):
    """torch.func: every example's gradients at once."""
    from torch.func import functional_call, grad, vmap
    from torch.nn import functional
    from torch.utils._pytree import tree_map

    parameters = {name: p.detach() for name, p in module.eval().named_parameters()}

    def loss(values, one, target):
        outputs = functional_call(module, values, (tree_map(lambda t: t[None], one),))
        return functional.cross_entropy(outputs, target[None])

    each = vmap(grad(loss), in_dims=(None, 0, 0), chunk_size=16)

    def once():
        return sum(g.flatten(1).square().sum(1) for g in each(parameters, inputs, targets).values())

    return once


def backpack(module, inputs, targets):
    """BackPACK's squared norms of individual gradients."""
    from backpack import backpack as extended
    from backpack import extend
    from backpack.extensions import BatchL2Grad
    from torch import nn

    extend(module.eval())
    loss = extend(nn.CrossEntropyLoss(reduction="sum"))

    def once():
        with extended(BatchL2Grad()):
            loss(module(inputs), targets).backward()
        return sum(p.batch_l2 for p in module.parameters())

    return once


def opacus(module, inputs, targets):
    """Opacus's ghost norms."""
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from torch import nn
    from torch.nn import functional

    # It looks at layers in training mode only, so dropout is taken out by hand.
    for layer in module.train().modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    wrapped = GradSampleModuleFastGradientClipping(module, loss_reduction="sum")

    def once():
        functional.cross_entropy(wrapped(inputs), targets, reduction="sum").backward()
        return wrapped.get_norm_sample().square()

    return once


WAYS = {
    "plain": plain,
    "ours": ours,
    "the authors' loop": authors,
    "torch.func": func,
    "BackPACK": backpack,
    "Opacus": opacus,
}


def exact(module, inputs, targets):
    """Squared norms by one-by-one autograd in float64."""
    import torch
    from torch.nn import functional
    from torch.utils._pytree import tree_map

    module = copy.deepcopy(module).double().eval()
    inputs = tree_map(lambda t: t.double() if t.is_floating_point() else t, inputs)
    norms = []
    for i in range(len(targets)):
        outputs = module(tree_map(lambda t: t[i : i + 1], inputs))  # noqa: B023
        loss = functional.cross_entropy(outputs, targets[i : i + 1])
        gradients = torch.autograd.grad(loss, list(module.parameters()))
        norms.append(sum(g.square().sum() for g in gradients))
    return torch.stack(norms)


def build(name):
    """Make a model, with the same weights and batch each time."""
    import torch

    from hardset.lowresource.networks.torchvision_ops import declare

    declare()
    torch.manual_seed(0)
    return MODELS[name]()


def prepare(way, module, inputs, targets):
    """Make one way ready and run it once: (what to time, squared norms), or why it cannot."""
    try:
        once = WAYS[way](copy.deepcopy(module), inputs, targets)
        return once, once()
    except ImportError:
        return None, "not installed"
    except Exception as error:
        return None, f"fails: {type(error).__name__}: {str(error).strip().splitlines()[0][:160]}"


def measure(name, rounds, threads):
    """Time one model's ways in turn; return their figures by way."""
    module, inputs, targets = build(name)
    wanted = exact(module, inputs, targets)
    clock = time.process_time if threads == 1 else time.perf_counter
    figures, steps = {}, {}
    for way in WAYS:
        once, found = prepare(way, module, inputs, targets)
        if once is None:
            figures[way] = {"note": found}
            continue
        error = None if found is None else float(((found - wanted).abs() / wanted).max())
        steps[way] = once
        figures[way] = {"error": error, "seconds": [], "ratios": []}
    for _ in range(rounds):
        base = None
        for way, once in steps.items():
            if sum(figures[way]["seconds"]) > ENOUGH and way != "plain":
                continue
            began = clock()
            once()
            took = clock() - began
            base = took if way == "plain" else base
            figures[way]["seconds"].append(took)
            figures[way]["ratios"].append(took / base)
    for way in steps:
        figures[way]["ratio"] = statistics.median(figures[way]["ratios"])
        figures[way]["seconds"] = statistics.median(figures[way]["seconds"])
    return figures


def once_alone(name, way):
    """Build a model and, if a way is named, walk it twice; print the peak memory in MB (Linux)."""
    module, inputs, targets = build(name)
    if way:
        once = WAYS[way](module, inputs, targets)
        once()
        once()
    # Not getrusage: its peak counts what the parent held when it forked.
    status = Path("/proc/self/status").read_text("utf-8")
    print(next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) / 1024)


def peaks(name, figures):
    """Add each way's peak memory over the model's own, as a ratio to the plain pass's."""

    def peak(way):
        command = [sys.executable, Path(__file__).resolve(), "--alone", name, way]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    bare = peak("")
    grown = {way: peak(way) - bare for way in figures if "ratio" in figures[way]}
    for way, megabytes in grown.items():
        figures[way] |= {"peak_mb": megabytes, "peak_ratio": megabytes / grown["plain"]}


def table(kept):
    """Return the kept figures as a markdown table."""
    ways = [way for way in WAYS if way != "plain"]
    lines = [
        f"| model | {' | '.join(ways)} |",
        f"| --- |{' --: |' * len(ways)}",
    ]
    for name, figures in kept["models"].items():
        cells = [_cell(figures[way]) for way in ways]
        lines.append(f"| {name} ({WHAT[name]}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(figure):
    if "ratio" not in figure:
        return "not installed" if figure["note"] == "not installed" else "not supported"
    memory = f", memory {figure['peak_ratio']:.2f}" if "peak_ratio" in figure else ""
    return f"{figure['ratio']:.2f} ({figure['error']:.0e}{memory})"


def rows():
    """The two rows a model of bench/all.py, from a run of its own."""
    for name in MODELS:
        if name == "ResNet-18":
            continue
        figure = measure(name, rounds=9, threads=1)["ours"]
        yield (
            f"gradient norms / one plain forward and backward, {name} ({WHAT[name]})",
            f"{figure['ratio']:.2f}, error {figure['error']:.0e}",
            "≤ 1.3, aim 1.0; error ≤ 1e-5",
        )


def main():
    """Measure, keep and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", choices=[[], *MODELS])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {"models": {}}
    if not given.table:
        import torch

        warnings.filterwarnings("ignore")
        torch.set_num_threads(given.threads)
        if given.alone:
            once_alone(*given.alone)
            return
        kept |= {"torch": torch.__version__, "threads": given.threads, "rounds": given.rounds}
        for name in given.models or MODELS:
            figures = measure(name, given.rounds, given.threads)
            if given.memory:
                peaks(name, figures)
            kept["models"][name] = figures
            for way, figure in figures.items():
                print(f"{name}: {way}: {figure.get('note') or _line(figure)}", flush=True)
        kept["models"] = {name: kept["models"][name] for name in MODELS if name in kept["models"]}
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    print(table(kept))


def _line(figure):
    error = "" if figure["error"] is None else f", error {figure['error']:.1e}"
    memory = f", peak {figure['peak_mb']:.0f} MB" if "peak_mb" in figure else ""
    return f"{1e3 * figure['seconds']:.0f} ms, {figure['ratio']:.2f}{error}{memory}"


if __name__ == "__main__":
    main()
