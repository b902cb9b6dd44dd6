package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// WindowOpts are the optional attributes of ops that move a window over
// images: convolutions and poolings. Ops ignore those that they do not have.
type WindowOpts struct {
	// DataFormat says where channels are: "NHWC" or "NCHW", "NDHWC" or
	// "NCDHW" for volumes.
	DataFormat string
	// Dilations are the distances of neighbours in a filter, by dimension.
	Dilations []int
	// ExplicitPaddings are the zeros before and after each dimension, for
	// padding EXPLICIT.
	ExplicitPaddings []int
}

// Apply sets the attributes.
func (o WindowOpts) Apply(s *tf.Spec) {
	if o.DataFormat != "" {
		s.Set("data_format", o.DataFormat)
	}
	if o.Dilations != nil {
		s.Set("dilations", o.Dilations)
	}
	if o.ExplicitPaddings != nil {
		s.Set("explicit_paddings", o.ExplicitPaddings)
	}
}

// openSizes is an attribute of nodes whose sizes nothing but the step knows, as in programs of XLA:
// what TensorFlow refuses because it goes beyond tensors that are small or have no elements
// comes to nothing.
const openSizes = "_open"

// windowAttrs are the attributes of a node that moves a window.
type windowAttrs struct {
	imageFormat
	strides, dilations [3]int
	padding            string
	before, after      [3]int            // for padding EXPLICIT
	open               bool              // windows greater than the images come to nothing
	kept               *conv.KeptFilters // for filters that rarely change
}

// windowAttrsOf reads and checks strides, dilations and paddings.
func windowAttrsOf(n *core.Node, rank int) (*windowAttrs, error) {
	a := &windowAttrs{imageFormat: imageFormatOf(n, rank), padding: n.Str("padding"), dilations: [3]int{1, 1, 1}, open: n.Bool(openSizes)}
	across := tf.InvalidArgument
	if n.OpName() == "Conv2D" || n.OpName() == "_FusedConv2D" {
		across = tf.Unimplemented // TensorFlow's code for windows across images or channels differs by op
	}
	if err := checkInt32s(n, "strides", "dilations"); err != nil {
		return nil, err
	}
	if err := a.setStrides(n.Ints("strides"), across); err != nil {
		return nil, err
	}
	if d := n.Ints("dilations"); n.Attr("dilations") != nil {
		if err := a.setDilations(d, across); err != nil {
			return nil, err
		}
	}
	return a, a.setPaddings(n.Ints("explicit_paddings"))
}

// checkInt32s refuses numbers in lists that do not fit into 32 bits, as TensorFlow has
// them: where they are multiplied by sizes, larger ones overflow.
func checkInt32s(n *core.Node, lists ...string) error {
	for _, name := range lists {
		for _, v := range n.Ints(name) {
			if v != int(int32(v)) {
				return tf.Errorf(tf.InvalidArgument, "Attr %s has value %d out of range for an int32", name, v)
			}
		}
	}
	return nil
}

func (a *windowAttrs) setStrides(s []int, across tf.Code) error {
	if len(s) != a.rank {
		return tf.Errorf(tf.InvalidArgument, "Sliding window strides field must specify %d dimensions", a.rank)
	}
	if s[0] != 1 || s[a.channel()] != 1 {
		return tf.Errorf(across, "Current implementation does not yet support strides in the batch and depth dimensions.")
	}
	a.strides = a.positions(s)
	for _, v := range a.strides {
		if v <= 0 {
			return tf.Errorf(tf.InvalidArgument, "Sliding window strides should be larger than 0.")
		}
	}
	return nil
}

func (a *windowAttrs) setDilations(d []int, across tf.Code) error {
	if len(d) != a.rank {
		return tf.Errorf(tf.InvalidArgument, "Sliding window dilations field must specify %d dimensions", a.rank)
	}
	if d[0] != 1 || d[a.channel()] != 1 {
		return tf.Errorf(across, "Current implementation does not yet support dilations in the batch and depth dimensions.")
	}
	a.dilations = a.positions(d)
	for _, v := range a.dilations {
		if v <= 0 {
			return tf.Errorf(tf.InvalidArgument, "Dilated rates should be larger than 0.")
		}
	}
	return nil
}

func (a *windowAttrs) setPaddings(p []int) error {
	switch {
	case a.padding != "EXPLICIT" && len(p) > 0:
		return tf.Errorf(tf.InvalidArgument, "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT")
	case a.padding != "EXPLICIT":
		return nil
	case len(p) != 2*a.rank:
		return tf.Errorf(tf.InvalidArgument, "explicit_paddings attribute must contain %d values, but got: %d", 2*a.rank, len(p))
	}
	for _, v := range p {
		if v < 0 || v > 1<<31-1 {
			return tf.Errorf(tf.InvalidArgument, "All elements of explicit_paddings must be nonnegative")
		}
	}
	if c := a.channel(); p[0]|p[1]|p[2*c]|p[2*c+1] != 0 {
		return tf.Errorf(tf.InvalidArgument, "Nonzero explicit padding in the batch or depth dimensions is not supported")
	}
	for i := range 3 {
		if d, ok := a.spatial(i); ok {
			a.before[i], a.after[i] = p[2*d], p[2*d+1]
		}
	}
	return nil
}

// window returns how a window of size k moves over positions in.
func (a *windowAttrs) window(in, k [3]int) (sliding.Window, error) {
	w := sliding.Window{In: in, Kernel: k, Stride: a.strides, Dilation: a.dilations}
	for i := range 3 {
		out, pad, err := a.along(i, in[i], k[i])
		if err != nil {
			return w, err
		}
		w.Out[i], w.Pad[i] = out, pad
	}
	return w, nil
}

// along returns the number of windows along dimension i and the padding
// before the first one.
func (a *windowAttrs) along(i, in, k int) (out, pad int, err error) {
	s, size := a.strides[i], (k-1)*a.dilations[i]+1
	switch a.padding {
	case "SAME":
		out = (in + s - 1) / s
		return out, max(0, (out-1)*s+size-in) / 2, nil
	case "EXPLICIT":
		in += a.before[i] + a.after[i]
	}
	if out = (in - size + s) / s; out < 0 && !a.open {
		return 0, 0, tf.Errorf(tf.InvalidArgument, "Computed output size would be negative: %d [input_size: %d, effective_filter_size: %d, stride: %d]", out, in, size, s)
	}
	return max(out, 0), a.before[i], nil
}

// outPositions returns what is known of the positions after a window, -1 for
// those that are not.
func (a *windowAttrs) outPositions(in, k [3]int) (p [3]int, err error) {
	for i := range p {
		switch {
		case in[i] < 0 || k[i] < 0 && a.padding != "SAME":
			p[i] = -1
		default:
			if p[i], _, err = a.along(i, in[i], k[i]); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}
