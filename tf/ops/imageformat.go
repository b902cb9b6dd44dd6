package ops

import (
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// imageFormat says where the dimensions of a batch of images (rank 4) or
// volumes (rank 5) are.
type imageFormat struct {
	rank          int
	channelsFirst bool
}

// imageFormatOf reads data_format.
func imageFormatOf(n *core.Node, rank int) imageFormat {
	return imageFormat{rank, strings.HasPrefix(n.Str("data_format"), "NC")}
}

// channel returns the dimension of channels.
func (f imageFormat) channel() int {
	if f.channelsFirst {
		return 1
	}
	return f.rank - 1
}

// spatial returns the dimension of position i of [depth height width], and
// whether there is one: images have no depth.
func (f imageFormat) spatial(i int) (int, bool) {
	dim := i - (5 - f.rank) + 1
	if dim < 1 {
		return 0, false
	}
	if f.channelsFirst {
		dim++
	}
	return dim, true
}

// positions returns the sizes of depth, height and width, for images with a
// depth of 1.
func (f imageFormat) positions(s []int) (p [3]int) {
	for i := range p {
		p[i] = 1
		if d, ok := f.spatial(i); ok {
			p[i] = s[d]
		}
	}
	return p
}

// shape returns the shape of a batch.
func (f imageFormat) shape(batch, channels int, p [3]int) tf.Shape {
	s := make(tf.Shape, f.rank)
	s[0], s[f.channel()] = batch, channels
	for i := range p {
		if d, ok := f.spatial(i); ok {
			s[d] = p[i]
		}
	}
	return s
}

// toLast returns the order of dimensions that puts channels last.
func (f imageFormat) toLast() []int {
	perm := []int{0}
	for d := 2; d < f.rank; d++ {
		perm = append(perm, d)
	}
	return append(perm, 1)
}

// toFirst returns the order that undoes toLast.
func (f imageFormat) toFirst() []int {
	perm := []int{0, f.rank - 1}
	for d := 1; d < f.rank-1; d++ {
		perm = append(perm, d)
	}
	return perm
}

// channelsLast returns the elements x of a batch of shape s with channels
// last.
func channelsLast[T numeric.Number](c *core.OpContext, f imageFormat, x []T, s tf.Shape) []T {
	if !f.channelsFirst {
		return x
	}
	y := core.Borrow[T](c, len(x))
	layout.TransposeNumbers(c.ParallelFor, layout.NewTransposition(s, f.toLast()), y, x)
	return y
}

// ownOrder calls f with memory for a batch of shape s with channels last, and
// moves what f leaves there to dst in the batch's own order.
func ownOrder[T numeric.Number](c *core.OpContext, f imageFormat, dst []T, s tf.Shape, compute func(dst []T)) {
	if !f.channelsFirst {
		compute(dst)
		return
	}
	y := core.Borrow[T](c, len(dst))
	compute(y)
	layout.TransposeNumbers(c.ParallelFor, layout.NewTransposition(permuted(s, f.toLast()), f.toFirst()), dst, y)
}
