package uniform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// convAttrs are the attributes of a convolution, as they are given.
type convAttrs struct {
	strides, dilations, holes []int // holes are dilations of the filters
	padding                   string
	pads                      []int
	dimensions                *Dimensions
	batchGroups, groups       int
}

func convAttrsOf(n *core.Node) (*convAttrs, error) {
	a := &convAttrs{
		strides: n.Ints("window_strides"), dilations: n.Ints("lhs_dilation"), holes: n.Ints("rhs_dilation"),
		padding: n.Str("padding"), pads: n.Ints("explicit_padding"), batchGroups: n.Int("batch_group_count"), groups: n.Int("feature_group_count"),
	}
	switch {
	case a.padding != "EXPLICIT" && a.padding != "SAME" && a.padding != "VALID":
		return nil, invalid("padding Attr must be one of [EXPLICIT | SAME | VALID], but given: %s", a.padding)
	case a.padding != "EXPLICIT" && len(a.pads) > 0:
		return nil, invalid("If padding Attr is not 'EXPLICIT', explicit_padding Attr must be empty. Given padding %s and explicit_padding of size %d", a.padding, len(a.pads))
	}
	var err error
	a.dimensions, err = parseDimensions(n.Str("dimension_numbers"))
	return a, err
}

// A geometry is a convolution of images and filters of known shapes. Shapes
// begin with batch and features, or outputs and inputs.
type geometry struct {
	images, filters, out      dimensionOrder
	x, w, y                   tf.Shape
	strides, dilations, holes []int
	before                    []int // padding
	batchGroups, groups       int
}

// geometry describes the convolution of images and filters of the given shapes.
func (a *convAttrs) geometry(x, w tf.Shape) (*geometry, error) {
	if len(x) != len(w) {
		return nil, invalid("lhs and rhs must have same dims. Given lhs and rhs of shapes: %s%s", x.String(), w.String())
	}
	if len(x) <= 2 {
		return nil, invalid("lhs and rhs shape dims must be at least 3. Given: %d", len(x))
	}
	g := &geometry{batchGroups: a.batchGroups, groups: a.groups}
	for _, s := range []struct {
		name string
		from []int
		to   *[]int
	}{{"window_strides", a.strides, &g.strides}, {"lhs_dilation", a.dilations, &g.dilations}, {"rhs_dilation", a.holes, &g.holes}} {
		var err error
		if *s.to, err = stepsOf(s.name, s.from, len(x)-2); err != nil {
			return nil, err
		}
	}
	var err error
	if g.images, g.filters, g.out, err = a.dimensions.layouts(len(x)); err != nil {
		return nil, err
	}
	g.x, g.w = g.images.of(x), g.filters.of(w)
	if err := g.checkGroups(); err != nil {
		return nil, err
	}
	return g, g.size(a)
}

// stepsOf returns n steps, 1 if they are not given.
func stepsOf(name string, v []int, n int) ([]int, error) {
	switch {
	case len(v) == 0:
		return slices.Repeat([]int{1}, n), nil
	case len(v) != n:
		return nil, invalid("Size of %s Attr must be dims - 2.", name)
	case slices.Min(v) < 1 || slices.Max(v) > 1<<31-1:
		return nil, invalid("All elements of %s must be >= 1. Given %s", name, joined(v))
	}
	return v, nil
}

func joined(v []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ", "), "[]") }

