package dataset

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestSparseSlices has what TensorFlow gives for indices and sizes without sense.
func TestSparseSlices(t *testing.T) {
	for _, c := range []struct {
		at, shape []int64
		want      string // the values of the rows, or an error
	}{
		{[]int64{0, 0, 1, 1}, []int64{3, 2}, "[0] [1] []"},
		{[]int64{1, 1, 0, 0}, []int64{-3, 2}, "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently supported."},
		{[]int64{-2, 0}, []int64{3, 2}, "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently supported."},
		{[]int64{0, 7, 3, 0}, []int64{3, 2}, "[0] [] []"},
		{[]int64{0, 0}, []int64{0, 2}, ""},
		{[]int64{-1, 0}, []int64{2, 2}, "[] []"},
		{[]int64{-1, 0, 0, 0, 1, 1, 3, 1}, []int64{5, 2}, "[] [] [] [3] []"},
		{[]int64{-1, 0, 1, 1, 3, 1}, []int64{5, 2}, "[] [1] [] [2] []"},
		{[]int64{-1, 0, -1, 1, 0, 0, 2, 1}, []int64{4, 2}, "[] [] [3] []"},
		{nil, []int64{-1, 2}, "Expected shape dimensions to be non-negative, got -1"},
		{nil, []int64{0, -2}, "Expected shape dimensions to be non-negative, got -2"},
		{nil, []int64{1 << 62, 1 << 62, 0}, "Encountered overflow when multiplying 4611686018427387904 with 4611686018427387904, result: -1"},
		{[]int64{0, 0}, []int64{2, 1 << 62}, "Encountered overflow when multiplying 2 with 4611686018427387904, result: -9223372036854775808"},
		{nil, make([]int64, 255), "Too many dimensions in tensor"},
	} {
		n := len(c.at) / len(c.shape)
		indices, values := core.NewTensor(core.Int64, core.Shape{n, len(c.shape)}), core.NewTensor(core.Int64, core.Shape{n})
		copy(core.Data[int64](indices), c.at)
		for i := range n {
			core.Data[int64](values)[i] = int64(i)
		}
		d, err := SparseSlices(indices, values, vector(c.shape))
		if err != nil {
			if got := core.AsError(err).Msg; got != c.want {
				t.Errorf("%d of %d: got error %s, want %s", c.at, c.shape, got, c.want)
			}
			continue
		}
		if got := strings.Join(rowValues(t, d), " "); got != c.want {
			t.Errorf("%d of %d: got %s, want %s", c.at, c.shape, got, c.want)
		}
	}
}

// rowValues shows the values of all rows of a sparse tensor.
func rowValues(t *testing.T, d Dataset) (out []string) {
	t.Helper()
	for _, e := range all(t, d) {
		out = append(out, strings.Split(e, ";")[1])
	}
	return out
}
