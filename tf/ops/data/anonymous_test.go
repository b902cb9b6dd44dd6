package data_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

// named adds an iterator to the graph of p.
func (p pipe) named(op string) tf.Output {
	var names []tf.Option
	if op == "IteratorV2" {
		names = []tf.Option{tf.Attr("shared_name", ""), tf.Attr("container", "")}
	}
	return tf.Apply(p.d.Graph(), op, nil, append(p.about(), names...)...).Output(0)
}

// started puts an iterator on p.
func (p pipe) started(it tf.Output) *tf.Operation {
	return tf.Apply(nil, "MakeIterator", []tf.Output{p.d, it})
}

// next takes an element after something else.
func (p pipe) next(it tf.Output, after ...*tf.Operation) *tf.Operation {
	return tf.Apply(nil, "IteratorGetNext", []tf.Output{it}, append(p.about(), tf.After(after...))...)
}

// oneOf is a sample over a small dataset.
func oneOf(op string, f func(g *tf.Graph, p pipe) []tf.Output) optest.Sample {
	return optest.Sample{Op: op, In: []*core.Tensor{optest.Vec[int64](5, 3)}, Types: optest.OnlyOwn,
		F: func(g *tf.Graph, in []tf.Output) []tf.Output { return f(g, slices(in[0])) }}
}

func init() {
	for _, op := range []string{"AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3"} {
		optest.Add(oneOf(op, func(_ *tf.Graph, p pipe) []tf.Output {
			it := p.named(op)
			return p.taken(p.next(it, p.started(it)))
		}))
	}
	optest.Add(
		oneOf("DeleteIterator", func(g *tf.Graph, p pipe) []tf.Output {
			o := tf.Apply(g, "AnonymousIteratorV2", nil, p.about()...)
			next := p.next(o.Output(0), p.started(o.Output(0)))
			gone := tf.Apply(nil, "DeleteIterator", []tf.Output{o.Output(0), o.Output(1)}, tf.After(next))
			return []tf.Output{ops.Identity(next.Output(0), tf.After(gone))}
		}),
		oneOf("SerializeIterator", restored), oneOf("DeserializeIterator", restored),
		oneOf("IteratorGetNextAsOptional", func(g *tf.Graph, p pipe) []tf.Output {
			it := p.named("IteratorV2")
			p = p.then("TakeDataset", ints(g, 1))
			optional := func(after *tf.Operation) *tf.Operation {
				return tf.Apply(nil, "IteratorGetNextAsOptional", []tf.Output{it}, append(p.about(), tf.After(after))...)
			}
			first := optional(p.started(it))
			second := optional(first)
			value := ops.OptionalGetValue(first.Output(0), p.types, p.shapes)[0]
			return []tf.Output{ops.OptionalHasValue(first.Output(0)), value, ops.OptionalHasValue(second.Output(0))}
		}),
		shuffledBy("AnonymousSeedGenerator", "ShuffleDatasetV3"), shuffledBy("ShuffleDatasetV3", "ShuffleDatasetV3"), shuffledBy("ShuffleDatasetV2", "ShuffleDatasetV2"),
		shuffledBy("ShuffleAndRepeatDatasetV2", "ShuffleAndRepeatDatasetV2"),
		shuffledBy("GlobalShuffleDataset", "GlobalShuffleDataset"),
	)
	const eager = "it gives up what only eager programs keep"
	for _, op := range []string{"AnonymousRandomSeedGenerator", "DeleteSeedGenerator", "DeleteRandomSeedGenerator", "AnonymousMemoryCache", "DeleteMemoryCache"} {
		optest.Unsampled(op, eager)
	}
	optest.Unsampled("IteratorGetDevice", "its result tells a process from another")
	optest.Unsampled("ExperimentalIteratorGetDevice", "its result tells a process from another")
}

// restored saves an iterator after the first element, takes the second, and has
// that again from another iterator.
func restored(_ *tf.Graph, p pipe) []tf.Output {
	a, b := p.named("IteratorV2"), p.named("IteratorV2")
	first := p.next(a, p.started(a))
	state := tf.Apply(nil, "SerializeIterator", []tf.Output{a}, tf.After(first))
	second := p.next(a, state)
	back := tf.Apply(nil, "DeserializeIterator", []tf.Output{b, state.Output(0)}, tf.After(p.started(b)))
	return []tf.Output{second.Output(0), p.next(b, back).Output(0)}
}

// shuffledBy is a sample of an op that takes its seeds from a generator.
func shuffledBy(name, op string) optest.Sample {
	return made(name, "", func(g *tf.Graph, x tf.Output) pipe {
		p := numbers(g, 20)
		seeds := tf.Apply(g, "AnonymousSeedGenerator", append(ints(g, 7, 9), ops.Scalar(g, true))).Output(0)
		switch op {
		case "ShuffleDatasetV2":
			return p.then(op, append(ints(g, 8), seeds))
		case "ShuffleAndRepeatDatasetV2":
			return p.then(op, append(ints(g, 8, 7, 9, 2), seeds))
		case "GlobalShuffleDataset":
			return p.then(op, append(ints(g, 7, 9), seeds)).then("RepeatDataset", ints(g, 2))
		}
		return p.then(op, append(ints(g, 8, 7, 9), seeds))
	})
}