// checkGroups checks batch, features and how they are grouped.
func (g *geometry) checkGroups() error {
	batch, in := g.x[0], g.x[1]
	outputs, inputs := g.w[0], g.w[1]
	switch {
	case g.groups <= 0:
		return invalid("feature_group_count must be a positive integer, given: %d", g.groups)
	case in%g.groups != 0:
		return invalid("feature_group_count must divide lhs feature dimension size, but %d does not divide %d", g.groups, in)
	case inputs == 0: // ends the process in TensorFlow
		return invalid("rhs input feature dimension must not be 0")
	case in%inputs != 0:
		return invalid("rhs input feature dimension must divide lhs feature dimension size, but %d does not divide %d", inputs, in)
	case in/g.groups != inputs:
		return invalid("lhs feature dimension size divided by feature_group_count must equal the rhs input feature dimension size, but %d / %d != %d", in, g.groups, inputs)
	case outputs%g.groups != 0:
		return invalid("rhs output dimension size must be a multiple of feature_group_count, but %d is not a multiple of %d", outputs, g.groups)
	case g.batchGroups <= 0:
		return invalid("batch_group_count Attr must be a positive integer. Given: %d", g.batchGroups)
	case batch%g.batchGroups != 0:
		return invalid("batch_group_count must divide lhs batch dimension size, but %d does not divide %d", g.batchGroups, batch)
	case outputs%g.batchGroups != 0:
		return invalid("rhs output dimension size must be a multiple of batch_group_count, but %d is not a multiple of %d", outputs, g.batchGroups)
	}
	return nil
}

// dilated returns the size of n positions, so far apart.
func dilated(n, apart int) int { return max(0, n+(apart-1)*(n-1)) }

// size works out the padding and the result's shape.
func (g *geometry) size(a *convAttrs) error {
	n := len(g.strides)
	if a.padding == "EXPLICIT" {
		if len(a.pads) != 2*n {
			return invalid("Size of explicit_padding Attr must be 2 * (rank - 2). Given rank %d and explicit_padding of size %d", n+2, len(a.pads))
		}
		if slices.Min(a.pads) < 0 || slices.Max(a.pads) > 1<<31-1 {
			return invalid("All explicit_padding elems must be >= 0, Given %s", joined(a.pads))
		}
	}
	g.before, g.y = core.Make[int](n), tf.Shape{g.x[0] / g.batchGroups, g.w[0]}
	for i, stride := range g.strides {
		in, k := dilated(g.x[2+i], g.dilations[i]), dilated(g.w[2+i], g.holes[i])
		pads := 0
		switch a.padding {
		case "EXPLICIT":
			g.before[i], pads = a.pads[2*i], a.pads[2*i]+a.pads[2*i+1]
		case "SAME":
			pads = max(0, ((in+stride-1)/stride-1)*stride+k-in)
			g.before[i] = pads / 2
		}
		out := (in + pads - k + stride) / stride
		if out < 0 {
			return invalid("Expected a non-negative size, got %d", out)
		}
		g.y = append(g.y, out)
	}
	return nil
}

// positions returns the number of positions of the result.
func (g *geometry) positions() int { return g.y[2:].NumElements() }

// taps returns the number of elements of a filter for one output.
func (g *geometry) taps() int { return g.w[1:].NumElements() }

// from returns the position of an image that tap k of window o lies on along
// dimension i, and whether there is one.
func (g *geometry) from(i, o, k int) (int, bool) {
	p := o*g.strides[i] + k*g.holes[i] - g.before[i]
	if p < 0 || p%g.dilations[i] != 0 {
		return 0, false
	}
	p /= g.dilations[i]
	return p, p < g.x[2+i]
}

// places returns for each window and tap where the image has its element among
// the positions of a feature, -1 for nowhere.
func (g *geometry) places() []int {
	out, taps := g.y[2:], g.w[2:]
	at := []int{0}
	rows, columns := 1, 1
	for i := range out {
		next := core.Make[int](rows * out[i] * columns * taps[i])
		for r := range rows * out[i] {
			for c := range columns * taps[i] {
				before := at[r/out[i]*columns+c/taps[i]]
				p, ok := g.from(i, r%out[i], c%taps[i])
				if ok && before >= 0 {
					p += before * g.x[2+i]
				} else {
					p = -1
				}
				next[r*columns*taps[i]+c] = p
			}
		}
		at, rows, columns = next, rows*out[i], columns*taps[i]
	}
	return at
}
