package rnn

import (
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const in, out = "inputs: T; sequence_length: int32", "; log_probability: T"
	core.Register(core.OpDef{
		Name: "CTCGreedyDecoder", In: in, Out: "decoded_indices: int64; decoded_values: int64; decoded_shape: int64" + out,
		Attrs: "merge_repeated: bool = false; blank_index: int = -1; " + ctcTypes, Shape: decoderShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{tf.Float32: greedyKernel[float32], tf.Float64: greedyKernel[float64]}),
	})
	core.Register(core.OpDef{
		Name: "CTCBeamSearchDecoder", In: in, Out: "decoded_indices: top_paths * int64; decoded_values: top_paths * int64; decoded_shape: top_paths * int64" + out,
		Attrs: "beam_width: int >= 1; top_paths: int >= 1; merge_repeated: bool = true; " + ctcTypes, Shape: decoderShape, Expensive: true, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{tf.Float32: beamKernel[float32], tf.Float64: beamKernel[float64]}),
	})
}

// Decoded are the labels that a decoder finds, a sparse int64 matrix with a row
// for each sequence.
type Decoded struct{ Indices, Values, DenseShape tf.Output }

// CTCGreedyOpts are the optional attributes of CTCGreedyDecoder.
type CTCGreedyOpts struct {
	// MergeRepeated makes the same class at several steps one label.
	MergeRepeated bool
	// BlankIndex is the class that is no label, counted from the end if it is
	// negative; nil stands for the last.
	BlankIndex *int
}

// Apply sets the attributes.
func (o CTCGreedyOpts) Apply(s *tf.Spec) {
	s.Set("merge_repeated", o.MergeRepeated)
	if o.BlankIndex != nil {
		s.Set("blank_index", *o.BlankIndex)
	}
}

// CTCGreedyDecoder takes the most probable class of each step of x [time batch
// classes], as far as lengths tells, and returns those that are no blanks,
// and the negative sum of their logits, [batch 1]. It is the best path
// decoding of Graves et al. (ICML 2006). x is float32 or float64; labels and
// indices are int64. An x of other than three dimensions or without elements,
// lengths that are no vector and a blank that is no class are refused with
// INVALID_ARGUMENT, shapes when the graph is built if they are known. Lengths
// that are not as many as sequences, or more than the steps, are refused with
// FAILED_PRECONDITION in the step.
// Its options are [CTCGreedyOpts].
func CTCGreedyDecoder(x, lengths tf.Output, opts ...tf.Option) (d Decoded, logProbability tf.Output) {
	op := tf.Apply(nil, "CTCGreedyDecoder", []tf.Output{x, lengths}, opts...)
	outputs(op, 0, &d.Indices, &d.Values, &d.DenseShape, &logProbability)
	return d, logProbability
}

func decoderShape(c *core.Infer) error {
	x, err := c.Rank(0, 3)
	if err != nil {
		return err
	}
	lengths, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	batch, err := equalSizes(x[1], lengths[0])
	if err != nil {
		return err
	}
	paths := c.NumOut() / 3
	for p := range paths {
		c.Set(p, tf.Shape{-1, 2})
		c.Set(paths+p, tf.Shape{-1})
		c.Set(2*paths+p, tf.Shape{2})
	}
	c.Set(3*paths, tf.Shape{batch, paths})
	return nil
}

// A decoder holds what decoders take, and what they find: by sequence, its
// labelings and their scores.
type decoder[T numeric.Float] struct {
	time, batch, classes int
	x                    []T
	lengths              []int32
	found                [][][]int
	scores               []T
}

