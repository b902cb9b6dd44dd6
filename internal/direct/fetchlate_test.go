package direct

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// counted is a graph of a variable "v" of the reference kind and its "read", on a device, which
// "up" increments by what is fed as "x".
func counted(t *testing.T, device string) (g *tf.Graph, v, read tf.Output) {
	g = tf.NewGraph()
	g.Device(device, func() {
		v = tf.Apply(g, "VariableV2", nil, tf.Attr("dtype", core.Float32), tf.Attr("shape", core.Shape{}), tf.Name("v")).Output(0)
		tf.Apply(g, "Assign", []tf.Output{v, ops.Scalar[float32](g, 1)}, tf.Name("init"))
		read = ops.Identity(v, tf.Name("read"))
	})
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	tf.Apply(g, "AssignAdd", []tf.Output{v, x}, tf.Name("up"))
	return g, v, read
}

// TestFetchedWithItsUpdate: a variable of the reference kind has, fetched in the
// step that changes it, the value that the step leaves, directly or through
// views; what is computed of it has not.
func TestFetchedWithItsUpdate(t *testing.T) {
	for _, device := range []string{"/device:CPU:0", "/device:CPU:1"} {
		g, v, read := counted(t, device)
		ops.Identity(read, tf.Name("again"))
		ops.Reshape(ops.ExpandDims(read, ops.Scalar[int32](g, 0)), ops.Const(g, []int32{}), tf.Name("view"))
		ops.Neg(read, tf.Name("computed"))
		ops.Identity(v, tf.Name("elsewhere"), tf.OnDevice("/device:CPU:0"))
		s := open(t, g, 2)
		if _, err := s.Run(t.Context(), pass.Signature{Targets: []string{"init"}}, nil); err != nil {
			t.Fatal(err)
		}
		names := []string{"v:0", "read:0", "again:0", "view:0", "up:0", "elsewhere:0", "computed:0"}
		for step := range 3 {
			before := float32(1 + 10*step)
			got, err := s.Run(t.Context(), pass.Signature{Feeds: []string{"x:0"}, Fetches: names, Targets: []string{"up"}}, scalars(10))
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range names {
				want := before + 10
				if name == "computed:0" {
					if want = -before; device != "/device:CPU:0" {
						continue // the update may come before the read
					}
				}
				if got[i].At(0) != want {
					t.Errorf("%s, step %d: %s is %v, want %v", device, step, name, got[i], want)
				}
			}
		}
	}
}

// TestFetchedAfterWaiting: that holds too where the update waits for another
// device, which the fetch does not.
func TestFetchedAfterWaiting(t *testing.T) {
	g, v, _ := counted(t, "/device:CPU:1")
	far := ops.Neg(ops.Neg(g.Operation("x").Output(0), tf.OnDevice("/device:CPU:0")), tf.OnDevice("/device:CPU:0"))
	tf.Apply(g, "AssignSub", []tf.Output{v, far}, tf.Name("down"))
	s := open(t, g, 2)
	if _, err := s.Run(t.Context(), pass.Signature{Targets: []string{"init"}}, nil); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(t.Context(), pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"read:0"}, Targets: []string{"down"}}, scalars(10))
	if err != nil || got[0].At(0) != float32(-9) {
		t.Errorf("got %v, %v, want -9", got, err)
	}
}

// TestFetchedInPieces: a fetch that a client waits for before it feeds the rest
// does not wait for the rest.
func TestFetchedInPieces(t *testing.T) {
	g, _, _ := counted(t, "/device:CPU:0")
	s := open(t, g, 1)
	if _, err := s.Run(t.Context(), pass.Signature{Targets: []string{"init"}}, nil); err != nil {
		t.Fatal(err)
	}
	p, err := s.PartialRun(t.Context(), pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"read:0", "up:0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got, err := p.Run(t.Context(), nil, nil, []string{"read:0"})
	if err != nil || got[0].At(0) != float32(1) {
		t.Errorf("first piece: %v, %v, want 1", got, err)
	}
	got, err = p.Run(t.Context(), []string{"x:0"}, scalars(10), []string{"up:0"})
	if err != nil || got[0].At(0) != float32(11) {
		t.Errorf("second piece: %v, %v, want 11", got, err)
	}
}

// TestFetchedTemporary: a variable that the step itself destroys is read before.
func TestFetchedTemporary(t *testing.T) {
	g := tf.NewGraph()
	v := ops.TemporaryVariable(g, core.Float32, core.Shape{}, "t")
	set := tf.Apply(g, "Assign", []tf.Output{v, ops.Scalar[float32](g, 3)}).Output(0)
	read := ops.Identity(set, tf.Name("read"))
	g.ControlDependencies([]*tf.Operation{read.Operation()}, func() { ops.DestroyTemporaryVariable(set, "t", tf.Name("last")) })
	got, err := open(t, g, 1).Run(t.Context(), pass.Signature{Fetches: []string{"read:0", "last:0"}}, nil)
	if err != nil || got[0].At(0) != float32(3) || got[1].At(0) != float32(3) {
		t.Errorf("got %v, %v, want 3, 3", got, err)
	}
}

// TestResourceFetchedWithItsUpdate: a read of a resource variable gives the value
// before updates that do not wait for it, in whatever order nodes were added.
func TestResourceFetchedWithItsUpdate(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	up := tf.Apply(g, "AssignAddVariableOp", []tf.Output{v.Handle(), x}, tf.Name("up"))
	var fetches []string
	for range 4 {
		read := tf.Apply(g, "ReadVariableOp", []tf.Output{v.Handle()}, tf.Attr("dtype", core.Float32))
		fetches = append(fetches, read.Output(0).Name())
	}
	s := open(t, g, 1)
	if _, err := s.Run(t.Context(), pass.Signature{Targets: []string{tf.InitializeAll(g).Name}}, nil); err != nil {
		t.Fatal(err)
	}
	wait := pass.Signature{Feeds: []string{"x:0"}, Fetches: fetches, Targets: []string{up.Name}}
	p, err := s.PartialRun(t.Context(), wait) // in which nodes wait, and so are run as they get ready
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got, err := p.Run(t.Context(), []string{"x:0"}, scalars(10), fetches)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].At(0) != float32(1) {
			t.Errorf("read %d is %v, want 1", i, got[i])
		}
	}
}
