package training

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/changes"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A rule reads the attributes of n and the scalars s, in the order of the
// inputs, and returns what updates stretches of the variables by one of the
// gradient.
type rule[T tf.Elem] func(n *core.Node, s []T) func(v [][]T, g []T)

// A step runs a rule on the inputs of one execution.
type step func(n *core.Node, in *stepInputs)

// steps holds a step by type.
type steps map[tf.DType]step

// floatSteps returns the steps of an optimizer. On 16-bit floats the rule runs
// in float32 and what it writes is rounded.
func floatSteps(f32 rule[float32], f64 rule[float64]) steps {
	return steps{
		tf.Float32: exactStep(f32), tf.Float64: exactStep(f64),
		tf.Float16: halfStep[tf.Half](f32), tf.BFloat16: halfStep[tf.BF16](f32),
	}
}

// stepInputs is what an optimizer works on, checked.
type stepInputs struct {
	c       *core.OpContext
	vars    []*core.Tensor
	next    []*core.Change // of vars
	scalars []*core.Tensor
	grad    *core.Tensor
	indices *core.Tensor // the rows that grad is for; nil: all
	rows    []int64      // indices, checked
	order   []int64      // as long as rows, for the division among goroutines
	temps   []*core.Tensor
	// parts computes the gradient part by part, of which grad only has the shape; nil: grad
	// has the elements.
	parts func(worker func() core.UpdatePart)
}

// each has the stretches of the variables updated: n elements of them from
// element at on, by those of the gradient from element from on. worker is
// called for each goroutine that takes part.
func (in *stepInputs) each(worker func() func(at, from, n int)) {
	if in.indices == nil {
		in.c.ParallelFor(in.grad.Len(), changes.Grain, func(lo, hi int) {
			update := worker()
			changes.Each(lo, hi, func(lo, hi int) { update(lo, lo, hi-lo) }, in.different()...)
		})
		return
	}
	in.eachRow(worker)
}

// different returns the variables' changes, each once.
func (in *stepInputs) different() (out []*core.Change) {
	for _, v := range in.next {
		if v.Fresh() && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func exactStep[T tf.Elem](r rule[T]) step {
	return func(n *core.Node, in *stepInputs) {
		s := make([]T, len(in.scalars))
		for i, t := range in.scalars {
			elementwise.Cast(s[i:i+1], core.AnyData(t))
		}
		worker := stretches(in.vars, r(n, s))
		if in.parts != nil {
			in.eachPart(any(worker).(func() func(at int, g []float32)))
			return
		}
		g := core.Data[T](in.grad)
		if in.single() {
			eachSingle(in, r(n, s), g)
			return
		}
		in.each(func() func(at, from, n int) {
			update := worker()
			return func(at, from, n int) { update(at, g[from:from+n]) }
		})
	}
}

// stretches returns what makes, for each goroutine, a function that updates vars from
// element at on by as many elements of a gradient as there are.
func stretches[T tf.Elem](vars []*core.Tensor, update func(v [][]T, g []T)) func() func(at int, g []T) {
	return func() func(at int, g []T) {
		all, v := make([][]T, len(vars)), make([][]T, len(vars))
		for i, t := range vars {
			all[i] = core.Data[T](t)
		}
		return func(at int, g []T) {
			for i, x := range all {
				v[i] = x[at : at+len(g)]
			}
			update(v, g)
		}
	}
}

// eachPart has the variables updated by parts of the gradient as they come.
func (in *stepInputs) eachPart(worker func() func(at int, g []float32)) {
	vars := in.different()
	in.parts(func() core.UpdatePart {
		update := worker()
		return func(at int, part []float32) {
			changes.Each(at, at+len(part), func(lo, hi int) { update(lo, part[lo-at:hi-at]) }, vars...)
		}
	})
}

// A streamRule is a rule of type Float32 whose results z go to other memory than the
// variables v, past the caches. It may return nil: there is no such loop.
type streamRule func(n *core.Node, s []float32) func(z, v [][]float32, g []float32)

// streaming returns s, whose step on Float32 follows r where all variables' values go to
// other memory.
func (s steps) streaming(r streamRule) steps {
	plain := s[tf.Float32]
	s[tf.Float32] = func(n *core.Node, in *stepInputs) {
		if in.indices == nil && in.parts == nil && changes.Streams(in.next...) {
			if update := r(n, in.floats()); update != nil {
				in.stream(update)
				return
			}
		}
		plain(n, in)
	}
	return s
}

// floats returns the scalars, of type Float32.
func (in *stepInputs) floats() []float32 {
	s := make([]float32, len(in.scalars))
	for i, t := range in.scalars {
		s[i] = core.Data[float32](t)[0]
	}
	return s
}

// stream has all elements of all variables updated.
func (in *stepInputs) stream(update func(z, v [][]float32, g []float32)) {
	g := core.Data[float32](in.grad)
	changes.Stream(in.c, len(g), func(lo, hi int) {
		z, v := make([][]float32, len(in.next)), make([][]float32, len(in.next))
		for i, x := range in.next {
			z[i], v[i] = core.Data[float32](x.T)[lo:hi], core.Data[float32](x.From())[lo:hi]
		}
		update(z, v, g[lo:hi])
	})
}

// halfBlock is how many elements are widened at a time.
const halfBlock = 256

func halfStep[H tf.Half | tf.BF16](r rule[float32]) step {
	return func(n *core.Node, in *stepInputs) {
		s := make([]float32, len(in.scalars))
		for i, t := range in.scalars {
			elementwise.Widen(s[i:i+1], core.Data[H](t)[:1])
		}
		update := r(n, s)
		in.each(func() func(at, from, n int) { return halfWorker[H](in, update) })
	}
}

// halfWorker widens variables and gradient block by block and narrows what
// update made of the variables.
func halfWorker[H tf.Half | tf.BF16](in *stepInputs, update func(v [][]float32, g []float32)) func(at, from, n int) {
	wide := core.Make[[]float32](len(in.vars) + 1)
	for i := range wide {
		wide[i] = core.Make[float32](halfBlock)
	}
	v := make([][]float32, len(in.vars))
	return func(at, from, n int) {
		for ; n > 0; n -= halfBlock {
			m := min(n, halfBlock)
			g := wide[len(v)][:m]
			elementwise.Widen(g, core.Data[H](in.grad)[from:from+m])
			for i, t := range in.vars {
				v[i] = wide[i][:m]
				elementwise.Widen(v[i], core.Data[H](t)[at:at+m])
			}
			update(v, g)
			for i, t := range in.vars {
				elementwise.Narrow(core.Data[H](t)[at:at+m], v[i])
			}
			at, from = at+m, from+m
		}
	}
}
