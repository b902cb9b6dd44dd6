package ops

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/pool"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// poolAttrs say how a pooling moves its window.
type poolAttrs struct {
	windowAttrs
	ksize [3]int
	depth int // channels pooled together, 1 but for pooling across depth
	// whole says that channels are left alone whatever depth is, as TensorFlow
	// does where it asks for the position of a maximum.
	whole bool
}

// pooling sets the attributes that every pooling has.
func pooling(ksize, strides []int, padding string) tf.Option {
	return poolOption{windowOption{strides, padding}, ksize}
}

type poolOption struct {
	windowOption
	ksize []int
}

// Apply sets the attributes.
func (o poolOption) Apply(s *tf.Spec) {
	o.windowOption.Apply(s)
	s.Set("ksize", o.ksize)
}

// poolAttrsOf checks ksize and strides, which are attributes of some ops and
// inputs of others.
func poolAttrsOf(n *core.Node, rank int, ksize, strides []int) (*poolAttrs, error) {
	a := &poolAttrs{windowAttrs: windowAttrs{imageFormat: imageFormatOf(n, rank), padding: n.Str("padding"), dilations: [3]int{1, 1, 1}, open: n.Bool(openSizes)}}
	switch {
	case len(ksize) != rank:
		return nil, tf.Errorf(tf.InvalidArgument, "Sliding window ksize field must specify %d dimensions", rank)
	case len(strides) != rank:
		return nil, tf.Errorf(tf.InvalidArgument, "Sliding window stride field must specify %d dimensions", rank)
	case ksize[0] != 1 || strides[0] != 1:
		return nil, tf.Errorf(tf.Unimplemented, "Pooling is not yet supported on the batch dimension.")
	}
	for i := range ksize {
		if ksize[i] <= 0 || ksize[i] > 1<<31-1 {
			return nil, badPoolSize(n, ksize, ksize[i])
		}
		if strides[i] <= 0 || strides[i] > 1<<31-1 {
			return nil, tf.Errorf(tf.InvalidArgument, "Stride must be > 0, but got %d", strides[i])
		}
	}
	a.whole = strings.HasSuffix(n.OpName(), "WithArgmax")
	a.ksize, a.strides, a.depth = a.positions(ksize), a.positions(strides), ksize[a.channel()]
	if err := a.checkDepth(n, strides[a.channel()]); err != nil {
		return nil, err
	}
	return a, a.setPaddings(n.Ints("explicit_paddings"))
}

func badPoolSize(n *core.Node, ksize []int, bad int) error {
	if n.Attr("ksize") != nil && n.OpName()[:3] == "Avg" {
		return tf.Errorf(tf.InvalidArgument, "ksize must be a positive int32 value, got:%d", bad)
	}
	return tf.Errorf(tf.InvalidArgument, "Sliding window ksize must be positive. The specified or inferred ksize is: %s", joinInts(ksize, ","))
}

// flatOnly lists the ops that refuse windows and steps across channels, and
// what they say.
var flatOnly = map[string]string{
	"MaxPoolGrad":       "MaxPoolingGrad is not yet supported on the depth dimension.",
	"MaxPoolGradV2":     "MaxPoolingGrad is not yet supported on the depth dimension.",
	"MaxPoolGradGrad":   "MaxPoolingGradGrad is not yet supported on the depth dimension.",
	"MaxPoolGradGradV2": "MaxPoolingGrad is not yet supported on the depth dimension.",
	"AvgPool3D":         "Pooling is not yet supported on the depth dimension.",
	"AvgPool3DGrad":     "Pooling is not yet supported on the depth dimension.",
	"MaxPool3D":         "Pooling is not yet supported on the depth dimension.",
	"MaxPool3DGrad":     "Pooling is not yet supported on the depth dimension.",
	"MaxPool3DGradGrad": "MaxPooling3dGradGrad is not yet supported on the depth dimension.",
}

// checkDepth allows maxima across channels, but not across positions as well.
// Ops that are not told apart here look at the window alone, as TensorFlow's do.
func (a *poolAttrs) checkDepth(n *core.Node, stride int) error {
	text, flat := flatOnly[n.OpName()]
	switch {
	case flat && (a.depth != 1 || stride != 1):
		return tf.Errorf(tf.Unimplemented, "%s", text)
	case a.depth == 1:
		return nil
	case strings.HasPrefix(n.OpName(), "Avg"):
		return tf.Errorf(tf.Unimplemented, "Non-spatial pooling is not yet supported. Volunteers? :)")
	case a.ksize != [3]int{1, 1, 1}:
		return tf.Errorf(tf.Unimplemented, "MaxPooling supports exactly one of pooling across depth or pooling across width/height.")
	case a.depth != stride:
		return tf.Errorf(tf.Unimplemented, "Depthwise max pooling requires the depth window to equal the depth stride")
	}
	return nil
}

