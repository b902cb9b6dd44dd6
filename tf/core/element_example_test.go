package core_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/core"
)

// The loop of an elementwise op sets as many elements as it is given. Executors run the
// loops of several ops block by block; an operand of one element may be repeated.
func ExampleElementKernel() {
	var add core.Loop = core.BroadcastLoop(
		func(z, x, y []float32) {
			for i := range z {
				z[i] = x[i] + y[i]
			}
		},
		func(z []float32, x float32, y []float32) {
			for i := range z {
				z[i] = x + y[i]
			}
		},
		func(z, x []float32, y float32) {
			for i := range z {
				z[i] = x[i] + y
			}
		})
	var lanes core.Lanes = func(c *core.LaneCode, in []core.LaneValue) (core.LaneValue, bool) {
		return c.Add(in[0], in[1]), true
	}
	k := &core.ElementKernel{Shape: core.BroadcastOf, Loop: add, Repeats: true, Lanes: lanes}
	x := core.Elements[byte](make([]byte, 12))
	copy(core.Elements[float32](x), []float32{1, 2, 3})
	ten, z := make([]byte, 4), make([]byte, 12)
	core.Elements[float32](ten)[0] = 10
	k.Loop(z, []core.Operand{{Data: x}, {Data: ten, Repeated: true}})
	fmt.Println(core.Elements[float32](z))
	// Output: [11 12 13]
}

// The rows of a reduction may be folded some at a time.
func ExampleRowKernel() {
	k := &core.RowKernel{Rows: core.FoldRows(func(z, x []float32, n int) {
		for i := range z {
			z[i] = 0
			for _, v := range x[i*n : (i+1)*n] {
				z[i] += v
			}
		}
	})}
	x, z := make([]byte, 24), make([]byte, 8)
	copy(core.Elements[float32](x), []float32{1, 2, 3, 4, 5, 6})
	k.Rows(z, x, 3)
	fmt.Println(core.Elements[float32](z))
	// Output: [6 15]
}

// A kernel changes a variable in place, or, while the value is being read elsewhere,
// in new memory, whose elements it makes ready before it changes them.
func ExampleChange() {
	ref := &core.Ref{}
	step := &core.Step{}
	c := &core.OpContext{Step: step, Node: node("NoOp", nil)}
	err := ref.Swap(func(*core.Tensor) (*core.Tensor, error) { return core.FromSlice([]float32{1, 2}) })
	if err == nil {
		err = ref.Change(c, func(v *core.Change) error {
			v.Ready(0, v.T.Len())
			core.Data[float32](v.T)[0]++
			return nil
		})
	}
	fmt.Println(ref.Load(), err)
	// Output: float32[2]{2, 2} <nil>
}

// A kernel that is given the gradient part by part.
func ExampleUpdateKernel() {
	sum := []float32{0, 0, 0, 0}
	k := &core.UpdateKernel{Gradient: 1, Parts: func(_ *core.OpContext, _ core.Shape, compute func(func() core.UpdatePart)) error {
		compute(func() core.UpdatePart {
			return func(at int, part []float32) {
				for i, g := range part {
					sum[at+i] += g
				}
			}
		})
		return nil
	}}
	err := k.Parts(nil, core.Shape{4}, func(worker func() core.UpdatePart) {
		update := worker()
		update(0, []float32{1, 2})
		update(2, []float32{3, 4})
	})
	fmt.Println(sum, err)
	// Output: [1 2 3 4] <nil>
}
