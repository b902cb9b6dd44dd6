package layers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A Size is the extent or the stride of a window: one number for all
// dimensions, or one for each.
type Size interface{ int | []int }

// extents returns a size by dimension, or nil if it has another number of them.
func extents[S Size](s S, rank int) []int {
	switch s := any(s).(type) {
	case int:
		return slices.Repeat([]int{s}, rank)
	case []int:
		if len(s) > 0 {
			return spread(s, rank)
		}
	}
	return nil
}

// spread is extents of options, where nil stands for ones and one number for
// all dimensions.
func spread(s []int, rank int) []int {
	switch len(s) {
	case 0:
		return slices.Repeat([]int{1}, rank)
	case 1:
		return slices.Repeat(s, rank)
	case rank:
		return slices.Clone(s)
	}
	return nil
}

// checkExtents reports a size that is not positive or of another rank.
func checkExtents(what string, s []int, rank int) error {
	if s == nil {
		return tf.Errorf(tf.InvalidArgument, "The `%s` argument must be one number or %d of them", what, rank)
	}
	for _, n := range s {
		if n <= 0 {
			return tf.Errorf(tf.InvalidArgument, "The `%s` argument must have positive numbers, got %v", what, s)
		}
	}
	return nil
}

// An area is how a window moves over images of one, two or three dimensions.
type area struct {
	rank          int
	size, strides []int
	dilation      []int
	padding       string // VALID, SAME or, for lines, CAUSAL
	channelsFirst bool
	convolves     bool // not a pooling
}

// paddingOf returns the padding in TensorFlow's spelling; "" stands for VALID. What is none
// of those known stays as the program has it, for the error that refuses it.
func paddingOf(p string, known ...string) string {
	if upper := cmp.Or(strings.ToUpper(p), "VALID"); slices.Contains(known, upper) {
		return upper
	}
	return p
}

func (a *area) check() error {
	for _, c := range []struct {
		what string
		s    []int
	}{{"kernel_size", a.size}, {"strides", a.strides}, {"dilation_rate", a.dilation}} {
		if err := checkExtents(c.what, c.s, a.rank); err != nil {
			return err
		}
	}
	if a.padding == causal && a.convolves {
		if a.rank == 1 {
			return nil
		}
		return tf.Errorf(tf.InvalidArgument, "Causal padding is only supported for `Conv1D` and `SeparableConv1D`.")
	}
	if a.padding != "VALID" && a.padding != "SAME" {
		return tf.Errorf(tf.InvalidArgument, "The `padding` argument must be one of \"valid\", \"same\". Received: %q", a.padding)
	}
	return nil
}

// accept reports an input that is not one of images whose channels are known.
func (a *area) accept(kind string, in input) error {
	if err := a.check(); err != nil {
		return err
	}
	if len(in.shape) != a.rank+2 {
		return tf.Errorf(tf.InvalidArgument, "%s needs an input of rank %d, %s, got %v", kind, a.rank+2, a.layout(), in)
	}
	if a.channels(in.shape) < 0 {
		return tf.Errorf(tf.InvalidArgument, "The channel dimension of the inputs of %s should be defined. The input_shape received is %v", kind, in)
	}
	return nil
}

// fits reports a window that is larger than an input whose sizes are known, and that
// nothing pads.
func (a *area) fits(s tf.Shape) error {
	if a.padding != "VALID" {
		return nil
	}
	first := 1
	if a.channelsFirst {
		first = 2
	}
	for i, n := range s[first : first+a.rank] {
		if window := (a.size[i]-1)*a.dilation[i] + 1; n >= 0 && n < window {
			return tf.Errorf(tf.InvalidArgument, "Negative dimension size caused by subtracting %d from %d: the window must not be larger than the input, got windows %v and %v", window, n, a.size, s)
		}
	}
	return nil
}

// layout names the dimensions of an input.
func (a *area) layout() string {
	names := []string{"width", "height width", "depth height width"}[a.rank-1]
	if a.channelsFirst {
		return "[n channels " + names + "]"
	}
	return "[n " + names + " channels]"
}

// first returns the position of the first dimension that the window moves
// along.
func (a *area) first() int {
	if a.channelsFirst {
		return 2
	}
	return 1
}

func (a *area) channels(s tf.Shape) int {
	if a.channelsFirst {
		return s[1]
	}
	return s[len(s)-1]
}

// full returns numbers by dimension of the window as numbers by dimension of an
// image, whose other dimensions get 1.
func (a *area) full(s []int) []int {
	if a.channelsFirst {
		return append([]int{1, 1}, s...)
	}
	return append(append([]int{1}, s...), 1)
}

// format is the attribute that says where channels are.
func (a *area) format() string {
	positions := [...]string{"", "X", "HW", "DHW"}[a.rank]
	if a.channelsFirst {
		return "NC" + positions
	}
	return "N" + positions + "C"
}

// window returns the options of operations that move a window.
func (a *area) window() ops.WindowOpts {
	o := ops.WindowOpts{DataFormat: a.format()}
	if slices.Max(a.dilation) > 1 {
		o.Dilations = a.full(a.dilation)
	}
	return o
}

// causal is the padding of lines that puts all zeros before them.
const causal = "CAUSAL"

// delayed puts the zeros of causal padding before lines.
func (a *area) delayed(x tf.Output) tf.Output {
	if a.padding != causal {
		return x
	}
	pads := make([][2]int, a.rank+2)
	pads[a.first()][0] = a.dilation[0] * (a.size[0] - 1)
	return ops.Pad(x, pads)
}

// flat is a in two dimensions, the first of which has the size 1, for lines,
// which operations on images compute.
func (a area) flat() area {
	a.rank = 2
	if a.padding == causal {
		a.padding = "VALID" // the zeros are there already
	}
	one := func(s []int) []int { return append([]int{1}, s...) }
	a.size, a.strides, a.dilation = one(a.size), one(a.strides), one(a.dilation)
	return a
}

// onLines calls f with lines as images of height 1, and turns its images back
// into lines.
func (a *area) onLines(x tf.Output, f func(x tf.Output) tf.Output) tf.Output {
	y := f(ops.ExpandDims(x, a.first()))
	return ops.Squeeze(y, []int{a.first()})
}

// addBias adds a number by channel.
func (a *area) addBias(x, bias tf.Output) tf.Output {
	if !a.channelsFirst {
		return ops.BiasAdd(x, bias)
	}
	return ops.BiasAdd(x, bias, ops.BiasOpts{DataFormat: "NCHW"})
}
