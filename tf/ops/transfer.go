package ops

import (
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const sendAttrs = "T: type; tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false"
	const recvAttrs = "tensor_type: type; tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false"
	for _, host := range []string{"", "Host"} {
		core.Register(core.OpDef{
			Name: "_" + host + "Send", Role: core.Sends, In: "tensor: T", Attrs: sendAttrs, Stateful: true,
			Shape: noOutputs, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(send),
		})
		core.Register(core.OpDef{
			Name: "_" + host + "Recv", Role: core.Receives, Out: "tensor: tensor_type", Attrs: recvAttrs, Stateful: true,
			Shape: noOutputs, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(recv),
		})
	}
}

var errNoRendezvous = tf.Errorf(tf.Internal, "Op kernel context needs to provide a rendezvous.")

func send(n *core.Node) (core.Kernel, error) {
	keys := rendezvous.KeyOf(n).Stem()
	return core.Compute(func(c *core.OpContext) error {
		if c.Rendezvous == nil {
			return errNoRendezvous
		}
		// A dead control input alone does not make the value dead.
		t := c.Input(0)
		return c.Rendezvous.Send(keys.Key(c.FrameID, c.Iteration), t, t == nil)
	}), nil
}

func recv(n *core.Node) (core.Kernel, error) {
	keys, want := rendezvous.KeyOf(n).Stem(), n.Type("tensor_type").Base()
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		if c.Rendezvous == nil {
			done(errNoRendezvous)
			return
		}
		c.Rendezvous.Recv(c.StepContext(), keys.Key(c.FrameID, c.Iteration), func(t *core.Tensor, dead bool, err error) {
			done(received(c, n.Name, want, t, dead, err))
		})
	}), nil
}

// received makes what arrived the output, which stays empty if it is dead.
func received(c *core.OpContext, node string, want tf.DType, t *core.Tensor, dead bool, err error) error {
	switch {
	case err != nil:
		return err
	case dead || t == nil:
		return nil
	case c.Dead:
		t.Release()
		return nil
	case t.DType() != want:
		defer t.Release()
		return tf.Errorf(tf.Internal, "Output 0 of type %s does not match declared output type %s for node {{node %s}}", t.DType().CName(), want.CName(), node)
	}
	c.Set(0, t)
	return nil
}
