package train

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/ops/queue"
)

// ProducerOptions say how a producer fills its queue.
type ProducerOptions struct {
	Epochs     int // how many times the input is gone through; 0: for ever
	InOrder    bool
	Seed       *int64 // of the order, unless InOrder
	Capacity   int    // of the queue; 0: 32
	SharedName string
	Name       string
}

// defaultCapacity is that of TensorFlow's input functions.
const defaultCapacity = 32

// orDefault returns n, or what stands for 0.
func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// InputProducer returns a queue that a queue runner of the graph fills with the
// rows of input, shuffled anew in each epoch. Without any and without an end the queue
// runner fails: it would add nothing for ever.
func InputProducer(input tf.Output, o ProducerOptions) *queue.Queue {
	if rows := input.Shape(); input.Err() == nil && o.Epochs == 0 && len(rows) > 0 && rows[0] <= 0 {
		input = notEmpty(input, "input_producer requires rows", func() tf.Output { return ops.Shape(input).At("0") })
	}
	return produce(input, o)
}

// produce is InputProducer of an input that has rows, or ends.
func produce(input tf.Output, o ProducerOptions) *queue.Queue {
	g := input.Graph()
	rows := input.Shape()
	if input.Err() == nil && len(rows) == 0 {
		input = tf.Failed(g, "input_producer", tf.Errorf(tf.InvalidArgument, "the input of a producer must have rows, got shape %v", rows)).Output(0)
		rows = tf.Shape{-1}
	}
	if !o.InOrder {
		input = ops.RandomShuffle(input, ops.RandomOpts{Seed: o.Seed})
	}
	input = LimitEpochs(input, o.Epochs)
	shapes := queue.Opts{Capacity: orDefault(o.Capacity, defaultCapacity), SharedName: o.SharedName}
	if row := slices.Clone(rows); len(row) > 0 && row[1:].Known() {
		shapes.Shapes = []tf.Shape{row[1:]}
	}
	name := o.Name
	if name == "" {
		name = "input_producer"
	}
	q := queue.NewFIFO(g, []tf.DType{input.DType()}, shapes, tf.Name(name))
	addRunner(q, q.EnqueueMany([]tf.Output{input}))
	return q
}

// notEmpty returns x, which fails with a rule unless its size is above 0.
func notEmpty(x tf.Output, rule string, size func() tf.Output) (y tf.Output) {
	g := x.Graph()
	g.Scope("not_empty", func() {
		some := ops.Greater(size(), ops.Scalar(g, int32(0)))
		y = ops.Identity(x, tf.After(ops.Assert(some, []tf.Output{ops.Scalar(g, rule)})))
	})
	return y
}

// addRunner lets a queue runner of the graph run enqueue operations.
func addRunner(q *queue.Queue, enqueue ...*tf.Operation) {
	if q.Handle.Err() != nil {
		return
	}
	AddQueueRunner(q.Handle.Graph(), &QueueRunner{
		Queue: q.Handle.Operation().Name, Enqueue: enqueue,
		Close: q.Close(), Cancel: q.Close(queue.CloseOpts{CancelPendingEnqueues: true}),
	})
}

// StringInputProducer is InputProducer for a vector of strings: names of files,
// mostly. Without any, as when no file matches a pattern, the queue runner fails in any
// case.
func StringInputProducer(names tf.Output, o ProducerOptions) *queue.Queue {
	if names.Err() == nil {
		names = notEmpty(names, "string_input_producer requires a non-null input tensor", func() tf.Output { return ops.Size(names) })
	}
	return produce(names, o)
}

// RangeInputProducer is InputProducer for the numbers below limit, an int32
// scalar.
func RangeInputProducer(limit tf.Output, o ProducerOptions) *queue.Queue {
	g := limit.Graph()
	return InputProducer(ops.Range(g, 0, limit, 1), o)
}

// SliceInputProducer returns a row of each tensor, which must have as many
// rows: another one in every step.
func SliceInputProducer(tensors []tf.Output, o ProducerOptions) []tf.Output {
	if len(tensors) == 0 {
		return nothingOf("slice_input_producer", "Expected at least one tensor in slice_input_producer().")
	}
	rows := ops.Gather(ops.Shape(tensors[0]), ops.Scalar(tensors[0].Graph(), int32(0)), 0)
	index := RangeInputProducer(rows, o).Dequeue()[0]
	out := make([]tf.Output, len(tensors))
	for i, t := range tensors {
		out[i] = ops.Gather(t, index, 0)
	}
	return out
}

// nothingOf returns an output that carries a mistake, in place of rows of tensors that are
// missing.
func nothingOf(name, rule string) []tf.Output {
	return []tf.Output{tf.Failed(nil, name, tf.Errorf(tf.InvalidArgument, "%s", rule)).Output(0)}
}

// LimitEpochs returns x, which fails with OutOfRange once it has been computed
// epochs times; x itself if epochs is 0. The count is a local variable.
func LimitEpochs(x tf.Output, epochs int) tf.Output {
	if epochs == 0 || x.Err() != nil {
		return x
	}
	if epochs < 0 {
		return tf.Failed(x.Graph(), "limit_epochs", tf.Errorf(tf.InvalidArgument, "num_epochs must be > 0 not %d", epochs)).Output(0)
	}
	var count *tf.Variable
	x.Graph().InitScope(func() {
		count = tf.NewVariable(ops.Scalar(x.Graph(), int64(0)), tf.VariableOptions{Name: "epochs", Local: true})
	})
	next := tf.Apply(nil, "ResourceCountUpTo", []tf.Output{count.Handle()}, tf.Attr("limit", epochs), tf.Attr("T", tf.Int64))
	return ops.Identity(x, tf.After(next))
}

// MatchFiles returns the names of the files that match a pattern, as a local
// variable: they are looked for once.
func MatchFiles(pattern tf.Output) *tf.Variable {
	return tf.NewVariable(io.MatchingFiles(pattern), tf.VariableOptions{Name: "matching_filenames", Local: true})
}
