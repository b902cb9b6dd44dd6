package queue

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// denseSum is a sum of tensors of one shape.
type denseSum struct{ sum *core.Tensor }

func (s *denseSum) check(shape tf.Shape, begun bool, g []*core.Tensor) error {
	got := g[0].Shape()
	if begun && !s.sum.Shape().Equal(got) {
		return tf.Errorf(tf.InvalidArgument, "Shape mismatch: expected %s, got %s", s.sum.Shape().String(), got.String())
	}
	if !shape.Compatible(got) {
		return tf.Errorf(tf.InvalidArgument, "Shape mismatch: expected %s, got %s", shape.String(), got.String())
	}
	return nil
}

func (s *denseSum) begin(g []*core.Tensor) { s.sum = g[0].Clone() }

func (s *denseSum) add(g []*core.Tensor) { addCells(s.sum, 0, g[0], 0, g[0].Len()) }

func (s *denseSum) take(_ tf.Shape, mean bool, count int) []*core.Tensor {
	if mean {
		divideCells(s.sum, 0, s.sum.Len(), count)
	}
	out := s.sum
	s.sum = nil
	return []*core.Tensor{out}
}

// sparseSum is a sum of slices: rows of a larger tensor, in order.
type sparseSum struct {
	rows   []int64
	counts []int // of the gradients that have the row
	values *core.Tensor
}

func (s *sparseSum) check(shape tf.Shape, begun bool, g []*core.Tensor) error {
	indices, values := g[0], g[1]
	switch {
	case indices.Rank() != 1:
		return tf.Errorf(tf.InvalidArgument, "Input indices should be vector but received shape: %s", indices.Shape().String())
	case values.Rank() == 0:
		return tf.Errorf(tf.InvalidArgument, "Values cannot be 0-dimensional.")
	case values.Dim(0) != indices.Dim(0):
		return tf.Errorf(tf.InvalidArgument, "Expected %d non-empty input values, got %d", indices.Dim(0), values.Dim(0))
	}
	if len(g) > 2 {
		if err := checkDims(shape, core.Data[int64](g[2])); err != nil {
			return err
		}
	}
	if err := checkRows(shape, core.Data[int64](indices)); err != nil {
		return err
	}
	if begun {
		return sameRows(s.values.Shape(), values.Shape(), "Shape mismatch: expected values rank %d, got %d", len(s.values.Shape()) != values.Rank())
	}
	return sameRows(shape, values.Shape(), "Shape mismatch: expected values rank at least %d, got %d", len(shape) > values.Rank())
}

// checkDims compares the shape that comes with a gradient.
func checkDims(shape tf.Shape, dims []int64) error {
	if len(shape) > len(dims) {
		return tf.Errorf(tf.InvalidArgument, "Shape mismatch: expected shape rank at least %d, got %d", len(shape), len(dims))
	}
	for i, d := range shape {
		if d != -1 && int64(d) != dims[i] {
			return tf.Errorf(tf.InvalidArgument, "Shape mismatch: expected shape dim %d to be %d, got %d", i, d, dims[i])
		}
	}
	return nil
}

// checkRows refuses rows that the shape does not have.
func checkRows(shape tf.Shape, rows []int64) error {
	if len(shape) == 0 || shape[0] < 0 {
		return nil
	}
	for i, row := range rows {
		if row >= int64(shape[0]) {
			return tf.Errorf(tf.InvalidArgument, "Shape mismatch: index of slice %d exceeded limits of shape; index is %d exceeded %d", i, row, shape[0])
		}
	}
	return nil
}

// sameRows compares what the slices are like.
func sameRows(want, got tf.Shape, rank string, wrongRank bool) error {
	if wrongRank {
		return tf.Errorf(tf.InvalidArgument, rank, len(want), len(got))
	}
	for i := 1; i < len(want); i++ {
		if want[i] != -1 && want[i] != got[i] {
			return tf.Errorf(tf.InvalidArgument, "Shape mismatch: expected values dim %d to be %d, got %d", i, want[i], got[i])
		}
	}
	return nil
}

