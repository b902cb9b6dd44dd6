package ops_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

// The vocabulary of samples, in short.
type sample = optest.Sample

var (
	addSamples = optest.Add
	failing    = optest.Failing
	applied    = optest.Applied
	unary      = optest.Unary
	binary     = optest.Binary
	ternary    = optest.Ternary
	onlyOwn    = optest.OnlyOwn

	i32      = optest.I32
	seq      = optest.Seq
	positive = optest.Positive
	within   = optest.Within
	convert  = optest.Convert
)

func vec[T tf.Elem](v ...T) *core.Tensor             { return optest.Vec(v...) }
func mat[T tf.Elem](n int, v ...T) *core.Tensor      { return optest.Mat(n, v...) }
func arr[T tf.Elem](s tf.Shape, v ...T) *core.Tensor { return optest.Arr(s, v...) }
func scalar[T tf.Elem](v T) *core.Tensor             { return core.Scalar(v) }

// TestThreads: how work is cut must not change a bit of the results.
func TestThreads(t *testing.T) {
	const n = 70_000 // more than one task of any kernel
	axis := func(v ...int32) *core.Tensor { return vec(v...) }
	for _, s := range []sample{
		{Op: "Exp", In: []*core.Tensor{seq(n)}, F: unary(ops.Exp)},
		{Op: "AddV2", In: []*core.Tensor{seq(n), seq(n)}, F: binary(ops.AddV2)},
		{Op: "Mul", Name: "rows", In: []*core.Tensor{seq(n/70, 70), seq(70)}, F: binary(ops.Mul)},
		{Op: "Sub", Name: "outer", In: []*core.Tensor{seq(n/70, 1), seq(70)}, F: binary(ops.Sub)},
		{Op: "BiasAdd", In: []*core.Tensor{seq(n/70, 70), seq(70)}, F: binary(ops.BiasAdd)},
		{Op: "BiasAddGrad", In: []*core.Tensor{seq(700, 300)}, F: unary(ops.BiasAddGrad)},
		{Op: "Sum", Name: "all", In: []*core.Tensor{seq(n), axis(0)}, F: binary(ops.Sum[tf.Output])},
		{Op: "Sum", Name: "rows", In: []*core.Tensor{seq(3000, 70), axis(1)}, F: binary(ops.Sum[tf.Output])},
		{Op: "Mean", Name: "columns", In: []*core.Tensor{seq(700, 300), axis(0)}, F: binary(ops.Mean[tf.Output])},
		{Op: "Max", Name: "middle", In: []*core.Tensor{seq(70, 100, 30), axis(1)}, F: binary(ops.Max[tf.Output])},
		{Op: "Prod", Name: "ends", In: []*core.Tensor{small32(70, 100, 30), axis(0, 2)}, F: binary(ops.Prod[tf.Output])},
		{Op: "L2Loss", In: []*core.Tensor{seq(n)}, F: unary(ops.L2Loss)},
		{Op: "ArgMax", In: []*core.Tensor{seq(3000, 70), arr(tf.Shape{}, int32(1))}, F: binary(ops.ArgMax[tf.Output])},
		{Op: "Cumsum", In: []*core.Tensor{seq(3000, 70), arr(tf.Shape{}, int32(1))}, F: binary(ops.Cumsum[tf.Output])},
		{Op: "Softmax", In: []*core.Tensor{seq(3000, 70)}, F: unary(ops.Softmax)},
		{Op: "MatMul", In: []*core.Tensor{seq(301, 203), seq(203, 157)}, F: binary(ops.MatMul)},
		{Op: "BatchMatMulV2", In: []*core.Tensor{seq(40, 31, 53), seq(40, 53, 29)}, F: binary(ops.BatchMatMulV2)},
		{Op: "SelectV2", In: []*core.Tensor{convert(seq(n), tf.Bool), seq(n), seq(n)}, F: ternary(ops.SelectV2)},
	} {
		optest.Threads(t, s)
	}
}

// small32 returns numbers near 1, so that products stay finite.
func small32(s ...int) *core.Tensor { return within(0.99, 1.01, s...) }
