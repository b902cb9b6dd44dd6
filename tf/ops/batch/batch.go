// Package batch has the ops that put the inputs of several steps together, for
// one computation of them all, and take the results apart again.
package batch

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const (
		names = "container: string = ''; shared_name: string = ''"
		queue = "; batching_queue: string = ''; "
	)
	core.Register(core.OpDef{
		Name: "Batch", In: "in_tensors: T", Out: "batched_tensors: T; batch_index: int64; id: int64",
		Attrs: "num_batch_threads: int; max_batch_size: int; max_enqueued_batches: int = 10; batch_timeout_micros: int; allowed_batch_sizes: list(int) = []; grad_timeout_micros: int; " + names + queue + "T: list(type) >= 1",
		Shape: batchShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(batchKernel),
	})
	core.Register(core.OpDef{
		Name: "BatchFunction", In: "in_tensors: Tin; captured_tensors: Tcaptured", Out: "out_tensors: Tout",
		Attrs: "f: func; num_batch_threads: int; max_batch_size: int; batch_timeout_micros: int; max_enqueued_batches: int = 10; allowed_batch_sizes: list(int) = []; " + names + queue +
			"low_priority_max_batch_size: int = 0; low_priority_batch_timeout_micros: int = 0; low_priority_allowed_batch_sizes: list(int) = []; low_priority_max_enqueued_batches: int = 0; " +
			"mixed_priority_policy: {'low_priority_padding_with_max_batch_size', 'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', 'priority_merge'} = 'low_priority_padding_with_max_batch_size'; " +
			"batch_padding_policy: {'PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'} = 'PAD_UP'; " +
			"Tin: list(type) >= 1; Tcaptured: list(type) >= 0; Tout: list(type) >= 1; enable_large_batch_splitting: bool = false",
		Shape: anyShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(functionKernel),
	})
	core.Register(core.OpDef{
		Name: "Unbatch", In: "batched_tensor: T; batch_index: int64; id: int64", Out: "unbatched_tensor: T",
		Attrs: "timeout_micros: int; " + names + "; T: type",
		Shape: unbatchShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(unbatchKernel),
	})
	core.Register(core.OpDef{
		Name: "UnbatchGrad", In: "original_input: T; batch_index: int64; grad: T; id: int64", Out: "batched_grad: T",
		Attrs: names + "; T: type",
		Shape: unbatchGradShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(unbatchGradKernel),
	})
}

// Opts say how inputs are put together: in batches of at most MaxSize rows,
// Threads of which are computed at once. A batch waits for rows for at most
// TimeoutMicros, and then is filled up to one of AllowedSizes, the last of which
// must be MaxSize, with copies of a row. As many batches wait as MaxEnqueued says,
// 10 if that is 0. Nodes of equal container and shared name put their inputs
// together, each queue for itself.
type Opts struct {
	Threads, MaxSize, TimeoutMicros int
	MaxEnqueued                     int
	AllowedSizes                    []int
	Container, SharedName, Queue    string
}

// Apply sets the attributes.
func (o Opts) Apply(s *tf.Spec) {
	s.Set("num_batch_threads", o.Threads)
	s.Set("max_batch_size", o.MaxSize)
	s.Set("batch_timeout_micros", o.TimeoutMicros)
	s.Set("max_enqueued_batches", cmp.Or(o.MaxEnqueued, 10))
	s.Set("allowed_batch_sizes", o.AllowedSizes)
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
	s.Set("batching_queue", o.Queue)
}

