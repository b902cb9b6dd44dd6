package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "GatherTree", In: "step_ids: T; parent_ids: T; max_sequence_lengths: int32; end_token: T", Out: "beams: T", Attrs: "T: {int32}",
		Shape: treeShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", map[tf.DType]core.NewKernel{tf.Int32: treeKernel}),
	})
}

// GatherTree returns the sequences that a beam search has found, [time batch
// beam]: it goes from the last step of each beam to its parents. Steps and
// parents are [time batch beam], lengths [batch]; sequences end with the first
// end token and are filled with it. With lengths of each beam, [batch beam],
// as in TensorFlow 1.4, only these end sequences. All are int32. It is
// TensorFlow 1's operation of contrib.seq2seq. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step; a parent that is no beam is refused with it in the step.
func GatherTree(steps, parents, lengths, end tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "GatherTree", []tf.Output{steps, parents, lengths, end}, opts...).Output(0)
}

func treeShape(c *core.Infer) error {
	for i, rank := range map[int]int{0: 3, 1: 3, 3: 0} {
		if _, err := c.Rank(i, rank); err != nil {
			return err
		}
	}
	if r := len(c.In(2)); c.In(2) != nil && r != 1 && r != 2 {
		return invalid("max_sequence_lengths must be a vector or a matrix, saw %v", c.In(2))
	}
	s, ok := c.In(0).Merge(c.In(1))
	if !ok {
		return invalid("parent_ids must have the shape of step_ids: %v, saw %v", c.In(0), c.In(1))
	}
	c.Set(0, s)
	return nil
}

func treeKernel(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		t, err := treeOf(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.Int32, c.Input(0).Shape())
		if err != nil {
			return err
		}
		t.beams = core.Data[int32](out)
		for i := range t.beams {
			t.beams[i] = t.end
		}
		return t.gatherAll()
	}), nil
}

// A tree is what a beam search has chosen at each step.
type tree struct {
	time, batch, width    int
	steps, parents, beams []int32
	lengths               []int32
	ofBeams               bool // lengths are those of beams, not of sequences
	end                   int32
}

// treeOf checks the inputs.
func treeOf(c *core.OpContext) (*tree, error) {
	s, lengths := c.Input(0).Shape(), c.Input(2).Shape()
	switch {
	case len(s) != 3:
		return nil, invalid("step_ids must be a 3-tensor, saw shape: %v", s)
	case !s.Equal(c.Input(1).Shape()):
		return nil, invalid("parent_ids shape must match step_ids shape: %v, saw %v", s, c.Input(1).Shape())
	case !lengths.Equal(s[1:2]) && !lengths.Equal(s[1:]):
		return nil, invalid("max_sequence_lengths must have an element for each of %d sequences or beams, saw shape: %v", s[1], lengths)
	case len(c.Input(3).Shape()) != 0:
		return nil, invalid("end_token must be a scalar, saw shape: %v", c.Input(3).Shape())
	}
	return &tree{
		time: s[0], batch: s[1], width: s[2], steps: core.Data[int32](c.Input(0)), parents: core.Data[int32](c.Input(1)),
		lengths: core.Data[int32](c.Input(2)), ofBeams: len(lengths) == 2, end: core.Data[int32](c.Input(3))[0],
	}, nil
}

func (t *tree) at(time, sequence, beam int) int { return (time*t.batch+sequence)*t.width + beam }

func (t *tree) gatherAll() error {
	for b := range t.batch {
		for k := range t.width {
			n := b
			if t.ofBeams {
				n = b*t.width + k
			}
			if err := t.gather(b, k, min(t.time, int(t.lengths[n]))); err != nil {
				return err
			}
		}
	}
	return nil
}

// gather writes beam k of sequence b, of n steps.
func (t *tree) gather(b, k, n int) error {
	parent := int32(k)
	for time := n - 1; time >= 0; time-- {
		if parent < 0 || int(parent) >= t.width {
			return invalid("Saw invalid parent id %d at (batch, time, beam) == (%d, %d, %d)", parent, b, time, k)
		}
		from := t.at(time, b, int(parent))
		t.beams[t.at(time, b, k)], parent = t.steps[from], t.parents[from]
	}
	if t.ofBeams {
		return nil
	}
	ended := false
	for time := range n {
		at := t.at(time, b, k)
		if ended {
			t.beams[at] = t.end
		}
		ended = ended || t.beams[at] == t.end
	}
	return nil
}
