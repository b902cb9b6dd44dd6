package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const compute = "compute_uv: bool = true; full_matrices: bool = false; T: "
	core.Register(core.OpDef{
		Name: "Svd", In: "input: T", Out: "s: T; u: T; v: T", Attrs: compute + "{" + matrixTypes + "}",
		Shape: svdShape, Expensive: true, Grad: tf.GradFunc(svdGrad), Kernels: core.ByType("T", solved(&svdProblem, always(svd[float64]), always(svd[complex128]))),
	})
	core.Register(core.OpDef{
		Name: "BatchSvd", In: "input: T", Out: "s: T; u: T; v: T", Attrs: compute + "{" + wholeTypes + "}",
		Shape: svdShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", solved(&svdProblem, always(svd[float64]), always(svd[complex128]))),
	})
}

// SvdOpts are the optional attributes of Svd: to compute the singular values
// only, or all columns of u and v.
type SvdOpts struct{ ValuesOnly, FullMatrices bool }

// Apply sets the attributes.
func (o SvdOpts) Apply(s *tf.Spec) {
	s.Set("compute_uv", !o.ValuesOnly)
	s.Set("full_matrices", o.FullMatrices)
}

// Svd factors matrices [M N] into u·diag(s)·vᴴ, where u and v have
// orthonormal columns and s are the P singular values in descending order, P
// being the smaller of M and N. The shapes of u and v are [M P] and [N P], by
// SvdOpts [M M] and [N N]; both are empty if only values are asked for. The
// method makes matrices bidiagonal first (Golub and Kahan, 1965). x has
// floating-point or complex numbers (float32, float64, complex64, complex128)
// and may have dimensions before M and N, which the results keep with the
// type. All results are NaN for a matrix with an element that is NaN or
// infinite. A rank below 2 is refused with INVALID_ARGUMENT, when the graph
// is built if it is known, else in the step.
func Svd(x tf.Output, opts ...tf.Option) (s, u, v tf.Output) {
	op := tf.Apply(nil, "Svd", []tf.Output{x}, opts...)
	return op.Output(0), op.Output(1), op.Output(2)
}

func svdShape(c *core.Infer) error {
	s, err := atLeastMatrix(c, 0)
	if err != nil {
		return err
	}
	vectors := c.Bool("compute_uv")
	if !vectors {
		c.Set(1, tf.Shape{0})
		c.Set(2, tf.Shape{0})
	}
	if s == nil {
		return nil
	}
	batch, m, n := sizes(s)
	p := least(m, n)
	c.Set(0, append(batch, p))
	if !vectors {
		return nil
	}
	pu, pv := p, p
	if c.Bool("full_matrices") {
		pu, pv = m, n
	}
	c.Set(1, append(batch, m, pu))
	c.Set(2, append(batch, n, pv))
	return nil
}

var svdProblem = problem{
	matrices: 1, check: one, cost: cubic(20),
	results: func(node *core.Node, s []tf.Shape) []tf.Shape {
		m, n := s[0][0], s[0][1]
		p := min(m, n)
		switch {
		case !node.Bool("compute_uv"):
			return []tf.Shape{{p}}
		case node.Bool("full_matrices"):
			return []tf.Shape{{p}, {m, m}, {n, n}}
		}
		return []tf.Shape{{p}, {m, p}, {n, p}}
	},
}

func svd[T scalar](in, out []matrix[T]) error {
	a, s := in[0], out[0].data
	var u, v matrix[T]
	if len(out) > 1 {
		u, v = out[1], out[2]
	}
	if a.rows < a.cols {
		a, u, v = a.adjoint(), v, u
	}
	if !a.finite() || !singularValues(a, s, u, v) {
		for _, m := range out {
			m.fill(fromReal[T](math.NaN()))
		}
	}
	return nil
}

// singularValues computes the singular values s of a, which has at least as
// many rows as columns, and the vectors u and v if they have elements. It
// overwrites a.
func singularValues[T scalar](a matrix[T], s []T, u, v matrix[T]) bool {
	n, power := a.cols, a.moderate()
	d, e, left, right := bidiagonalize(a)
	var ub, vb matrix[float64]
	if len(u.data) > 0 || len(v.data) > 0 {
		ub, vb = identity[float64](n, n), identity[float64](n, n)
	}
	if !bidiagonalSVD(d, e, ub, vb) {
		return false
	}
	restore(d, power)
	for i, x := range d {
		s[i] = fromReal[T](x)
	}
	u.setIdentity()
	v.setIdentity()
	u.setRealAdjoint(ub)
	v.setRealAdjoint(vb)
	left.applyAll(u, 0)
	right.applyAll(v, 1)
	return true
}

// bidiagonalize returns the diagonals of a real upper bidiagonal matrix b, and
// the reflections whose products q and p give a = q·b·pᴴ. It overwrites a.
func bidiagonalize[T scalar](a matrix[T]) (d, e []float64, q, p reflections[T]) {
	m, n := a.rows, a.cols
	d, e = core.Make[float64](n), core.Make[float64](max(0, n-1))
	q, p = newReflections[T](n, m), newReflections[T](max(0, n-1), n)
	change := newRankTwo[T](n)
	for k := range n {
		x := q.v.row(k)[k:]
		for i := range x {
			x[i] = a.at(k+i, k)
		}
		tau, beta := reflect(x)
		d[k], q.tau[k] = re(beta), tau
		if k == n-1 {
			break
		}
		e[k], p.tau[k] = reflectRowsThenColumns(a.part(k, k+1, m-k, n-k-1), conj(tau), x, change.first(n-k-1), p.v.row(k)[k+1:])
	}
	return d, e, q, p
}

// reflectRowsThenColumns sets a to (1 - τ·x·xᴴ)·a and then, to its rows but the first, what makes
// that (β, 0, ... 0), in one go. It returns β and τ of the latter reflection, whose vector is y.
// The rows of change become what is added to those of a, times an element of x, and conj(y).
func reflectRowsThenColumns[T scalar](a matrix[T], tau T, x []T, change rankTwo[T], y []T) (beta float64, tauY T) {
	w, conjugated := change.rows.row(0), change.rows.row(1)
	clear(w)
	conjugate(x)
	addRows(w, x, 1, a)
	conjugate(x)
	scaleVector(w, -tau)
	copy(y, a.row(0))
	axpy(y, x[0], w)
	conjugate(y)
	tauY, b := reflect(y)
	copy(conjugated, y)
	conjugate(conjugated)
	more := conj(dot(w, conjugated))
	change.addTo(a.part(1, 0, a.rows-1, a.cols), func(i int) (T, T) {
		v := x[i+1]
		return v, -tauY * (conj(dot(a.row(i+1), conjugated)) + v*more) // the row that is multiplied with y has changed
	})
	return re(b), tauY
}
