package queue_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func TestMain(m *testing.M) { leaktest.Main(m) }

// after makes ys wait for op.
func after(op *tf.Operation, ys ...tf.Output) []tf.Output {
	out := make([]tf.Output, len(ys))
	for i, y := range ys {
		out[i] = ops.Identity(y, tf.After(op))
	}
	return out
}

var (
	scalars = queue.Opts{Capacity: 20, Shapes: []tf.Shape{{}}}
	seed    = int64(7)
	numbers = optest.Vec[int64](5, 3, 4, 5, 1, 9, 2, 6)
)

// fill is a sample in which a queue is filled with a batch and three elements
// are taken out at once.
func fill(op string, make func(g *tf.Graph, in []tf.Output) *queue.Queue, in ...*core.Tensor) optest.Sample {
	return optest.Sample{Op: op, In: in, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
		q := make(g, in)
		put := q.EnqueueMany(in)
		return q.DequeueMany(ops.Scalar(g, int32(3)), tf.After(put))
	}}
}

func init() {
	ints := []tf.DType{tf.Int64}
	fifo := func(g *tf.Graph, in []tf.Output) *queue.Queue {
		types := make([]tf.DType, len(in))
		for i := range in {
			types[i] = in[i].DType()
		}
		return queue.NewFIFO(g, types, queue.Opts{Capacity: 20, Shapes: []tf.Shape{{}, {}}[:len(in)]})
	}
	optest.Add(
		fill("FIFOQueueV2", fifo, numbers, optest.Vec("a", "b", "c", "d", "e", "f", "g", "h")),
		fill("PaddingFIFOQueueV2", func(g *tf.Graph, in []tf.Output) *queue.Queue {
			return queue.NewPaddingFIFO(g, ints, scalars)
		}, numbers),
		fill("RandomShuffleQueueV2", func(g *tf.Graph, in []tf.Output) *queue.Queue {
			o := scalars
			o.Seed, o.MinAfterDequeue = &seed, 2
			return queue.NewRandomShuffle(g, ints, o)
		}, numbers),
		fill("PriorityQueueV2", func(g *tf.Graph, in []tf.Output) *queue.Queue {
			return queue.NewPriority(g, []tf.DType{tf.String}, scalars)
		}, numbers, optest.Vec("a", "b", "c", "d", "e", "f", "g", "h")),
	)
	fourNumbers := func(op string, f func(g *tf.Graph, q *queue.Queue, put *tf.Operation) []tf.Output) optest.Sample {
		return optest.Sample{Op: op, In: []*core.Tensor{optest.Vec[int64](1, 2, 3, 4)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			q := queue.NewFIFO(g, ints, scalars)
			return f(g, q, q.EnqueueMany(in))
		}}
	}
	optest.Add(
		fourNumbers("QueueEnqueueManyV2", func(_ *tf.Graph, q *queue.Queue, put *tf.Operation) []tf.Output {
			return []tf.Output{q.Size(tf.After(put))}
		}),
		fourNumbers("QueueEnqueueV2", func(g *tf.Graph, q *queue.Queue, put *tf.Operation) []tf.Output {
			return []tf.Output{q.Size(tf.After(q.Enqueue([]tf.Output{ops.Scalar(g, int64(5))}, tf.After(put))))}
		}),
		fourNumbers("QueueDequeueV2", func(_ *tf.Graph, q *queue.Queue, put *tf.Operation) []tf.Output {
			return q.Dequeue(tf.After(put))
		}),
		fourNumbers("QueueDequeueManyV2", func(g *tf.Graph, q *queue.Queue, put *tf.Operation) []tf.Output {
			return q.DequeueMany(ops.Scalar(g, int32(2)), tf.After(put))
		}),
		fourNumbers("QueueDequeueUpToV2", func(g *tf.Graph, q *queue.Queue, put *tf.Operation) []tf.Output {
			return q.DequeueUpTo(ops.Scalar(g, int32(9)), tf.After(q.Close(tf.After(put))))
		}),
		fourNumbers("QueueCloseV2", func(_ *tf.Graph, q *queue.Queue, put *tf.Operation) []tf.Output {
			return []tf.Output{q.IsClosed(tf.After(q.Close(queue.CloseOpts{CancelPendingEnqueues: true}, tf.After(put))))}
		}),
		fourNumbers("QueueSizeV2", func(_ *tf.Graph, q *queue.Queue, put *tf.Operation) []tf.Output {
			return []tf.Output{q.Size(tf.After(put))}
		}),
		fourNumbers("QueueIsClosedV2", func(_ *tf.Graph, q *queue.Queue, put *tf.Operation) []tf.Output {
			return []tf.Output{q.IsClosed(tf.After(put))}
		}),
	)
}