// Batch puts xs, which have equally many rows, together with those of other
// steps. In one of these steps the results are those of all; in the others
// they have no rows. index, an int64 matrix, tells for each step that is in
// the batch its id, and its first row and the one behind its last. A scalar
// among xs is refused with INVALID_ARGUMENT, when the graph is built if its
// shape is known, else in the step; so are, in the step, unequal numbers of
// rows, more rows than MaxSize, and AllowedSizes that do not ascend to
// MaxSize. A queue that is full is refused with UNAVAILABLE.
// Its options are [Opts].
func Batch(xs []tf.Output, o Opts, gradTimeoutMicros int, opts ...tf.Option) (batched []tf.Output, index, id tf.Output) {
	op := tf.Apply(nil, "Batch", xs, tf.Join(opts, o, tf.Attr("grad_timeout_micros", gradTimeoutMicros))...)
	for i := range xs {
		batched = append(batched, op.Output(i))
	}
	return batched, op.Output(len(xs)), op.Output(len(xs) + 1)
}

// Unbatch returns the rows of batched, computed from a batch, that belong to
// the step of the given id. It waits until the step has them that got the
// batch, at most for so long. The result has the shape of batched, but for its
// rows. Data that do not arrive in time fail with DEADLINE_EXCEEDED, an id
// that comes twice with ALREADY_EXISTS. A batched that is a scalar is refused
// with INVALID_ARGUMENT, when the graph is built if its shape is known, else
// in the step; an index that does not fit it is refused with INVALID_ARGUMENT
// in the step.
func Unbatch(batched, index, id tf.Output, timeoutMicros int, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "Unbatch", []tf.Output{batched, index, id}, tf.Join(opts, tf.Attr("timeout_micros", timeoutMicros))...).Output(0)
}

// UnbatchGrad puts gradients of the results of Unbatch together, in the step
// that has original, the batch. A grad that is a scalar, an index that does
// not fit and an id that comes twice are refused with INVALID_ARGUMENT in the
// step.
func UnbatchGrad(original, index, grad, id tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "UnbatchGrad", []tf.Output{original, index, grad, id}, opts...).Output(0)
}

// Function computes f, which takes as many tensors as there are xs, of batches
// of xs, and returns the rows of the results that belong to this step. All
// results must have as many rows as a batch. Errors are those of Batch;
// results without as many rows are refused with FAILED_PRECONDITION in the
// step. Its options are [Opts].
func Function(f *tf.Function, xs []tf.Output, o Opts, opts ...tf.Option) []tf.Output {
	if f == nil {
		var g *tf.Graph
		if len(xs) > 0 {
			g = xs[0].Graph()
		}
		return []tf.Output{tf.Failed(g, "BatchFunction", tf.Errorf(tf.InvalidArgument, "batches must have a function that is called with them, got nil")).Output(0)}
	}
	types := func(xs []tf.Output) []tf.DType {
		d := []tf.DType{}
		for _, x := range xs {
			d = append(d, x.DType().Base())
		}
		return d
	}
	opts = tf.Join(opts, o, tf.Attr("Tin", types(xs)), tf.Attr("Tcaptured", types(f.Captures())), tf.Attr("Tout", types(f.Results())))
	return author.CallLater("BatchFunction", xs, []author.Callee{{Attr: "f", F: f}}, nil, opts...).Outputs()
}

func anyShape(*core.Infer) error { return nil }

// withoutRows is s with an unknown number of rows.
func withoutRows(s tf.Shape) (tf.Shape, error) {
	if s == nil {
		return nil, nil
	}
	if len(s) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0")
	}
	return append(tf.Shape{-1}, s[1:]...), nil
}

func batchShape(c *core.Infer) error {
	n := c.NumIn()
	for i := range n {
		s, err := withoutRows(c.In(i))
		if err != nil {
			return err
		}
		c.Set(i, s)
	}
	c.Set(n, tf.Shape{-1, 3})
	c.Set(n+1, tf.Shape{})
	return nil
}

func unbatchShape(c *core.Infer) error {
	s, err := withoutRows(c.In(0))
	c.Set(0, s)
	return err
}

func unbatchGradShape(c *core.Infer) error {
	if s := c.In(2); s != nil {
		out := make(tf.Shape, len(s))
		for i := range out {
			out[i] = -1
		}
		c.Set(0, out)
	}
	return nil
}