func (s *sparseSum) begin(g []*core.Tensor) {
	s.rows, s.values = slices.Clone(core.Data[int64](g[0])), g[1].Clone()
	s.counts = core.Make[int](len(s.rows))
	for i := range s.counts {
		s.counts[i] = 1
	}
}

// add merges the rows of both sides.
func (s *sparseSum) add(g []*core.Tensor) {
	rows, values := core.Data[int64](g[0]), g[1]
	sum := &sparseSum{}
	var from []mergedRow
	for i, j := 0, 0; i < len(s.rows) || j < len(rows); {
		m := mergedRow{-1, -1}
		row := int64(0)
		if j == len(rows) || i < len(s.rows) && s.rows[i] <= rows[j] {
			m.have, row = i, s.rows[i]
			i++
		}
		if m.have < 0 || j < len(rows) && rows[j] == row {
			m.come, row = j, rows[j]
			j++
		}
		sum.rows, from = append(sum.rows, row), append(from, m)
	}
	sum.merge(s, values, from)
	*s = *sum
}

// mergedRow says which rows of two sides make a row of the sum; -1: none.
type mergedRow struct{ have, come int }

func (s *sparseSum) merge(have *sparseSum, come *core.Tensor, from []mergedRow) {
	shape := come.Shape().Clone()
	shape[0] = len(from)
	s.values, s.counts = core.NewTensor(come.DType(), shape), core.Make[int](len(from))
	n := shape[1:].NumElements()
	for k, m := range from {
		if m.have >= 0 {
			s.counts[k] = have.counts[m.have]
			addCells(s.values, k*n, have.values, m.have*n, n)
		}
		if m.come >= 0 {
			s.counts[k]++
			addCells(s.values, k*n, come, m.come*n, n)
		}
	}
}

func (s *sparseSum) take(shape tf.Shape, mean bool, _ int) []*core.Tensor {
	indices, _ := core.FromSlice(s.rows)
	dims := core.NewTensor(tf.Int64, tf.Shape{s.values.Rank()}) // first: there may be no memory
	if n := s.values.Shape()[1:].NumElements(); mean {
		for k, count := range s.counts {
			divideCells(s.values, k*n, n, count)
		}
	}
	for i, d := range s.values.Shape() {
		core.Data[int64](dims)[i] = int64(d)
	}
	if core.Data[int64](dims)[0] = -1; len(shape) > 0 {
		core.Data[int64](dims)[0] = int64(shape[0])
	}
	out := []*core.Tensor{indices, s.values, dims}
	*s = sparseSum{}
	return out
}

// addCells adds n elements of src to those of dst.
func addCells(dst *core.Tensor, at int, src *core.Tensor, from, n int) {
	switch dst.DType() {
	case tf.Float32:
		addTo(core.Data[float32](dst)[at:at+n], core.Data[float32](src)[from:])
	case tf.Float64:
		addTo(core.Data[float64](dst)[at:at+n], core.Data[float64](src)[from:])
	case tf.Float16:
		x, y := core.Data[tf.Half](dst)[at:at+n], core.Data[tf.Half](src)[from:]
		for i := range x {
			x[i] = numeric.HalfFromFloat32(x[i].Float32() + y[i].Float32())
		}
	}
}

func addTo[T float32 | float64](x, y []T) {
	for i := range x {
		x[i] += y[i]
	}
}

// divideCells divides n elements of t by count.
func divideCells(t *core.Tensor, at, n, count int) {
	switch t.DType() {
	case tf.Float32:
		divideBy(core.Data[float32](t)[at:at+n], float32(count))
	case tf.Float64:
		divideBy(core.Data[float64](t)[at:at+n], float64(count))
	case tf.Float16:
		for i, x := range core.Data[tf.Half](t)[at : at+n] {
			core.Data[tf.Half](t)[at+i] = numeric.HalfFromFloat32(x.Float32() / float32(count))
		}
	}
}

func divideBy[T float32 | float64](x []T, by T) {
	for i := range x {
		x[i] /= by
	}
}
