package dense

import (
	"gorgonia.org/tensor"

	"github.com/gorge-tf/gorge/tf"
)

// element is what is done with the elements of one of gorgonia's types.
type element struct {
	dtype tf.DType
	// slice returns the elements of data, a slice as gorgonia's Data returns it,
	// or a single value; shared reports whether they still are data's own.
	slice func(data any) (elems any, shared bool)
	// tensor copies or shares the elements that lie at strides.
	tensor func(elems any, shape tf.Shape, strides []int, share bool) (*tf.Tensor, error)
	// backing returns the elements of a tensor as a slice.
	backing func(t *tf.Tensor) any
	// fill puts a single value where holes has true.
	fill func(t *tf.Tensor, value any, holes []bool) bool
}

var elements = map[tensor.Dtype]element{
	tensor.Bool: of[bool](), tensor.String: of[string](),
	tensor.Int8: of[int8](), tensor.Int16: of[int16](), tensor.Int32: of[int32](), tensor.Int64: of[int64](),
	tensor.Uint8: of[uint8](), tensor.Uint16: of[uint16](), tensor.Uint32: of[uint32](), tensor.Uint64: of[uint64](),
	tensor.Float32: of[float32](), tensor.Float64: of[float64](), tensor.Complex64: of[complex64](), tensor.Complex128: of[complex128](),
	// Go's own integers, whose width is the machine's, travel as 64 bits.
	tensor.Int:  widened[int, int64](),
	tensor.Uint: widened[uint, uint64](),
}

// of describes elements that have the same form here and there.
func of[T tf.Elem]() element {
	return element{
		dtype: tf.TypeOf[T](),
		slice: func(data any) (any, bool) {
			if v, ok := data.(T); ok {
				return []T{v}, false
			}
			return data, true
		},
		tensor:  lay[T],
		backing: func(t *tf.Tensor) any { return tf.Data[T](t) },
		fill: func(t *tf.Tensor, value any, holes []bool) bool {
			v, ok := value.(T)
			return ok && fill(t, v, holes)
		},
	}
}

// widened describes elements of type From, which become those of type To.
func widened[From int | uint, To int64 | uint64]() element {
	return element{
		dtype: tf.TypeOf[To](),
		slice: func(data any) (any, bool) {
			if v, ok := data.(From); ok {
				return []To{To(v)}, false
			}
			in := data.([]From)
			out := make([]To, len(in))
			for i, v := range in {
				out[i] = To(v)
			}
			return out, false
		},
		tensor: lay[To],
		fill: func(t *tf.Tensor, value any, holes []bool) bool {
			v, ok := value.(From)
			return ok && fill(t, To(v), holes)
		},
	}
}

func fill[T tf.Elem](t *tf.Tensor, v T, holes []bool) bool {
	for i, hole := range holes {
		if hole {
			tf.Data[T](t)[i] = v
		}
	}
	return true
}

// convert returns the elements of d in the order of rows, in d's own memory if
// share allows it and they lie so. A mask is not looked at.
func convert(d *tensor.Dense, share bool) (*tf.Tensor, error) {
	e, ok := elements[d.Dtype()]
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "the elements of a tensor must be numbers, booleans or strings, got gorgonia's type %v", d.Dtype())
	}
	shape := tf.Shape(d.Shape())
	if shape.NumElements() == 0 { // gorgonia panics if asked for the data
		return tf.NewTensor(e.dtype, shape)
	}
	elems, own := e.slice(d.Data())
	return e.tensor(elems, shape, d.Strides(), share || !own)
}

// lay returns a tensor over the elements that lie at strides if share allows it
// and they lie row by row, else over a copy.
func lay[T tf.Elem](elems any, shape tf.Shape, strides []int, share bool) (*tf.Tensor, error) {
	v := elems.([]T)
	if !share || !contiguous(shape, strides) {
		v = gather(v, shape, strides)
	}
	t, err := tf.FromSlice(v[:shape.NumElements()])
	if err != nil {
		return nil, err
	}
	return t.Reshape(shape)
}

// contiguous reports whether strides are those of rows without a gap.
func contiguous(shape tf.Shape, strides []int) bool {
	want := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 && strides[i] != want {
			return false
		}
		want *= shape[i]
	}
	return true
}

// gather copies what lies at strides in the order of rows.
func gather[T any](v []T, shape tf.Shape, strides []int) []T {
	out := make([]T, 0, shape.NumElements())
	index, at := make([]int, len(shape)), 0
	for range cap(out) {
		out = append(out, v[at])
		for i := len(shape) - 1; i >= 0; i-- {
			index[i]++
			at += strides[i]
			if index[i] < shape[i] {
				break
			}
			at -= index[i] * strides[i]
			index[i] = 0
		}
	}
	return out
}

// backing returns the elements of t as a slice for gorgonia to stand on.
func backing(t *tf.Tensor) (any, error) {
	for _, e := range elements {
		if e.dtype == t.DType() && e.backing != nil {
			return e.backing(t), nil
		}
	}
	return nil, tf.Errorf(tf.InvalidArgument, "gorgonia has numbers, booleans and strings, none in half precision, got a tensor of type %v", t.DType())
}