// pool describes the pooling of a batch of shape s.
func (a *poolAttrs) pool(s tf.Shape) (*pool.Pool, error) {
	if len(s) != a.rank {
		return nil, a.badRank(len(s))
	}
	v := &pool.Pool{Batch: s[0], C: s[a.channel()]}
	if a.depth > 1 && v.C%a.depth != 0 {
		return nil, tf.Errorf(tf.Unimplemented, "Depthwise max pooling requires the depth window to evenly divide the input depth")
	}
	if a.depth > 1 && !a.whole {
		return a.acrossDepth(s), nil
	}
	var err error
	v.Window, err = a.window(a.positions(s), a.ksize)
	return v, err
}

func (a *poolAttrs) badRank(rank int) error {
	if a.rank == 5 {
		return tf.Errorf(tf.InvalidArgument, "tensor_in must be 5-dimensional")
	}
	return tf.Errorf(tf.InvalidArgument, "tensor_in_shape must have 2 spatial dimensions. %s", fmt.Sprint(rank, " ", b2i(a.channelsFirst)))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// acrossDepth takes the channels of each position for an image of their own.
func (a *poolAttrs) acrossDepth(s tf.Shape) *pool.Pool {
	c := s[a.channel()]
	v := &pool.Pool{Batch: product(s) / max(1, c), C: 1}
	one := [3]int{1, 1, 1}
	v.Window = sliding.Window{In: [3]int{1, 1, c}, Out: [3]int{1, 1, c / a.depth}, Kernel: [3]int{1, 1, a.depth}, Stride: [3]int{1, 1, a.depth}, Dilation: one}
	return v
}

// outShape returns the shape after pooling a batch of shape s, of which parts
// may be unknown. Maxima across channels are those of all positions: steps and
// paddings along these do not count, as in TensorFlow.
func (a *poolAttrs) outShape(s tf.Shape) (tf.Shape, error) {
	c := s[a.channel()]
	if a.depth > 1 && !a.whole {
		if c > 0 {
			c /= a.depth
		}
		return a.shape(s[0], c, a.positions(s)), nil
	}
	p, err := a.outPositions(a.positions(s), a.ksize)
	if err != nil {
		return nil, err
	}
	return a.shape(s[0], c, p), nil
}

// poolSource finds the attributes of a pooling that runs: fixed, or in the
// last two inputs.
type poolSource func(c *core.OpContext) (*poolAttrs, error)

func poolSourceOf(n *core.Node, rank int) (poolSource, error) {
	if n.Attr("ksize") == nil {
		return func(c *core.OpContext) (*poolAttrs, error) {
			k, err := windowInput(c.Input(c.Inputs()-2), "ksize")
			if err != nil {
				return nil, err
			}
			s, err := windowInput(c.Input(c.Inputs()-1), "strides")
			if err != nil {
				return nil, err
			}
			return poolAttrsOf(n, rank, k, s)
		}, nil
	}
	a, err := poolAttrsOf(n, rank, n.Ints("ksize"), n.Ints("strides"))
	return func(*core.OpContext) (*poolAttrs, error) { return a, nil }, err
}

func windowInput(t *core.Tensor, name string) ([]int, error) {
	if t.Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "%s must be a vector, got shape %s", name, t.Shape().String())
	}
	return intsOf(t)
}

// poolShape is the shape function of poolings forward.
func poolShape(rank int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		s, err := c.Rank(0, rank)
		if err != nil {
			return err
		}
		ksize, strides := c.Ints("ksize"), c.Ints("strides")
		if c.Attr("ksize") == nil {
			var ok1, ok2 bool
			ksize, ok1 = c.ConstInts(1)
			strides, ok2 = c.ConstInts(2)
			if !ok1 || !ok2 {
				c.Set(0, unknownDims(rank))
				return nil
			}
		}
		a, err := poolAttrsOf(c.Node, rank, ksize, strides)
		if err != nil {
			return err
		}
		out, err := a.outShape(s)
		for i := range c.NumOut() {
			c.Set(i, out)
		}
		return err
	}
}