// decoderOf checks the inputs and makes the output of scores.
func decoderOf[T interface {
	numeric.Float
	tf.Elem
}](c *core.OpContext) (*decoder[T], error) {
	x, lengths := c.Input(0), c.Input(1)
	switch {
	case x.Rank() != 3:
		return nil, invalid("inputs is not a 3-Tensor")
	case x.Len() == 0:
		return nil, invalid("inputs must not be empty")
	case lengths.Rank() != 1:
		return nil, invalid("sequence_length is not a vector")
	case lengths.Len() != x.Dim(1):
		return nil, tf.Errorf(tf.FailedPrecondition, "len(sequence_length) != batch_size.  len(sequence_length):  %d batch_size: %d", lengths.Len(), x.Dim(1))
	}
	d := &decoder[T]{time: x.Dim(0), batch: x.Dim(1), classes: x.Dim(2), x: core.Data[T](x), lengths: core.Data[int32](lengths)}
	for b, n := range d.lengths {
		if int(n) > d.time {
			return nil, tf.Errorf(tf.FailedPrecondition, "sequence_length(%d) <= %d", b, d.time)
		}
	}
	d.found = core.Make[[][]int](d.batch)
	paths := (len(c.Out) - 1) / 3
	scores, err := c.Alloc(3*paths, x.DType(), tf.Shape{d.batch, paths})
	if err != nil {
		return nil, err
	}
	d.scores = core.Data[T](scores)
	return d, nil
}

// step returns the logits of sequence b at step t.
func (d *decoder[T]) step(t, b int) []T { return d.x[(t*d.batch+b)*d.classes:][:d.classes] }

// store makes the outputs of what was found.
func (d *decoder[T]) store(c *core.OpContext) error {
	paths := (len(c.Out) - 1) / 3
	for p := range paths {
		if err := d.storePath(c, p, paths); err != nil {
			return err
		}
	}
	return nil
}

// storePath makes the outputs of the labelings that are the p-th of paths.
func (d *decoder[T]) storePath(c *core.OpContext, p, paths int) error {
	total, longest := 0, 0
	for _, found := range d.found {
		total, longest = total+len(found[p]), max(longest, len(found[p]))
	}
	var data [3][]int64
	for k, s := range []tf.Shape{{total, 2}, {total}, {2}} {
		t, err := c.Alloc(k*paths+p, tf.Int64, s)
		if err != nil {
			return err
		}
		data[k] = core.Data[int64](t)
	}
	at, values := data[0][:0], data[1][:0]
	for b, found := range d.found {
		for k, l := range found[p] {
			at, values = append(at, int64(b), int64(k)), append(values, int64(l))
		}
	}
	data[2][0], data[2][1] = int64(d.batch), int64(longest)
	return nil
}

func greedyKernel[T interface {
	numeric.Float
	tf.Elem
}](n *core.Node) (core.Kernel, error) {
	merge, index := n.Bool("merge_repeated"), n.Int("blank_index")
	return core.Compute(func(c *core.OpContext) error {
		d, err := decoderOf[T](c)
		if err != nil {
			return err
		}
		blank := index
		if index < 0 {
			blank += d.classes
		}
		if blank < 0 || blank >= d.classes {
			return invalid("blank_index expected to be between %d and %d but was %d", -d.classes, d.classes-1, index)
		}
		c.ParallelFor(d.batch, max(1, grain/(d.time*d.classes)), func(lo, hi int) {
			for b := lo; b < hi; b++ {
				d.greedy(b, blank, merge)
			}
		})
		return d.store(c)
	}), nil
}

// greedy decodes sequence b by the best class of each step.
func (d *decoder[T]) greedy(b, blank int, merge bool) {
	steps := max(0, int(d.lengths[b]))
	labels := core.Make[int](steps)[:0]
	sum, last := T(0), -1
	for t := range steps {
		logits := d.step(t, b)
		best := highest(logits)
		sum -= logits[best]
		if best != blank && !(merge && best == last) {
			labels = append(labels, best)
		}
		last = best
	}
	d.scores[b] = sum
	d.found[b] = [][]int{labels}
}

// highest returns the first of the greatest elements.
func highest[T numeric.Float](x []T) int {
	best, most := 0, x[0]
	for i, v := range x {
		if v > most {
			best, most = i, v
		}
	}
	return best
}
