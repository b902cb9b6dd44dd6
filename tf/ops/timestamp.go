package ops

import (
	"time"

	"github.com/gorge-tf/gorge/tf"
)

func init() {
	tf.Register(tf.OpDef{
		Name: "Timestamp", Out: "ts: double", Stateful: true,
		Shape: tf.ScalarShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(stateless(timestamp)),
	})
}

// Timestamp returns the time when it runs, in seconds since 1970.
func Timestamp(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "Timestamp", nil, opts...).Output(0)
}

func timestamp(c *tf.OpContext) error {
	c.Set(0, tf.Scalar(float64(time.Now().UnixMicro())/1e6))
	return nil
}
