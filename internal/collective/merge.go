package collective

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf/core"
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

var mergersOf = map[core.DType]mergers{
	core.Float32: numbers[float32](elementwise.Add, elementwise.Mul, elementwise.Max, elementwise.Min, func(z []float32, n int) { elementwise.DivScalar(z, z, float32(n)) }),
	core.Float64: numbers[float64](elementwise.Add, elementwise.Mul, elementwise.Max, elementwise.Min, func(z []float64, n int) { elementwise.DivScalar(z, z, float64(n)) }),
	core.Int32:   integers[int32](),
	core.Int64:   integers[int64](),
	core.Float16: halves[core.Half](), core.BFloat16: halves[core.BF16](),
}

func numbers[T core.Elem](add, mul, greatest, least func(z, x, y []T), divide func(z []T, n int)) mergers {
	return mergers{
		by:     map[string]merger{"Add": typed(add), "Mul": typed(mul), "Max": typed(greatest), "Min": typed(least)},
		divide: func(z span, n int) { divide(elements[T](z), n) },
	}
}

func integers[T int32 | int64]() mergers {
	return numbers(elementwise.Add[T], elementwise.Mul[T], elementwise.Max[T], elementwise.Min[T], func(z []T, n int) {
		for i := range z {
			z[i] /= T(n)
		}
	})
}

// halves computes in float32, each result rounded.
func halves[H numeric.HalfFloat]() mergers {
	wide := func(f func(z, x, y []float32)) func(z, x, y []H) {
		return func(z, x, y []H) { elementwise.Widen2(z, x, y, f) }
	}
	return numbers(wide(elementwise.Add), wide(elementwise.Mul), wide(elementwise.Max), wide(elementwise.Min), func(z []H, n int) {
		elementwise.Widen1(z, z, func(z, x []float32) { elementwise.DivScalar(z, x, float32(n)) })
	})
}

func typed[T core.Elem](f func(z, x, y []T)) merger {
	return func(z, x, y span) { f(elements[T](z), elements[T](x), elements[T](y)) }
}

func elements[T core.Elem](s span) []T { return core.Data[T](s.t)[s.at : s.at+s.n] }

// find returns what merges and finishes values of p; no finisher if there is
// nothing to finish.
func find(p *core.Collective) (merger, finisher, error) {
	m, ok := mergersOf[p.Out.DType()]
	merge := m.by[p.Merge]
	switch {
	case !ok:
		return nil, nil, core.Errorf(core.Internal, "CollectiveImplementation does not support datatype %s", p.Out.DType().CName())
	case merge == nil:
		return nil, nil, core.Errorf(core.Internal, "Failed to build OpKernel for %s", p.Merge)
	case p.Final == "Div":
		return merge, m.divide, nil
	}
	return merge, nil, nil
}
