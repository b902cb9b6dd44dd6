package session

import "github.com/gorge-tf/gorge/tf"

// A SparseTensor names the outputs that are a sparse tensor together: the
// elements at Indices, an int64 matrix with a row for each, are Values, those
// elsewhere are zero.
type SparseTensor struct{ Indices, Values, DenseShape tf.Output }

// A SparseTensorValue is the value of a SparseTensor. FetchAs returns it for
// one.
type SparseTensorValue struct{ Indices, Values, DenseShape *tf.Tensor }

// An IndexedSlicesValue is the value of a [tf.IndexedSlices]; DenseShape is nil
// if the slices do not know the shape of the whole. FetchAs returns it for one.
type IndexedSlicesValue struct{ Values, Indices, DenseShape *tf.Tensor }

// AddSparse feeds a sparse tensor. It returns f.
func (f Feeds) AddSparse(x SparseTensor, v SparseTensorValue) Feeds {
	f[x.Indices], f[x.Values], f[x.DenseShape] = v.Indices, v.Values, v.DenseShape
	return f
}

// AddSlices feeds indexed slices. It returns f.
func (f Feeds) AddSlices(x tf.IndexedSlices, v IndexedSlicesValue) Feeds {
	f[x.Values], f[x.Indices] = v.Values, v.Indices
	if x.DenseShape.Operation() != nil {
		f[x.DenseShape] = v.DenseShape
	}
	return f
}
