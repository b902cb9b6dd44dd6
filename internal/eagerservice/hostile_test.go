package eagerservice

import (
	"math"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// alias is what a client may call the first device, which its task does not.
const alias = "/job:worker/task:0/device:CPU:0"

// hostileClient has a context whose cluster lists devices under names that tasks do not
// use, and a function that runs in several tasks.
func hostileClient(t *testing.T, twist func(f *pb.FunctionDef)) (*client, *pb.FunctionDef) {
	t.Helper()
	s := newService(t)
	c := &client{t: t, s: s, id: 7}
	req := c.creation()
	req.ClusterDeviceAttributes = append(req.ClusterDeviceAttributes, &pb.DeviceAttributes{}, &pb.DeviceAttributes{Name: alias})
	if _, err := s.CreateContext(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	f := double(t)
	twist(f)
	if _, err := c.enqueue(registering(f, nil, false)); err != nil {
		t.Fatal(err)
	}
	return c, f
}

// TestFrameOfBody: a body that brings nodes of arguments and results which its signature
// does not have is refused.
func TestFrameOfBody(t *testing.T) {
	for op, text := range map[string]string{"_Arg": "Argument index 100 is out of range: the call has 1", "_Retval": "Result index 100 is out of range: the call has 1"} {
		c, f := hostileClient(t, func(f *pb.FunctionDef) {
			n := &pb.NodeDef{Name: "more", Op: op, Attr: map[string]*pb.AttrValue{"T": {Value: &pb.AttrValue_Type{Type: 1}}, "index": {Value: &pb.AttrValue_I{I: 100}}}}
			if op == "_Retval" {
				n.Input = []string{f.GetSignature().GetInputArg()[0].GetName()}
			}
			f.NodeDef = append(f.NodeDef, n)
			f.Signature.ControlOutput, f.ControlRet = []string{"more"}, map[string]string{"more": "more"}
		})
		_, err := c.enqueue(item(c.callOf(f, &pb.RemoteTensorHandle{OpId: 1, Device: chief, OpDevice: chief, Dtype: 1})))
		wantError(t, err, core.InvalidArgument, text)
	}
}

// TestAliases: what a client says is on a device of another task must not be taken for a
// value of this one, also where a call before brought a value for the same place.
func TestAliases(t *testing.T) {
	c, f := hostileClient(t, func(*pb.FunctionDef) {})
	_, err := c.enqueue(item(c.callOf(f, &pb.RemoteTensorHandle{OpId: 1, Device: alias, OpDevice: alias, Dtype: 1})))
	wantError(t, err, core.InvalidArgument, "an argument of another task must be on a device of that task, argument 0 is on \""+alias+`", which stands for `+cpu+" here")

	d := deviceOf(c)
	here := &operation{device: d, in: []input{{value: value{tensor: floats(1), device: d}}}}
	there := &operation{device: d, in: []input{{remote: &pb.RemoteTensorHandle{Device: cpu}}}}
	if here.in[0].place() != there.in[0].place() || string(spreadKey(here, core.Func{})) == string(spreadKey(there, core.Func{})) {
		t.Error("the keys of a call with a value, and with one that is elsewhere, are equal")
	}
	_, err = c.enqueue(packing(&pb.SendPackedHandleOp_Handle{}, &pb.SendPackedHandleOp_Handle{}))
	wantError(t, err, core.InvalidArgument, " unknown device.")
}

// TestSeparators: texts of clients cannot make the keys of two calls equal.
func TestSeparators(t *testing.T) {
	d := deviceOf(newClient(t, newService(t), 7))
	at := func(places ...string) *operation {
		op := &operation{device: d}
		for _, p := range places {
			op.in = append(op.in, input{remote: &pb.RemoteTensorHandle{Device: p}})
		}
		return op
	}
	keys := map[string]bool{}
	for _, op := range []*operation{at("a", "b"), at("a\x00b"), at("a\x00\x01b"), at("a\x00\x00\x01\x01b"), at("ab"), at("", "ab")} {
		keys[string(spreadKey(op, core.Func{Name: "f"}))] = true
	}
	keys[string(spreadKey(at(), core.Func{Name: "f\x00a"}))] = true
	if len(keys) != 7 {
		t.Errorf("7 calls have %d keys", len(keys))
	}
}

// deviceOf returns the first device of a client's context.
func deviceOf(c *client) core.Device { return contextOf(c.s, c.id).session.Devices().Client() }

// TestPlaceholdersRunNot: an attribute that stands for one of a function has no value
// outside.
func TestPlaceholdersRunNot(t *testing.T) {
	c := newClient(t, newService(t), 7)
	c.fails(core.InvalidArgument, `attr "N" of Pack must have a value outside of functions, got the placeholder "n"`, "Pack", core.Attrs{"T": core.Float32, "N": core.Placeholder("n")})
}

// TestLongTimes: a client that asks for longer than a Duration holds does not get less.
func TestLongTimes(t *testing.T) {
	for n, want := range map[int64]time.Duration{
		-1: 0, 0: 0, 3: 3 * time.Second, math.MinInt64: 0, 18446744074: 9223372036 * time.Second, math.MaxInt64: 9223372036 * time.Second,
	} {
		if got := duration(n, time.Second); got != want {
			t.Errorf("%d s are %v, want %v", n, got, want)
		}
	}
	s := newService(t)
	c := &client{t: t, s: s, id: 7}
	req := c.creation()
	req.KeepAliveSecs = 18446744074
	req.ServerDef = &pb.ServerDef{DefaultSessionConfig: &pb.ConfigProto{OperationTimeoutInMs: 18446744073710}}
	if _, err := s.CreateContext(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := contextOf(s, 7); got.keepAlive < 24*time.Hour || got.timeout < 24*time.Hour {
		t.Errorf("a context lasts %v, its calls %v", got.keepAlive, got.timeout)
	}
}

// TestPlaceErrors: an operation for a device that the task has not ends with the error
// that TensorFlow's placement gives.
func TestPlaceErrors(t *testing.T) {
	c := newClient(t, newService(t), 7)
	op := c.operation("Square", core.Attrs{"T": core.Float32}, floats(1))
	op.Device = "/device:GPU:0"
	_, err := c.enqueue(item(op))
	wantError(t, err, core.InvalidArgument, "Could not satisfy device specification '/device:GPU:0'. enable_soft_placement=0. Supported device types [CPU]. All available devices ["+cpu+", "+second+"].")
}
