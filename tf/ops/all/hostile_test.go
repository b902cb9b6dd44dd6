package all_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// hostile draws what a graph from anywhere may say of a node.
type hostile struct{ *rand.Rand }

// TestHostileNodes: whatever attributes a node has, and whatever shapes come in,
// shape functions and makers of kernels answer with errors and do not panic.
func TestHostileNodes(t *testing.T) {
	const draws = 200
	for i, name := range core.OpNames() {
		def := core.Lookup(name)
		h := hostile{rand.New(rand.NewPCG(1, uint64(i)))}
		for range draws {
			attrs := core.Attrs{}
			for i := range def.AttrDefs {
				if d := &def.AttrDefs[i]; d.Default == nil || h.IntN(2) == 0 {
					attrs[d.Name] = h.attr(d)
				}
			}
			text := attrs.String()
			n, err := core.NewNode("x", name, attrs)
			if err != nil {
				continue
			}
			if err := h.use(n); err != nil && strings.Contains(err.Error(), "panicked") {
				t.Errorf("%s%s: %v", name, text, err)
				break
			}
		}
	}
}

// use infers the shapes of n and makes its kernel.
func (h hostile) use(n *core.Node) (err error) {
	defer core.Recover(&err, "making the kernel of "+n.OpName())
	in := make([]core.Shape, len(n.InTypes))
	for i := range in {
		in[i] = h.shape()
	}
	values := make([]*core.Tensor, len(in))
	for i := range in {
		values[i] = h.value(n.InTypes[i], in[i])
	}
	known := core.Known{Value: func(i int) *core.Tensor { return values[i] }}
	if _, _, err := n.Infer(in, known); err != nil && strings.Contains(err.Error(), "panicked") {
		return err
	}
	find, err := core.FindKernel("CPU", n)
	if err != nil {
		return err
	}
	_, err = find(n)
	return err
}

// value is an input whose value is known, as constants are, or nil.
func (h hostile) value(d core.DType, s core.Shape) *core.Tensor {
	if !s.Known() || s.NumElements() > 100 || h.IntN(2) == 0 {
		return nil
	}
	t := core.NewTensor(d, s)
	for i := range s.NumElements() {
		switch t.DType() {
		case core.Int32:
			core.Data[int32](t)[i] = int32(h.number())
		case core.Int64:
			core.Data[int64](t)[i] = h.number()
		}
	}
	return t
}

func (h hostile) number() int64 {
	few := []int64{-1 << 40, -2, -1, 0, 1, 2, 3, 7, 1 << 20, 1 << 40}
	return few[h.IntN(len(few))]
}

func (h hostile) shape() core.Shape {
	if h.IntN(4) == 0 {
		return nil
	}
	s := core.Shape{}
	for range h.IntN(5) {
		s = append(s, []int{-1, 0, 1, 2, 3, 5}[h.IntN(6)])
	}
	return s
}

func (h hostile) dtype(d *core.AttrDef) core.DType {
	if len(d.Types) > 0 && h.IntN(8) > 0 {
		return d.Types[h.IntN(len(d.Types))]
	}
	return core.DType(1 + h.IntN(30))
}

func (h hostile) str(d *core.AttrDef) string {
	if len(d.Strings) > 0 && h.IntN(8) > 0 {
		return d.Strings[h.IntN(len(d.Strings))]
	}
	return []string{"", "x", "abc->cab", "NHWC", "VALID", "SAME", "a,b->", "\xff"}[h.IntN(8)]
}

// attr draws a value of the attribute's type.
func (h hostile) attr(d *core.AttrDef) any {
	n := h.IntN(4)
	switch d.TypeName() {
	case "int":
		return h.number()
	case "float":
		return float32(h.number())
	case "bool":
		return h.IntN(2) == 0
	case "string":
		return h.str(d)
	case "type":
		return h.dtype(d)
	case "shape":
		return h.shape()
	case "tensor":
		return core.NewTensor(core.Float32, core.Shape{h.IntN(3)})
	case "func":
		return core.Func{Name: fmt.Sprint("f", n)}
	case "list(int)":
		return drawn(n, h.number)
	case "list(float)":
		return drawn(n, func() float32 { return float32(h.number()) })
	case "list(bool)":
		return drawn(n, func() bool { return h.IntN(2) == 0 })
	case "list(string)":
		return drawn(n, func() string { return h.str(d) })
	case "list(type)":
		return drawn(n, func() core.DType { return h.dtype(d) })
	case "list(shape)":
		return drawn(n, h.shape)
	case "list(tensor)":
		return drawn(n, func() *core.Tensor { return core.NewTensor(core.Float32, core.Shape{2}) })
	case "list(func)":
		return drawn(n, func() core.Func { return core.Func{Name: "f"} })
	}
	return nil
}

func drawn[T any](n int, f func() T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = f()
	}
	return out
}
