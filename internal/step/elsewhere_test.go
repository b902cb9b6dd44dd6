package step

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// withPython has functions of which the client's process computes a part: of two
// arguments, and of none.
const withPython = `
function { signature { name: "f" input_arg { name: "x" type: DT_FLOAT } input_arg { name: "y" type: DT_FLOAT } output_arg { name: "z" type: DT_FLOAT } is_stateful: true }
	node_def { name: "neg" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
	node_def { name: "py" op: "EagerPyFunc" input: "neg:y:0" input: "y" device: "/job:client/replica:0/task:0"
		attr { key: "token" value { s: "pyfunc_7" } } attr { key: "is_async" value { b: false } }
		attr { key: "Tin" value { list { type: DT_FLOAT type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } }
	node_def { name: "twice" op: "Add" input: "py:output:0" input: "py:output:0" attr { key: "T" value { type: DT_FLOAT } } }
	ret { key: "z" value: "twice:z:0" } }
function { signature { name: "g" output_arg { name: "z" type: DT_FLOAT } is_stateful: true }
	node_def { name: "py" op: "PyFunc" device: "/job:client/replica:0/task:0"
		attr { key: "token" value { s: "pyfunc_8" } } attr { key: "Tin" value { list { } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } }
	ret { key: "z" value: "py:output:0" } }`

// client stands for the client's process: its functions add up what they get, and
// 100.
type client struct {
	t     *testing.T
	calls []string
}

func (c *client) CallRemote(_ context.Context, device string, library *core.Library, f core.Func, in []*core.Tensor) ([]*core.Tensor, error) {
	body, err := library.Body(f)
	if err != nil {
		return nil, err
	}
	for _, n := range body.Graph.GetNode() {
		if token := n.GetAttr()["token"]; token != nil {
			c.calls = append(c.calls, device+" "+n.GetOp()+" "+string(token.GetS()))
		}
	}
	if len(in) != len(body.ArgTypes) || len(body.RetTypes) != 2 {
		c.t.Errorf("%d arguments, the function takes %v and returns %v", len(in), body.ArgTypes, body.RetTypes)
	}
	sum := float32(100)
	for _, x := range in[:len(in)-1] {
		sum += core.Data[float32](x)[0]
	}
	return []*core.Tensor{core.Scalar(sum), in[len(in)-1].Share()}, nil
}

// TestFunctionsOfTheClient: a function runs here but for what the client's process
// computes, which is sent there, alone.
func TestFunctionsOfTheClient(t *testing.T) {
	def := &pb.FunctionDefLibrary{}
	if err := prototext.Unmarshal([]byte(withPython), def); err != nil {
		t.Fatal(err)
	}
	library, err := core.NewLibrary(def)
	if err != nil {
		t.Fatal(err)
	}
	home, devices := &client{t: t}, device.CPUs("localhost", 0, 1)
	rt := &Runtime{Devices: devices, Pool: memory.NewPool(1 << 20), Remote: home}
	table := rendezvous.NewLocal(devices)
	c := &caller{functions: newFunctions(rt, library, BuildOptions{}), args: Args{ID: 1, Rendezvous: table, nesting: nesting{live: &atomic.Int64{}}}, device: devices.Client().Spec().String()}
	for range 2 {
		for _, call := range []struct {
			name string
			in   []*core.Tensor
			want float32
		}{{"f", []*core.Tensor{core.Scalar[float32](3), core.Scalar[float32](5)}, 204}, {"g", nil, 100}} {
			done := make(chan []*core.Tensor, 1)
			c.Call(t.Context(), core.Func{Name: call.name}, call.in, func(out []*core.Tensor, err error) {
				if err != nil {
					t.Error(err)
				}
				done <- out
			})
			if out := <-done; len(out) != 1 || out[0].At(0) != call.want {
				t.Errorf("%s gives %v, want %v", call.name, out, call.want)
			}
		}
	}
	const at = "/job:client/replica:0/task:0/device:CPU:0 "
	if want := []string{at + "EagerPyFunc pyfunc_7", at + "PyFunc pyfunc_8", at + "EagerPyFunc pyfunc_7", at + "PyFunc pyfunc_8"}; !slices.Equal(home.calls, want) {
		t.Errorf("the client was asked for %v, want %v", home.calls, want)
	}
}
