package linalg_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/optest"
)

// sizesOf returns the squares of the absolute values of the elements of
// vectors: all that an eigenvector is sure of.
func sizesOf(v tf.Output) tf.Output {
	if v.DType().IsComplex() {
		return ops.Mul(v, ops.Conj(v))
	}
	return ops.Square(v)
}

const asksForShape = "the gradient asks for it"

// vectors makes the function of a sample of SelfAdjointEigV2.
func vectors(opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		e, v := linalg.SelfAdjointEigV2(in[0], opts...)
		if len(opts) > 0 {
			return []tf.Output{e} // TensorFlow gives v another shape than it says
		}
		return []tf.Output{e, sizesOf(v)}
	}
}

// singularVectors makes the function of a sample of Svd.
func singularVectors(s tf.Shape, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		in[0].SetShape(s)
		s, u, v := linalg.Svd(in[0], opts...)
		if len(opts) > 0 && opts[0] == tf.Option(linalg.SvdOpts{ValuesOnly: true}) {
			return []tf.Output{s}
		}
		return []tf.Output{s, sizesOf(u), sizesOf(v)}
	}
}

func init() {
	addSelfAdjoint()
	addEig()
	addSvd()
}

func notNumbers(v float64) *core.Tensor { return optest.Mat[float32](2, float32(v), 1, 2, 3) }

func addSelfAdjoint() {
	const op = "SelfAdjointEigV2"
	only := linalg.VectorsOpts{ValuesOnly: true}
	addSamples(
		sample{Op: op, In: tensors{noise(2, 3, 3)}, F: vectors(), Tol: 5e-5},
		sample{Op: op, Name: "values", In: tensors{noise(4, 4)}, F: vectors(only), Types: exact, Tol: 1e-5},
		sample{Op: op, Name: "one", In: tensors{noise(1, 1)}, F: vectors(), Types: exact},
		sample{Op: op, Name: "nothing", In: tensors{seq(2, 0, 0)}, F: vectors()},
		sample{Op: op, Name: "equal", In: tensors{optest.Mat[float32](2, 2, 5, 0, 2)}, F: vectors(), Rough: "the eigenvalues are equal"},
		sample{Op: op, Name: "infinite", In: tensors{notNumbers(math.Inf(1))}, F: vectors(), Rough: "there are no eigenvalues"},
		sample{Op: "SelfAdjointEig", In: tensors{noise(2, 3, 3)}, F: applied("SelfAdjointEig"), NoGolden: removed},
		sample{Op: "BatchSelfAdjointEig", In: tensors{noise(2, 3, 3)}, F: applied("BatchSelfAdjointEig"), NoGolden: removed},
		sample{Op: "BatchSelfAdjointEigV2", In: tensors{noise(2, 3, 3)}, F: applied("BatchSelfAdjointEigV2"), NoGolden: removed},
		failing(op, "vector", applied(op), seq(3)),
		failing(op, "not square", applied(op), seq(3, 2)),
		failing(op, "NaN", applied(op), notNumbers(math.NaN())))
}

// inOrder makes the function of a sample of Eig: what doesn't depend on the
// order of the eigenvalues.
func inOrder(opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		e, v := linalg.Eig(in[0], opts...)
		axis := ops.ConstValue(g, scalar(int32(-1)))
		sums := []tf.Output{ops.Sum(e, axis), ops.Sum(ops.Mul(e, e), axis), ops.Prod(e, axis)}
		if len(opts) == 0 {
			each := sizesOf(v)
			return append(sums, ops.Sum(each, axis), ops.Sum(ops.Mul(each, each), axis))
		}
		return sums
	}
}

func addEig() {
	const op, isComplex = "Eig", "results are complex"
	for name, x := range map[string]*core.Tensor{"": noise(2, 3, 3), "four": noise(4, 4), "one": noise(1, 1), "rotation": optest.Mat[float32](2, 0, 1, -1, 0)} {
		addSamples(
			sample{Op: op, Name: name, In: tensors{x}, F: inOrder(), Types: exact, Tol: 2e-4, Rough: isComplex},
			sample{Op: op, Name: name + " values", In: tensors{x}, F: inOrder(linalg.VectorsOpts{ValuesOnly: true}), Types: exact, Tol: 2e-5, Rough: isComplex})
	}
	addSamples(
		sample{Op: op, Name: "nothing", In: tensors{seq(2, 0, 0)}, F: inOrder(), Rough: isComplex},
		sample{Op: op, Name: "defective", In: tensors{as(optest.Mat[float32](2, 2, 1, 0, 2), tf.Float64)}, F: inOrder(linalg.VectorsOpts{ValuesOnly: true}), Rough: "the eigenvalues are equal"},
		failing(op, "vector", eigs, seq(3)),
		failing(op, "too exact", applied(op, tf.Attr("Tout", tf.Complex128)), seq(2, 2)),
		failing(op, "too inexact", applied(op, tf.Attr("Tout", tf.Complex64)), as(seq(2, 2), tf.Float64)),
		failing(op, "not square", eigs, seq(3, 2)),
		failing(op, "NaN", eigs, notNumbers(math.NaN())),
		failing(op, "infinite", eigs, notNumbers(math.Inf(1))),
		sample{Op: op, Name: "infinite complex", In: tensors{as(notNumbers(math.Inf(1)), tf.Complex64)}, F: inOrder(linalg.VectorsOpts{ValuesOnly: true}), NoGolden: "TensorFlow's are any", Rough: "there are no eigenvalues"})
}

func eigs(_ *tf.Graph, in []tf.Output) []tf.Output {
	e, v := linalg.Eig(in[0])
	return []tf.Output{e, v}
}

func addSvd() {
	const op = "Svd"
	full, only := linalg.SvdOpts{FullMatrices: true}, linalg.SvdOpts{ValuesOnly: true}
	for _, s := range []struct {
		name string
		x    *core.Tensor
	}{
		{"square", noise(2, 3, 3)}, {"wide", noise(2, 3)}, {"deep", noise(4, 3)}, {"row", noise(1, 2)}, {"one", noise(1, 1)},
	} {
		shape := s.x.Shape()
		addSamples(
			sample{Op: op, Name: s.name, In: tensors{s.x}, F: singularVectors(shape), Types: exact, Tol: 5e-5, Static: asksForShape},
			sample{Op: op, Name: s.name + " full", In: tensors{s.x}, F: singularVectors(shape, full), Types: exact, Tol: 5e-5, Static: asksForShape},
			sample{Op: op, Name: s.name + " values", In: tensors{s.x}, F: singularVectors(shape, only), Types: exact, Tol: 1e-5, Static: asksForShape})
	}
	for name, x := range map[string]*core.Tensor{"nothing": seq(0, 3), "no columns": seq(3, 0), "NaN": notNumbers(math.NaN())} {
		addSamples(sample{Op: op, Name: name, In: tensors{x}, F: singularVectors(x.Shape(), full), Rough: "there are no values", Static: asksForShape})
	}
	addSamples(
		sample{Op: op, Name: "much wider", In: tensors{noise(2, 5)}, F: singularVectors(tf.Shape{2, 5}), Tol: 5e-5, Static: asksForShape},
		sample{Op: op, Name: "zero", In: tensors{singular}, F: singularVectors(singular.Shape()), Rough: "the values are equal", Static: asksForShape},
		sample{Op: "BatchSvd", In: tensors{noise(2, 3, 3)}, F: applied("BatchSvd"), NoGolden: removed},
		failing(op, "vector", applied(op), seq(3)))
}