// Errors, in TensorFlow's words.
func init() {
	ints := []tf.DType{tf.Int64}
	failing := func(op, name string, f func(g *tf.Graph, x tf.Output) []tf.Output) optest.Sample {
		return optest.Failing(op, name, func(g *tf.Graph, in []tf.Output) []tf.Output { return f(g, in[0]) }, numbers)
	}
	// A name that is shared keeps numbers of queues out of the messages.
	closed := func(g *tf.Graph, name string) (*queue.Queue, *tf.Operation) {
		o := scalars
		o.SharedName = name
		q := queue.NewFIFO(g, ints, o)
		return q, q.Close(queue.CloseOpts{CancelPendingEnqueues: true})
	}
	one := func(g *tf.Graph) []tf.Output { return []tf.Output{ops.Scalar(g, int64(1))} }
	optest.Add(
		failing("QueueEnqueueV2", "closed", func(g *tf.Graph, x tf.Output) []tf.Output {
			q, end := closed(g, "bad1")
			return after(q.Enqueue(one(g), tf.After(end)), x)
		}),
		failing("QueueDequeueV2", "closed", func(g *tf.Graph, x tf.Output) []tf.Output {
			q, end := closed(g, "bad2")
			return q.Dequeue(tf.After(end))
		}),
		failing("QueueDequeueManyV2", "closed", func(g *tf.Graph, x tf.Output) []tf.Output {
			q, end := closed(g, "bad3")
			return q.DequeueMany(ops.Scalar(g, int32(3)), tf.After(end))
		}),
		failing("QueueEnqueueV2", "type", func(g *tf.Graph, x tf.Output) []tf.Output {
			return after(queue.NewFIFO(g, ints, scalars).Enqueue([]tf.Output{ops.Scalar(g, int32(1))}), x)
		}),
		failing("QueueDequeueV2", "type", func(g *tf.Graph, x tf.Output) []tf.Output {
			return queue.QueueDequeueV2(queue.FIFOQueueV2(g, ints), []tf.DType{tf.Float32})
		}),
		failing("QueueEnqueueV2", "shape", func(g *tf.Graph, x tf.Output) []tf.Output {
			return after(queue.NewFIFO(g, ints, scalars).Enqueue([]tf.Output{x}), x)
		}),
		failing("QueueDequeueManyV2", "no shapes", func(g *tf.Graph, x tf.Output) []tf.Output {
			return queue.NewFIFO(g, ints, queue.Opts{}).DequeueMany(ops.Scalar(g, int32(3)))
		}),
		failing("QueueDequeueUpToV2", "negative", func(g *tf.Graph, x tf.Output) []tf.Output {
			return queue.NewFIFO(g, ints, scalars).DequeueUpTo(ops.Scalar(g, int32(-3)))
		}),
		failing("QueueEnqueueV2", "timeout", func(g *tf.Graph, x tf.Output) []tf.Output {
			return after(queue.NewFIFO(g, ints, scalars).Enqueue(one(g), tf.Attr("timeout_ms", 5)), x)
		}),
		failing("RandomShuffleQueueV2", "minimum", func(g *tf.Graph, x tf.Output) []tf.Output {
			return queue.NewRandomShuffle(g, ints, queue.Opts{MinAfterDequeue: -5, Capacity: 10, Seed: &seed}).Dequeue()
		}),
	)
}

// The first generation of the ops differs in its handles only.
func init() {
	list := func(op string, f func(h tf.Output, put *tf.Operation) []tf.Output, make func(g *tf.Graph) tf.Output) {
		optest.Add(optest.Sample{
			Op: op, In: []*core.Tensor{optest.Vec[int64](4, 3, 2, 1)}, Types: optest.OnlyOwn, GraphOnly: "references to strings are made by graphs",
			F: func(g *tf.Graph, in []tf.Output) []tf.Output {
				h := make(g)
				return f(h, tf.Apply(nil, "QueueEnqueueMany", []tf.Output{h, in[0]}))
			},
		})
	}
	types, shapes := tf.Attr("component_types", []tf.DType{tf.Int64}), tf.Attr("shapes", []tf.Shape{{}})
	queueOf := func(op string, opts ...tf.Option) func(g *tf.Graph) tf.Output {
		return func(g *tf.Graph) tf.Output {
			return tf.Apply(g, op, nil, append([]tf.Option{shapes}, opts...)...).Output(0)
		}
	}
	apply := func(op string, opts ...tf.Option) func(h tf.Output, put *tf.Operation) []tf.Output {
		return func(h tf.Output, put *tf.Operation) []tf.Output {
			in := []tf.Output{h}
			if core.Lookup(op).Inputs[len(core.Lookup(op).Inputs)-1].Name == "n" {
				in = append(in, ops.Scalar(h.Graph(), int32(2)))
			}
			return []tf.Output{tf.Apply(nil, op, in, append(opts, tf.After(put))...).Output(0)}
		}
	}
	fifo := queueOf("FIFOQueue", types)
	for _, op := range []string{"QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo"} {
		list(op, apply(op, types), fifo)
	}
	for _, op := range []string{"QueueSize", "QueueIsClosed"} {
		list(op, apply(op), fifo)
	}
	for op, make := range map[string]func(*tf.Graph) tf.Output{
		"FIFOQueue": fifo, "PaddingFIFOQueue": queueOf("PaddingFIFOQueue", types),
		"RandomShuffleQueue": queueOf("RandomShuffleQueue", types, tf.Attr("seed", 3), tf.Attr("seed2", 4)), "QueueEnqueueMany": fifo,
	} {
		list(op, apply("QueueDequeue", types), make)
	}
	optest.Add(optest.Sample{
		Op: "PriorityQueue", In: []*core.Tensor{numbers}, Types: optest.OnlyOwn, GraphOnly: "references to strings are made by graphs",
		F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			h := queueOf("PriorityQueue", types)(g)
			put := tf.Apply(nil, "QueueEnqueueMany", []tf.Output{h, in[0], in[0]})
			return apply("QueueDequeueMany", tf.Attr("component_types", []tf.DType{tf.Int64, tf.Int64}))(h, put)
		},
	})
	list("QueueEnqueue", func(h tf.Output, put *tf.Operation) []tf.Output {
		more := tf.Apply(nil, "QueueEnqueue", []tf.Output{h, ops.Scalar(h.Graph(), int64(7))}, tf.After(put))
		return apply("QueueSize")(h, more)
	}, fifo)
	list("QueueClose", func(h tf.Output, put *tf.Operation) []tf.Output {
		return apply("QueueIsClosed")(h, tf.Apply(nil, "QueueClose", []tf.Output{h}, tf.After(put)))
	}, fifo)
}
