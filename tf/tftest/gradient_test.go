package tftest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// TestSquareWrong is an op for which a wrong gradient function is registered.
func init() {
	core.Register(core.OpDef{
		Name: "TestSquareWrong", In: "x: double", Out: "y: double",
		Shape: func(c *core.Infer) error { c.Set(0, c.In(0)); return nil },
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
			return core.Compute(func(c *core.OpContext) error {
				out, err := c.Alloc(0, tf.Float64, c.Input(0).Shape())
				if err != nil {
					return err
				}
				for i, v := range core.Data[float64](c.Input(0)) {
					core.Data[float64](out)[i] = v * v
				}
				return nil
			}), nil
		}),
		Grad: tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient {
			return tf.Grads(ops.Mul(dy[0], op.Input(0))) // the factor 2 is missing
		}),
	})
}

func matrix(t *testing.T, rows, cols int) *tf.Tensor {
	t.Helper()
	data := make([]float64, rows*cols)
	for i := range data {
		data[i] = float64(i)/7 - 0.6
	}
	m, err := tf.FromSlice(data, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGradientsOfProduct(t *testing.T) {
	tftest.Gradients(t, eager.New(), func(x []tf.Output) tf.Output {
		return ops.Mul(ops.MatMul(x[0], x[1]), ops.MatMul(x[0], x[1]))
	}, matrix(t, 2, 3), matrix(t, 3, 2))
}

func TestGradientsOfComplexProduct(t *testing.T) {
	x, err := tf.FromSlice([]complex128{1 + 2i, -0.5i, 3})
	if err != nil {
		t.Fatal(err)
	}
	tftest.Gradients(t, eager.New(), func(x []tf.Output) tf.Output { return ops.Mul(x[0], ops.Mul(x[0], x[1])) }, x, x)
}

func TestGradientsOfUnconnectedInput(t *testing.T) {
	tftest.Gradients(t, eager.New(), func(x []tf.Output) tf.Output { return ops.Neg(x[0]) }, matrix(t, 1, 2), matrix(t, 2, 1))
}

// recorder hears what a test would report.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                        {}
func (r *recorder) Error(args ...any)              { r.said += fmt.Sprint(args...) }
func (r *recorder) Errorf(form string, arg ...any) { r.said += fmt.Sprintf(form, arg...) }

func TestGradientsNoticeWrongOnes(t *testing.T) {
	r := &recorder{}
	wrong := func(x []tf.Output) tf.Output { return tf.Apply(nil, "TestSquareWrong", x).Output(0) }
	if tftest.Gradients(r, eager.New(), wrong, matrix(t, 2, 2)) || !strings.Contains(r.said, "gradient for input 0") {
		t.Errorf("a wrong gradient passed: %q", r.said)
	}
}

func TestGradientsReportErrors(t *testing.T) {
	r := &recorder{}
	bad := func(x []tf.Output) tf.Output { return ops.MatMul(x[0], x[0]) }
	if tftest.Gradients(r, eager.New(), bad, matrix(t, 2, 3)) || !strings.Contains(r.said, "MatMul") {
		t.Errorf("an error was not reported: %q", r.said)
	}
}
