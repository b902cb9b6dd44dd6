package dataset

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf/core"
)

// SparseSlices returns the rows of a sparse tensor, as indices, values and shape
// of each. The indices must be in order; what is in no row is in none of them.
func SparseSlices(indices, values, shape *core.Tensor) (Dataset, error) {
	switch {
	case indices.Rank() != 2:
		return nil, core.Errorf(core.InvalidArgument, "Input indices must be a matrix. Got: %s", indices.Shape().String())
	case values.Rank() != 1:
		return nil, core.Errorf(core.InvalidArgument, "Input values must be a vector. Got: %s", values.Shape().String())
	case shape.Rank() != 1:
		return nil, core.Errorf(core.InvalidArgument, "Input shape must be a vector. Got: %s", shape.Shape().String())
	case values.Dim(0) != indices.Dim(0):
		return nil, core.Errorf(core.InvalidArgument, "Number of values must match first dimension of indices. Got %d values, indices shape: %s", values.Dim(0), indices.Shape().String())
	case shape.Dim(0) != indices.Dim(1):
		return nil, core.Errorf(core.InvalidArgument, "Number of dimensions must match second dimension of indices. Got %d dimensions, indices shape: %s", shape.Dim(0), indices.Shape().String())
	case shape.Dim(0) == 0:
		return nil, core.Errorf(core.InvalidArgument, "The shape argument requires at least one element.")
	}
	at, dims, rank := core.Data[int64](indices), core.Data[int64](shape), indices.Dim(1)
	last := int64(-1)
	for i := 0; i < len(at); i += rank {
		if at[i] < last {
			return nil, core.Errorf(core.Unimplemented, "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently supported.")
		}
		last = at[i]
	}
	if err := checkDims(dims); err != nil {
		return nil, err
	}
	d := &sparseRows{indices, values, at, rank, vector(dims[1:]), lostRows(at, rank)}
	spec := &Spec{[]core.DType{core.Int64, values.DType(), core.Int64}, []core.Shape{{-1, rank - 1}, {-1}, {rank - 1}}}
	return Indexed(spec, dims[0], d.row), nil
}

// checkDims checks the sizes of a tensor.
func checkDims(dims []int64) error {
	if len(dims) > 254 {
		return core.Errorf(core.InvalidArgument, "Too many dimensions in tensor")
	}
	n := int64(1)
	for _, d := range dims {
		if d < 0 {
			return core.Errorf(core.InvalidArgument, "Expected shape dimensions to be non-negative, got %d", d)
		}
		high, low := bits.Mul64(uint64(n), uint64(d))
		if high != 0 {
			low = math.MaxUint64
		}
		if int64(low) < 0 {
			return core.Errorf(core.InvalidArgument, "Encountered overflow when multiplying %d with %d, result: %d", n, d, int64(low))
		}
		n = int64(low)
	}
	return nil
}

// lostRows returns how many rows have no elements whatever the indices say: TensorFlow takes a row up
// when it is past the one before, and so comes too late for rows 0, 1... if there is a row -1.
func lostRows(at []int64, rank int) (n int64) {
	if len(at) == 0 || at[0] >= 0 {
		return 0
	}
	for i := 0; i < len(at) && at[i] <= n; i += rank {
		if at[i] == n {
			n++
		}
	}
	return n
}

func vector(v []int64) *core.Tensor {
	t := core.NewTensor(core.Int64, core.Shape{len(v)})
	copy(core.Data[int64](t), v)
	return t
}

// sparseRows is a sparse tensor.
type sparseRows struct {
	indices, values *core.Tensor
	at              []int64 // the indices
	rank            int
	shape           *core.Tensor // of a row
	lost            int64        // see lostRows
}

func (d *sparseRows) row(i int64) (Element, error) {
	n := d.values.Len()
	first := sort.Search(n, func(k int) bool { return d.at[k*d.rank] >= i })
	end := first
	if i >= d.lost {
		end = sort.Search(n, func(k int) bool { return d.at[k*d.rank] > i })
	}
	at := core.NewTensor(core.Int64, core.Shape{end - first, d.rank - 1})
	for k := first; k < end; k++ {
		copy(core.Data[int64](at)[(k-first)*(d.rank-1):], d.at[k*d.rank+1:(k+1)*d.rank])
	}
	values := core.NewTensor(d.values.DType(), core.Shape{end - first})
	rows.Copy(values, d.values, 0, first, end-first)
	return Element{at, values, d.shape}, nil
}

// SparseBatch makes one sparse tensor of each n elements of input, of one
// component; a dimension of row that is open is as large as it has to be. The
// tensors are the three elements of a vector of variants.
func SparseBatch(input Dataset, n int64, row core.Shape, spec *Spec) (Dataset, error) {
	if n <= 0 {
		return nil, refused("Batch size must be greater than zero.", n)
	}
	if len(input.Spec().Types) != 1 {
		return nil, core.Errorf(core.InvalidArgument, "DenseToSparseBatchDataset only supports inputs with a single component.")
	}
	join := func(list []Element) (Element, error) { return sparseBatch(list, row) }
	return &batched{derived{common{spec}, input}, n, false, join}, nil
}

func sparseBatch(list []Element, row core.Shape) (Element, error) {
	full, n := slices.Clone(row), 0
	for _, e := range list {
		s := e[0].Shape()
		if len(s) != len(row) {
			return nil, core.Errorf(core.InvalidArgument, "Input element had shape (%s) that is incompatible with the row shape (%s).", s.String(), row.String())
		}
		for i, size := range s {
			if row[i] >= 0 && size > row[i] {
				return nil, core.Errorf(core.DataLoss, "Input element had shape (%s) that is larger than the row shape (%s).", s.String(), row.String())
			}
			full[i] = max(full[i], size)
		}
		n += e[0].Len()
	}
	indices := core.NewTensor(core.Int64, core.Shape{n, len(row) + 1})
	values := core.NewTensor(list[0][0].DType(), core.Shape{n})
	at, out := 0, core.Data[int64](indices)
	for i, e := range list {
		rows.Copy(values, e[0], at, 0, e[0].Len())
		for k := range e[0].Len() {
			place := out[(at+k)*(len(row)+1):][:len(row)+1]
			place[0] = int64(i)
			unravel(place[1:], k, e[0].Shape())
		}
		at += e[0].Len()
	}
	dims := []int64{int64(len(list))}
	for _, size := range full {
		dims = append(dims, int64(size))
	}
	t := core.NewTensor(core.Variant, core.Shape{3})
	for i, part := range []*core.Tensor{indices, values, vector(dims)} {
		t.Variants()[i].Value = part
	}
	return Element{t}, nil
}

// unravel sets the indices of element k of a tensor of a shape.
func unravel(out []int64, k int, s core.Shape) {
	for i := len(s) - 1; i >= 0; i-- {
		out[i] = int64(k % s[i])
		k /= s[i]
	}
}
