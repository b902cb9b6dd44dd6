package ops_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// kernelOf makes the kernel of a node that has no graph.
func kernelOf(t *testing.T, op string, attrs core.Attrs) (*core.Node, core.Kernel) {
	t.Helper()
	n, err := core.NewNode("n", op, attrs)
	if err != nil {
		t.Fatal(err)
	}
	find, err := core.FindKernel("CPU", n)
	if err != nil {
		t.Fatal(err)
	}
	k, err := find(n)
	if err != nil {
		t.Fatal(err)
	}
	return n, k
}

// compute runs a kernel that does not wait.
func compute(k core.Kernel, c *core.OpContext) (err error) {
	if k, ok := k.(core.AsyncCompute); ok {
		err = errors.New("done was not called")
		k(c, func(e error) { err = e })
		return err
	}
	return k.(core.Compute)(c)
}

// post is a rendezvous of one sender and one receiver in one goroutine.
type post struct {
	key  string
	t    *core.Tensor
	dead bool
	err  error
}

func (p *post) Send(key string, t *core.Tensor, dead bool) error {
	p.key, p.t, p.dead = key, t, dead
	return p.err
}

func (p *post) Recv(_ context.Context, key string, done func(*core.Tensor, bool, error)) {
	if p.err == nil && key != p.key {
		p.err = tf.Errorf(tf.NotFound, "asked for %s, there is %s", key, p.key)
	}
	done(p.t, p.dead, p.err)
}

func transferAttrs(typ string) core.Attrs {
	incarnation := uint64(0xfedcba9876543210)
	return core.Attrs{
		typ: tf.Float32, "tensor_name": "edge_5_w", "send_device": "/job:ps/replica:0/task:1/device:CPU:0",
		"send_device_incarnation": int64(incarnation), "recv_device": "/job:worker/replica:0/task:0/device:CPU:0",
	}
}

const edge = "/job:ps/replica:0/task:1/device:CPU:0;fedcba9876543210;/job:worker/replica:0/task:0/device:CPU:0;edge_5_w;"

func TestTransfer(t *testing.T) {
	for _, host := range []string{"", "Host"} {
		from, send := kernelOf(t, "_"+host+"Send", transferAttrs("T"))
		to, recv := kernelOf(t, "_"+host+"Recv", transferAttrs("tensor_type"))
		for _, tc := range []struct {
			frame     uint64
			iteration int64
			key       string
		}{{0, 0, edge + "0:0"}, {18186195969791715286, 12, edge + "18186195969791715286:12"}} {
			p := &post{}
			step := &core.Step{Rendezvous: p}
			x := vec[float32](1, 2)
			c := &core.OpContext{Step: step, Node: from, In: []core.Slot{{T: x}}, FrameID: tc.frame, Iteration: tc.iteration}
			if err := compute(send, c); err != nil || p.key != tc.key || p.t != x || p.dead {
				t.Errorf("sent %v as %q, dead %v: %v", p.t, p.key, p.dead, err)
			}
			c = &core.OpContext{Step: step, Node: to, Out: make([]core.Slot, 1), FrameID: tc.frame, Iteration: tc.iteration}
			if err := compute(recv, c); err != nil || c.Out[0].T != x {
				t.Errorf("received %v: %v", c.Out[0].T, err)
			}
		}
	}
}

// TestTransferDead: a dead value is sent as such; a send that is dead by a
// control input alone has a live value.
func TestTransferDead(t *testing.T) {
	n, send := kernelOf(t, "_Send", transferAttrs("T"))
	p := &post{}
	step := &core.Step{Rendezvous: p}
	for _, x := range []*core.Tensor{nil, vec[float32](1)} {
		c := &core.OpContext{Step: step, Node: n, In: []core.Slot{{T: x}}, Dead: true}
		if err := compute(send, c); err != nil || p.dead != (x == nil) || p.t != x {
			t.Errorf("sending %v: sent %v, dead %v: %v", x, p.t, p.dead, err)
		}
	}
	n, recv := kernelOf(t, "_Recv", transferAttrs("tensor_type"))
	for _, tc := range []struct{ came, self bool }{{true, false}, {true, true}, {false, true}} {
		p := &post{key: edge + "0:0", t: vec[float32](1), dead: tc.came}
		c := &core.OpContext{Step: &core.Step{Rendezvous: p}, Node: n, Out: make([]core.Slot, 1), Dead: tc.self}
		if err := compute(recv, c); err != nil || c.Out[0].T != nil {
			t.Errorf("%+v: received %v: %v", tc, c.Out[0].T, err)
		}
	}
}

