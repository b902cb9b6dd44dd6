package collective

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
)

// A merger sets z to an op of x and y, which are equally long.
type merger func(z, x, y span)

// A finisher divides z by n, in place.
type finisher func(z span, n int)

// mergers are those of one type.
type mergers struct {
	by     map[string]merger
	divide finisher
}

var mergersOf = map[tf.DType]mergers{
	tf.Float32: numbers[float32](kernel.Add, kernel.Mul, kernel.Max, kernel.Min, func(z []float32, n int) { kernel.DivScalar(z, z, float32(n)) }),
	tf.Float64: numbers[float64](kernel.Add, kernel.Mul, kernel.Max, kernel.Min, func(z []float64, n int) { kernel.DivScalar(z, z, float64(n)) }),
	tf.Int32:   integers[int32](),
	tf.Int64:   integers[int64](),
	tf.Float16: halves[tf.Half](), tf.BFloat16: halves[tf.BF16](),
}

func numbers[T tf.Elem](add, mul, greatest, least func(z, x, y []T), divide func(z []T, n int)) mergers {
	return mergers{
		by:     map[string]merger{"Add": typed(add), "Mul": typed(mul), "Max": typed(greatest), "Min": typed(least)},
		divide: func(z span, n int) { divide(elements[T](z), n) },
	}
}

func integers[T int32 | int64]() mergers {
	return numbers(kernel.Add[T], kernel.Mul[T], kernel.Max[T], kernel.Min[T], func(z []T, n int) {
		for i := range z {
			z[i] /= T(n)
		}
	})
}

// halves computes in float32, each result rounded.
func halves[H kernel.HalfFloat]() mergers {
	wide := func(f func(z, x, y []float32)) func(z, x, y []H) {
		return func(z, x, y []H) { kernel.Widen2(z, x, y, f) }
	}
	return numbers(wide(kernel.Add), wide(kernel.Mul), wide(kernel.Max), wide(kernel.Min), func(z []H, n int) {
		kernel.Widen1(z, z, func(z, x []float32) { kernel.DivScalar(z, x, float32(n)) })
	})
}

func typed[T tf.Elem](f func(z, x, y []T)) merger {
	return func(z, x, y span) { f(elements[T](z), elements[T](x), elements[T](y)) }
}

func elements[T tf.Elem](s span) []T { return tf.Data[T](s.t)[s.at : s.at+s.n] }

// find returns what merges and finishes values of p; no finisher if there is
// nothing to finish.
func find(p *tf.Collective) (merger, finisher, error) {
	m, ok := mergersOf[p.Out.DType()]
	merge := m.by[p.Merge]
	switch {
	case !ok:
		return nil, nil, tf.Errorf(tf.Internal, "CollectiveImplementation does not support datatype %s", p.Out.DType().CName())
	case merge == nil:
		return nil, nil, tf.Errorf(tf.Internal, "Failed to build OpKernel for %s", p.Merge)
	case p.Final == "Div":
		return merge, m.divide, nil
	}
	return merge, nil, nil
}
