package training_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/training"
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
	onlyOwn    = optest.OnlyOwn

	i32      = optest.I32
	seq      = optest.Seq
	positive = optest.Positive
	within   = optest.Within
)

func vec[T tf.Elem](v ...T) *core.Tensor             { return optest.Vec(v...) }
func mat[T tf.Elem](n int, v ...T) *core.Tensor      { return optest.Mat(n, v...) }
func arr[T tf.Elem](s tf.Shape, v ...T) *core.Tensor { return optest.Arr(s, v...) }
func scalar[T tf.Elem](v T) *core.Tensor             { return core.Scalar(v) }

const noRefs = "eager graphs hold no references"

// variableOf adds a variable and what makes x its value.
func variableOf(g *tf.Graph, x tf.Output, name string) (handle tf.Output, set *tf.Operation) {
	handle = ops.VarHandleOp(g, x.DType(), nil, ops.VarHandleOpts{SharedName: name})
	return handle, ops.AssignVariableOp(handle, x)
}

// after calls f so that what it adds runs after all of before.
func after[T any](g *tf.Graph, f func() T, before ...*tf.Operation) (out T) {
	g.ControlDependencies(before, func() { out = f() })
	return out
}