func TestTransferErrors(t *testing.T) {
	n, recv := kernelOf(t, "_Recv", transferAttrs("tensor_type"))
	aborted := tf.Errorf(tf.Aborted, "step over")
	for name, tc := range map[string]struct {
		r    core.Rendezvous
		want tf.Code
	}{
		"no rendezvous": {nil, tf.Internal},
		"aborted":       {&post{err: aborted}, tf.Aborted},
		"another type":  {&post{key: edge + "0:0", t: vec[int64](1, 2)}, tf.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			c := &core.OpContext{Step: &core.Step{Rendezvous: tc.r}, Node: n, Out: make([]core.Slot, 1)}
			if err := compute(recv, c); tf.CodeOf(err) != tc.want || c.Out[0].T != nil {
				t.Errorf("received %v: %v, want an error of code %v", c.Out[0].T, err, tc.want)
			}
		})
	}
	n, send := kernelOf(t, "_Send", transferAttrs("T"))
	c := &core.OpContext{Step: &core.Step{}, Node: n, In: []core.Slot{{T: vec[float32](1)}}}
	if err := compute(send, c); tf.CodeOf(err) != tf.Internal {
		t.Errorf("sending without a rendezvous: %v", err)
	}
}

// frame holds one argument and one result.
type frame struct{ arg, ret *core.Tensor }

func (f *frame) Arg(i int) (*core.Tensor, error) {
	if i != 3 {
		return nil, tf.Errorf(tf.OutOfRange, "no argument %d", i)
	}
	return f.arg, nil
}

func (f *frame) SetRetval(i int, t *core.Tensor) error {
	f.ret = t.Share()
	return nil
}

func TestFrame(t *testing.T) {
	attrs := func(i int) core.Attrs { return core.Attrs{"T": tf.Float32, "index": int64(i)} }
	f := &frame{arg: vec[float32](1, 2)}
	step := &core.Step{Frame: f}
	n, arg := kernelOf(t, "_Arg", attrs(3))
	c := &core.OpContext{Step: step, Node: n, Out: make([]core.Slot, 1)}
	if err := compute(arg, c); err != nil || !core.TensorsEqual(c.Out[0].T, f.arg) {
		t.Errorf("argument is %v: %v", c.Out[0].T, err)
	}
	if c.Out[0].T == f.arg {
		t.Error("the argument itself, which stays the frame's, went into the graph")
	}
	n, ret := kernelOf(t, "_Retval", attrs(0))
	c = &core.OpContext{Step: step, Node: n, In: []core.Slot{{T: f.arg}}}
	if err := compute(ret, c); err != nil || !core.TensorsEqual(f.ret, f.arg) {
		t.Errorf("result is %v: %v", f.ret, err)
	}
	testFrameErrors(t)
}

func testFrameErrors(t *testing.T) {
	ints := &core.Step{Frame: &frame{arg: vec[int64](1, 2)}}
	for _, op := range []string{"_Arg", "_Retval"} {
		n, k := kernelOf(t, op, core.Attrs{"T": tf.Float32, "index": int64(3)})
		c := &core.OpContext{Step: ints, Node: n, In: []core.Slot{{T: vec[int64](1, 2)}}, Out: make([]core.Slot, 1)}
		if err := compute(k, c); tf.CodeOf(err) != tf.InvalidArgument || tf.AsError(err).Message() != "Type mismatch: actual int64 vs. expect float" {
			t.Errorf("%s of another type: %v", op, err)
		}
		c.Step = &core.Step{}
		if err := compute(k, c); tf.CodeOf(err) != tf.Internal {
			t.Errorf("%s without a frame: %v", op, err)
		}
	}
}

func TestPlaceholder(t *testing.T) {
	for _, tc := range []struct {
		shape tf.Shape
		want  string
	}{
		{nil, "You must feed a value for placeholder tensor 'n' with dtype float"},
		{tf.Shape{}, "You must feed a value for placeholder tensor 'n' with dtype float"},
		{tf.Shape{-1, 3}, "You must feed a value for placeholder tensor 'n' with dtype float and shape [?,3]"},
	} {
		for _, op := range []string{"Placeholder", "PlaceholderV2"} {
			_, k := kernelOf(t, op, core.Attrs{"dtype": tf.Float32, "shape": tc.shape})
			err := compute(k, &core.OpContext{})
			if tf.CodeOf(err) != tf.InvalidArgument || tf.AsError(err).Message() != tc.want {
				t.Errorf("%s of shape %v: %v", op, tc.shape, err)
			}
		}
	}
}
