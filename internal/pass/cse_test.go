package pass

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestLargeConstantsMerge: large constants are one if they are equal, and only then,
// though few of their bytes are hashed.
func TestLargeConstantsMerge(t *testing.T) {
	const n = 1 << 20
	constant := func(at int) *core.Tensor {
		v := core.NewTensor(core.Float32, core.Shape{n})
		core.Data[float32](v)[at] = 1
		return v
	}
	g := graph.New()
	var sum []graph.Edge
	for _, at := range []int{77777, 77777, 77778, 0} {
		c, err := g.AddNew("c", "Const", core.Attrs{"dtype": core.Float32, "value": constant(at)}, "/device:CPU:0")
		if err != nil {
			t.Fatal(err)
		}
		sum = append(sum, graph.Edge{Node: c})
	}
	out, err := g.AddNew("out", "AddN", core.Attrs{"N": len(sum), "T": core.Float32}, "/device:CPU:0", sum...)
	if err != nil {
		t.Fatal(err)
	}
	if err := Optimize(g, Options{}); err != nil {
		t.Fatal(err)
	}
	if in := out.In; in[0] != in[1] || in[0] == in[2] || in[0] == in[3] || in[2] == in[3] {
		t.Errorf("of four constants the first two must be one, and no others: %v", in)
	}
}
