package ops

import (
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Timestamp", Out: "ts: double", Stateful: true,
		Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(stateless(timestamp)),
	})
}

// Timestamp returns the time when it runs, in seconds since 1970. The result
// is a float64 scalar, in steps of a microsecond. A nil g is refused with
// INVALID_ARGUMENT.
func Timestamp(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "Timestamp", nil, opts...).Output(0)
}

func timestamp(c *core.OpContext) error {
	c.Set(0, core.Scalar(float64(time.Now().UnixMicro())/1e6))
	return nil
}
