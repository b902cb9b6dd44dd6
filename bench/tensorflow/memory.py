#!/usr/bin/env python3
"""How much memory a step of each training workload takes at most, by the RunMetadata that both programs have written.

    ./bench.out -only 3,4,5,6,7,28,29,31 -threads 1 -trace DIR
    python bench/tensorflow/tf_bench.py --only 3,4,5,6,7,28,29,31 --threads 1 --trace DIR
    python bench/tensorflow/memory.py DIR

live    What nodes have made and others still need. A node that has an entry in node_stats.memory has made live_bytes; that
        memory is needed until the last node has ended that reads an output in it, by the inputs in timeline_label. A node without an entry
        hands on its inputs' memory, or reads a variable or a constant, which is not the step's. While a node runs, its
        peak_bytes count. Nodes that hand on memory through resources (TensorArrays, stacks) do not show that: no row of them.
held    The same field of both allocators, allocator_bytes_in_use: by how much its maximum exceeds its minimum. TensorFlow's
        leaves out blocks below 256 KiB, Gorge's those below 64 KiB.
--at    The nodes whose memory is needed when it is most, the largest first.
"""
import argparse
import collections
import glob
import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def start(s):
    return s.all_start_nanos or s.all_start_micros * 1000


def end(s):
    return start(s) + (s.all_end_rel_nanos or s.all_end_rel_micros * 1000)


class Block:
    def __init__(self, name, size, at):
        self.name, self.size, self.made, self.until, self.places = name, size, at, at, set()


def inputs(s):
    """The tensors that a node reads: "y = MatMul(x, w:1, ^z)"."""
    m = re.search(r"\((.*)\)$", s.timeline_label)
    return [x.strip() for x in m.group(1).split(",") if x.strip() and not x.strip().startswith("^")] if m else []


def op(s):
    m = re.search(r"= ([A-Za-z0-9_>]+)\(", s.timeline_label)
    return m.group(1) if m else ""


def place(o):
    """Where an output is: TensorFlow tells the address, Gorge numbers allocations."""
    d = o.tensor_description.allocation_description
    return d.ptr or -d.allocation_id


def blocks(nodes):
    """What nodes have made, and the events that lie within a node: its peak beyond what it leaves."""
    held = collections.defaultdict(list)  # by tensor: the blocks that it needs
    made, within = [], []
    for s in nodes:
        read = [b for x in inputs(s) for b in held[x]]
        for b in read:
            b.until = max(b.until, end(s))
        live, peak = sum(m.live_bytes for m in s.memory), sum(m.peak_bytes for m in s.memory)
        if peak > live:
            within.append(Block(s.node_name + " (within)", peak - live, start(s)))
            within[-1].until = end(s)
        for o in s.output:
            name = s.node_name if o.slot == 0 else "%s:%d" % (s.node_name, o.slot)
            held[name] = [b for b in read if place(o) in b.places]
            if not held[name] and live:
                held[name] = [Block(name, o.tensor_description.allocation_description.requested_bytes, start(s))]
                held[name][0].until = end(s)
                made += held[name]
            for b in held[name]:
                b.places.add(place(o))
            held[name] = held[name] or read
    return made + within


def peak(all_):
    events = sorted([(b.made, 1, b) for b in all_] + [(b.until, 0, b) for b in all_], key=lambda e: e[:2])
    now, most, at = 0, 0, 0
    for t, begins, b in events:
        now += b.size if begins else -b.size
        if now > most:
            most, at = now, t
    return most, at


def held(nodes):
    used = [(m.allocator_bytes_in_use, m.peak_bytes - m.live_bytes) for s in nodes for m in s.memory if m.allocator_bytes_in_use]
    return max(u + more for u, more in used) - min(u for u, _ in used) if used else 0


def read(path):
    from tensorflow.core.protobuf import config_pb2
    m = config_pb2.RunMetadata()
    with open(path, "rb") as f:
        m.ParseFromString(f.read())
    return sorted((s for d in m.step_stats.dev_stats for s in d.node_stats), key=start)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("dir")
    ap.add_argument("--at", type=int, default=0, metavar="N", help="the N largest blocks of the peak, of both")
    args = ap.parse_args()
    print("| step of | Gorge, live MB | TensorFlow | ratio | Gorge, held MB | TensorFlow | ratio |\n|---|---:|---:|---:|---:|---:|---:|")
    for path in sorted(glob.glob(os.path.join(args.dir, "*.tensorflow.pb"))):
        other = path[:-len("tensorflow.pb")] + "gorge.pb"
        if not os.path.exists(other):
            continue
        row, notes = [], []
        sides = {"gorge": read(other), "tensorflow": read(path)}
        for measure in (lambda nodes: peak(blocks(nodes))[0], held):
            g, t = (measure(sides[x]) for x in ("gorge", "tensorflow"))
            row += ["%.2f" % (g / 1e6), "%.2f" % (t / 1e6), "%.2f" % (g / t) if t else ""]
        name = os.path.basename(path)[:-len(".tensorflow.pb")]
        if any(op(s).startswith(("TensorArray", "Stack")) for s in sides["tensorflow"]):
            row[:3] = "", "", ""
        print("| %s | %s |" % (name, " | ".join(row)))
        for side, nodes in sides.items() if args.at else ():
            all_ = blocks(nodes)
            most, at = peak(all_)
            notes = sorted((b for b in all_ if b.made <= at < b.until), key=lambda b: -b.size)
            print("\n%s, %.2f MB:" % (side, most / 1e6))
            for b in notes[:args.at]:
                print("    %8.2f  %s" % (b.size / 1e6, b.name))


if __name__ == "__main__":
    main()
