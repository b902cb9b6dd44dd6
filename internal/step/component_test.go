package step

import (
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestPartLeavesNoStep: a part of a function, in a step that other tasks take part in,
// leaves nothing of the step with the session that has counted its memory.
func TestPartLeavesNoStep(t *testing.T) {
	def := &pb.GraphDef{}
	if err := prototext.Unmarshal([]byte(library), def); err != nil {
		t.Fatal(err)
	}
	g, err := graph.FromProto(def)
	if err != nil {
		t.Fatal(err)
	}
	devices := device.CPUs("localhost", 0, 1)
	rt := &Runtime{Devices: devices, Pool: memory.NewSessionPool(1<<20, "a session")}
	calls := rt.NewCalls(devices.Client().Spec().String(), func() *core.Library { return g.Library })
	const id = 17
	x := core.NewTensor(core.Float32, core.Shape{100_000})
	calls.CallIn(t.Context(), Args{ID: id, Rendezvous: rendezvous.NewLocal(devices)}, core.Func{Name: "square"}, []*core.Tensor{x}, func(out []*core.Tensor, err error) {
		if err != nil || len(out) != 1 || out[0].Len() != x.Len() {
			t.Errorf("got %v, %v", out, err)
		}
	})
	if peak := rt.Pool.EndStep(id); peak != 0 {
		t.Errorf("the session still counts the step, which has held %d bytes", peak)
	}
}

// TestForgottenWhileMade: what is made of a function while that is taken out of the library
// does not serve another function of its name.
func TestForgottenWhileMade(t *testing.T) {
	libraryOf := func(op string) *core.Library {
		def := &pb.FunctionDefLibrary{}
		text := `function { signature { name: "f" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
			node_def { name: "op" op: "` + op + `" input: "x" attr { key: "T" value { type: DT_FLOAT } } } ret { key: "y" value: "op:y:0" } }`
		if err := prototext.Unmarshal([]byte(text), def); err != nil {
			t.Fatal(err)
		}
		l, err := core.NewLibrary(def)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	library := libraryOf("Neg")
	devices := device.CPUs("localhost", 0, 1)
	rt := &Runtime{Devices: devices, Pool: memory.NewSessionPool(1<<20, "a session")}
	var calls *Calls
	calls = rt.NewCalls(devices.Client().Spec().String(), func() *core.Library {
		old := library
		library = libraryOf("Square")
		calls.Forget("f")
		return old
	})
	for _, want := range []float32{-3, 9} {
		calls.Call(t.Context(), core.Func{Name: "f"}, []*core.Tensor{core.Scalar(float32(3))}, func(out []*core.Tensor, err error) {
			if err != nil || core.Data[float32](out[0])[0] != want {
				t.Errorf("got %v, %v, want %v", out, err, want)
			}
		})
	}
}
