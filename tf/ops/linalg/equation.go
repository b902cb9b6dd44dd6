package linalg

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An equation names the dimensions of the operands and of the result of an
// Einsum: by letters, and ellipsis.
type equation struct {
	in  [][]int
	out []int
}

const (
	ellipsis = -1
	// unnamed is the name of the last dimension that an ellipsis stands for;
	// those before it have greater ones.
	unnamed = 256
)

func parseEquation(s string) (*equation, error) {
	sides := strings.Split(s, "->")
	if len(sides) != 2 {
		return nil, invalid("Expecting exactly one '->' in einsum equation: %s", s)
	}
	terms := strings.Split(sides[0], ",")
	if len(terms) > 2 {
		return nil, invalid("Expecting 1 or 2 input subscripts in equation '%s' but got: %d", s, len(terms))
	}
	e := &equation{out: labels(sides[1])}
	for _, t := range terms {
		e.in = append(e.in, labels(t))
	}
	for _, term := range append(e.in[:len(e.in):len(e.in)], e.out) {
		if at := slices.Index(term, ellipsis); at >= 0 && slices.Contains(term[at+1:], ellipsis) {
			return nil, invalid("Expecting at most one ellipsis (...) in each subscript of the einsum equation: %s", s)
		}
	}
	return e, nil
}

func labels(term string) (out []int) {
	for i := 0; i < len(term); i++ {
		if term[i] == '.' {
			out = append(out, ellipsis)
			i += 2
			continue
		}
		out = append(out, int(term[i]))
	}
	return out
}

// An einsumPlan is an equation for operands of certain ranks.
type einsumPlan struct {
	in      [][]int
	inShape []tf.Shape
	out     []int
	sizes   map[int]int // by name; -1 if not known

	batch, contracted []int    // in both operands
	free, summed      [2][]int // in one of them
	kept              [2][]int // of a single operand
}

// plan names the dimensions that ellipses stand for and checks the sizes.
func (e *equation) plan(shapes []tf.Shape) (*einsumPlan, error) {
	p := &einsumPlan{inShape: shapes, sizes: map[int]int{}}
	most := 0
	for i, s := range shapes {
		n, err := unnamedOf(i, e.in[i], s)
		if err != nil {
			return nil, err
		}
		most = max(most, n)
		p.in = append(p.in, named(e.in[i], n))
	}
	if !slices.Contains(e.out, ellipsis) && most > 0 {
		return nil, invalid("Output contains %d broadcasting dimension(s) but no ellipsis (...) was found in the output subscripts.", most)
	}
	p.out = named(e.out, most)
	for i, s := range shapes {
		for axis, label := range p.in[i] {
			if err := p.record(label, s[axis], axis, s); err != nil {
				return nil, err
			}
		}
	}
	for _, label := range p.out {
		if _, ok := p.sizes[label]; !ok {
			return nil, invalid("Einsum output subscripts have a label that the inputs lack: %c", rune(label))
		}
	}
	p.classify()
	return p, nil
}

// unnamedOf returns how many dimensions the ellipsis of operand i stands for.
func unnamedOf(i int, term []int, s tf.Shape) (int, error) {
	if !slices.Contains(term, ellipsis) {
		if len(term) != len(s) {
			return 0, invalid("Expected input %d to have rank %d but got: %d", i, len(term), len(s))
		}
		return 0, nil
	}
	if len(s)+1 < len(term) {
		return 0, invalid("Expected input %d to have rank at least %d but got: %d", i, len(term)-1, len(s))
	}
	return len(s) + 1 - len(term), nil
}

// named puts the names of n dimensions in the place of an ellipsis.
func named(term []int, n int) (out []int) {
	for _, label := range term {
		if label != ellipsis {
			out = append(out, label)
			continue
		}
		for k := n - 1; k >= 0; k-- {
			out = append(out, unnamed+k)
		}
	}
	return out
}

// record notes the size of a dimension. Unnamed ones are broadcast.
func (p *einsumPlan) record(label, size, axis int, s tf.Shape) error {
	have, ok := p.sizes[label]
	switch {
	case !ok || have < 0 || have == size:
		if ok && label >= unnamed && size == 1 {
			return nil // what is not known may be greater
		}
		p.sizes[label] = size
	case size < 0 && label >= unnamed && have == 1:
		p.sizes[label] = size
	case size < 0:
	case label >= unnamed && have == 1:
		p.sizes[label] = size
	case label >= unnamed && size == 1:
	case label >= unnamed:
		return invalid("Invalid broadcasting dimensions: %s vs. %s", p.inShape[0].String(), p.inShape[1].String())
	default:
		return invalid("Expected dimension %d at axis %d of the input shaped %s but got dimension %d", have, axis, s.String(), size)
	}
	return nil
}

// classify tells what is done with each dimension. One that is broadcast from
// a single element is the other operand's own.
func (p *einsumPlan) classify() {
	add := func(to *[]int, label int) {
		if !slices.Contains(*to, label) {
			*to = append(*to, label)
		}
	}
	for i, term := range p.in {
		for axis, label := range term {
			stays, shared := slices.Contains(p.out, label), p.shared(label)
			switch {
			case stays && len(p.in) == 1:
				add(&p.kept[0], label)
			case stays && shared:
				add(&p.batch, label)
			case stays && p.inShape[i][axis] != 1, stays && label < unnamed, stays && p.sizes[label] == 1:
				if !slices.Contains(p.free[1-i], label) {
					add(&p.free[i], label)
				}
			case stays:
			case shared:
				add(&p.contracted, label)
			default:
				add(&p.summed[i], label)
			}
		}
	}
}

// shared reports whether both operands have all elements along a dimension.
func (p *einsumPlan) shared(label int) bool {
	for i, term := range p.in {
		axis := slices.Index(term, label)
		if axis < 0 || label >= unnamed && p.inShape[i][axis] != p.sizes[label] {
			return false
		}
	}
	return len(p.in) == 2
}

func (p *einsumPlan) shape(dims []int) tf.Shape {
	s := make(tf.Shape, len(dims))
	for i, label := range dims {
		s[i] = p.sizes[label]
	}
	return s
}

// view returns where the elements of a tensor lie, whose dimensions are named
// by term, in the order of dims.
func (p *einsumPlan) view(dims, term []int, s tf.Shape) layout.View {
	steps, strides := core.Make[int](len(dims)), layout.Strides(s)
	for i, label := range dims {
		for axis, l := range term {
			if l == label {
				steps[i] += strides[axis]
			}
		}
	}
	return layout.View{Steps: steps}
}

// checkSizes refuses results and arrangements of operands that are too large.
func (p *einsumPlan) checkSizes(d tf.DType) error {
	for _, dims := range [][]int{p.out, join(p.batch, p.free[0], p.free[1])} {
		if err := core.CheckSize(d, p.shape(dims)); err != nil {
			return err
		}
	}
	return nil
}

func join(parts ...[]int) []int { return slices.Concat(parts...) }
