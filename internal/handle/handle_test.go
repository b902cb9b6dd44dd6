package handle_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// box is a resource.
type box struct{ size int }

// node is one that keeps a box, of either generation.
func node(name string, out core.DType, attrs core.Attrs) *core.Node {
	all := core.Attrs{"container": "", "shared_name": ""}
	for k, v := range attrs {
		all[k] = v
	}
	return &core.Node{Name: name, Def: &core.OpDef{Name: "Box"}, Attrs: all, OutTypes: []core.DType{out}}
}

// kernel is that of a node whose box has the given size.
func kernel(n *core.Node, size int) core.Kernel {
	return handle.Kernel(n, handle.Maker[*box]{
		New: func(string) (*box, error) { return &box{size}, nil },
		Matches: func(b *box) error {
			if b.size != size {
				return core.Errorf(core.InvalidArgument, "the box has size %d", b.size)
			}
			return nil
		},
	})
}

func compute(m *resource.Manager, k core.Kernel) (core.Slot, error) {
	c := &core.OpContext{Step: &core.Step{Resources: m}, Out: make([]core.Slot, 1)}
	err := k.(core.Compute)(c)
	return c.Out[0], err
}

// find follows a handle.
func find[T any](m *resource.Manager, h core.Slot) (T, error) {
	return handle.Find[T](&core.OpContext{Step: &core.Step{Resources: m}, In: []core.Slot{h}}, 0)
}

// TestGenerations follows handles that are resources, references to strings, and
// the strings.
func TestGenerations(t *testing.T) {
	m := resource.NewManager("localhost")
	for _, d := range []core.DType{core.Resource, core.String.Ref()} {
		h, err := compute(m, kernel(node("b", d, nil), 7))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := find[*box](m, h); err != nil || b.size != 7 {
			t.Errorf("%v: %v, %v", d, b, err)
		}
		if h.Ref != nil {
			if b, err := find[*box](m, core.Slot{T: h.Ref.Load()}); err != nil || b.size != 7 {
				t.Errorf("by its strings: %v, %v", b, err)
			}
		}
	}
}

// TestSharing: nodes share by container and shared_name; without a name each has
// a box of its own, equal names of nodes or not.
func TestSharing(t *testing.T) {
	m := resource.NewManager("localhost")
	at := func(attrs core.Attrs, size int) (*box, error) {
		h, err := compute(m, kernel(node("n", core.Resource, attrs), size))
		if err != nil {
			return nil, err
		}
		return find[*box](m, h)
	}
	shared := core.Attrs{"shared_name": "s"}
	a, err := at(shared, 1)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := at(shared, 1); err != nil || a != b {
		t.Error("not shared:", err)
	}
	if _, err := at(shared, 2); err == nil || !strings.Contains(err.Error(), "the box has size 1") {
		t.Error("shared though they differ:", err)
	}
	for name, attrs := range map[string]core.Attrs{"container": {"shared_name": "s", "container": "c"}, "private": nil} {
		if b, err := at(attrs, 1); err != nil || a == b {
			t.Errorf("%s: shared, or %v", name, err)
		}
	}
}

func TestNames(t *testing.T) {
	m := resource.NewManager("localhost")
	for want, attrs := range map[string]core.Attrs{
		"shared_name cannot start with '_':_x":          {"shared_name": "_x"},
		"container contains invalid characters: a b":    {"container": "a b"},
		"container contains invalid characters: a_b":    {"container": "a_b"},
		"container contains invalid characters: /users": {"container": "/users"},
	} {
		if _, err := compute(m, kernel(node("n", core.Resource, attrs), 1)); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := compute(m, kernel(node("n", core.Resource, core.Attrs{"container": "a.b/c-1"}), 1)); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	m := resource.NewManager("localhost")
	h, err := compute(m, kernel(node("n", core.Resource, nil), 1))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := h.T.Handles()[0]
	elsewhere.Device = "/device:CPU:1"
	pair := core.NewTensor(core.String, core.Shape{3})
	for want, in := range map[string]core.Slot{
		"located in device /device:CPU:1 from device ":             {T: core.HandleTensor(elsewhere)},
		"Resource handle must have 2 elements, but had shape: [3]": {T: pair},
		"Resource handle must have 2 elements, but had shape":      {Ref: &core.Ref{}},
		"a resource handle must be a scalar":                       {T: core.NewTensor(core.Resource, core.Shape{2})},
	} {
		if _, err := find[*box](m, in); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := find[*strings.Reader](m, h); core.CodeOf(err) != core.InvalidArgument {
		t.Error("a handle of another type:", err)
	}
	if _, err := handle.Find[*box](&core.OpContext{In: []core.Slot{h}}, 0); err == nil {
		t.Error("found without a step")
	}
	if _, err := compute(nil, kernel(node("n", core.Resource, nil), 1)); core.CodeOf(err) != core.Internal {
		t.Error(err)
	}
}

// TestPrivateGoesWithItsNode: a private resource goes with its kernel, but not before its handles,
// for in an eager graph nothing else keeps the kernel.
func TestPrivateGoesWithItsNode(t *testing.T) {
	m := resource.NewManager("localhost")
	h, err := compute(m, kernel(node("n", core.Resource, nil), 1))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups run on a goroutine of their own
	}
	if _, err := find[*box](m, h); err != nil {
		t.Errorf("a private resource goes before its handle: %v", err)
	}
	container, name := h.T.Handles()[0].Container, h.T.Handles()[0].Name
	h = core.Slot{}
	for range 30_000 {
		runtime.GC()
		if _, err := resource.Lookup[*box](m, container, name); core.CodeOf(err) == core.NotFound {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("a private resource outlives its kernel")
}

// TestName: a handle may be there before its resource, and after it.
func TestName(t *testing.T) {
	m := resource.NewManager("localhost")
	h, err := compute(m, handle.Name[*box](node("b", core.Resource, core.Attrs{"shared_name": "s"})))
	if err != nil {
		t.Fatal(err)
	}
	c := &core.OpContext{Step: &core.Step{Resources: m}, In: []core.Slot{h}}
	for _, size := range []int{3, 4} {
		if _, err := find[*box](m, h); core.CodeOf(err) != core.NotFound {
			t.Errorf("nobody has made it: %v", err)
		}
		for _, again := range []int{size, 9} {
			if b, err := handle.FindOrCreate(c, 0, func() (*box, error) { return &box{again}, nil }); err != nil || b.size != size {
				t.Errorf("%v, %v, want size %d", b, err, size)
			}
		}
		if err := handle.Delete[*box](c, 0); err != nil {
			t.Error(err)
		}
	}
	if err := handle.Delete[*box](c, 0); core.CodeOf(err) != core.NotFound {
		t.Error(err)
	}
	if _, err := compute(m, handle.Name[*box](node("b", core.Resource, core.Attrs{"shared_name": "_s"}))); core.CodeOf(err) != core.InvalidArgument {
		t.Error(err)
	}
	bad := &core.OpContext{Step: &core.Step{Resources: m}, In: []core.Slot{{T: core.Scalar("x")}}}
	if _, err := handle.FindOrCreate(bad, 0, func() (*box, error) { return nil, nil }); err == nil || handle.Delete[*box](bad, 0) == nil {
		t.Error("no handle, no error")
	}
}
