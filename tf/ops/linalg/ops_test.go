package linalg_test

import (
	"embed"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

// The vocabulary of samples, in short.
type sample = optest.Sample

type tensors = []*core.Tensor

var (
	addSamples = optest.Add
	failing    = optest.Failing
	applied    = optest.Applied
	unary      = optest.Unary
	binary     = optest.Binary

	seq    = optest.Seq
	within = optest.Within
)

func scalar[T tf.Elem](v T) *core.Tensor { return core.Scalar(v) }

// exact are the types that all but a few ops compute in.
var exact = []tf.DType{tf.Float64, tf.Complex64, tf.Complex128}

// noise returns numbers between -2 and 2 without a pattern.
func noise(s ...int) *core.Tensor {
	t := seq(s...)
	rnd := rand.New(rand.NewPCG(1, uint64(t.Len())))
	for i := range core.Data[float32](t) {
		core.Data[float32](t)[i] = 4*rnd.Float32() - 2
	}
	return t
}

// regular returns a batch of square matrices that are far from singular.
func regular(s ...int) *core.Tensor {
	t := noise(s...)
	n := s[len(s)-1]
	x := core.Data[float32](t)
	for i := range x {
		if i/n%n == i%n {
			x[i] += 4
		}
	}
	return t
}

// as returns t with elements of type d.
func as(t *core.Tensor, d tf.DType) *core.Tensor { return optest.Convert(t, d) }

// removed is why TensorFlow itself computes no Batch op any more.
const removed = "TensorFlow knows the op in old graphs only"

// TestThreads: work is shared between threads, which changes nothing.
func TestThreads(t *testing.T) {
	many := noise(100, 16, 16)
	optest.Threads(t,
		sample{Op: "Qr", In: tensors{many}, F: applied("Qr")},
		sample{Op: "MatrixTriangularSolve", In: tensors{many, noise(16, 16)}, F: applied("MatrixTriangularSolve")},
		sample{Op: "Einsum", In: tensors{many, many}, F: applied("Einsum", tf.Attr("equation", "bij,bjk->bik"))},
		sample{Op: "Cross", In: tensors{noise(9000, 3), noise(9000, 3)}, F: applied("Cross")})
}

// TestErrorInBatch: what fails for one matrix of many fails.
func TestErrorInBatch(t *testing.T) {
	g := eager.New()
	x := ops.ConstValue(g, core.NewTensor(tf.Float32, tf.Shape{50, 8, 8}))
	if err := linalg.MatrixInverse(x).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("error is %v", err)
	}
}
