package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// outputs adds an operation that has n outputs and returns them. If it cannot
// be added, all of them carry the error, at least one.
func outputs(n int, op string, opts []tf.Option, in ...tf.Output) []tf.Output {
	o := tf.Apply(nil, op, in, opts...)
	out := make([]tf.Output, author.Results(o, n))
	for k := range out {
		out[k] = o.Output(k)
	}
	return out
}

// invalid is the option that makes an operation fail with an error that was
// found before it could be added.
type invalid struct{ err error }

// Apply records the error.
func (i invalid) Apply(s *tf.Spec) { s.Err = i.err }

// intVec adds a constant vector of integers of type d, int32 or int64, to the
// graph of x.
func intVec(x tf.Output, d tf.DType, v ...int) tf.Output {
	return ConstValue(x.Graph(), intTensor(d, tf.Shape{len(v)}, v...))
}

// intScalar adds a constant integer of type d to the graph of x.
func intScalar(x tf.Output, d tf.DType, v int) tf.Output {
	return ConstValue(x.Graph(), intTensor(d, tf.Shape{}, v))
}

func intTensor(d tf.DType, s tf.Shape, v ...int) *core.Tensor {
	t := core.NewTensor(d, s)
	putInts(t, v)
	return t
}

// putInts sets the elements of t, int32 or int64, to v.
func putInts(t *core.Tensor, v []int) {
	if t.DType() == tf.Int64 {
		for i, dst := 0, core.Data[int64](t); i < len(v); i++ {
			dst[i] = int64(v[i])
		}
		return
	}
	for i, dst := 0, core.Data[int32](t); i < len(v); i++ {
		dst[i] = int32(v[i])
	}
}
