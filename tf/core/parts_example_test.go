package core_test

import (
	"fmt"
	"math"

	"github.com/gorge-tf/gorge/tf/core"
)

// A kernel that says which of its results are there, so that what follows can be done to
// them while they are in the cache.
func ExamplePartsKernel() {
	k := &core.PartsKernel{
		Shape: func(*core.OpContext) (core.Shape, error) { return core.Shape{4}, nil },
		Into: func(_ *core.OpContext, z *core.Tensor, done func(lo, hi int)) {
			data := core.Data[float32](z)
			for lo := 0; lo < len(data); lo += 2 {
				data[lo], data[lo+1] = float32(lo), float32(lo+1)
				done(lo, lo+2)
			}
		},
	}
	s, err := k.Shape(nil)
	z := core.NewTensor(core.Float32, s)
	k.Into(nil, z, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			core.Data[float32](z)[i] *= 10
		}
	})
	fmt.Println(z, err)
	// Output: float32[4]{0, 10, 20, 30} <nil>
}

// A normalization by moments that are given: what it computes for each channel is one
// kernel, what it computes for each element another one.
func ExampleChannelKernel() {
	k := &core.ChannelKernel{
		Factor: func(c *core.OpContext) error {
			z, err := c.Alloc(0, core.Float32, c.Input(0).Shape())
			if err == nil {
				copy(core.Data[float32](z), core.Data[float32](c.Input(0)))
			}
			return err
		},
		Apply: &core.ElementKernel{Loop: func(z []byte, in []core.Operand) {
			out, x, mean, factor, offset := core.Elements[float32](z), core.Elements[float32](in[0].Data), core.Elements[float32](in[1].Data), core.Elements[float32](in[2].Data), core.Elements[float32](in[3].Data)
			for i := range out {
				out[i] = (x[i]-mean[i])*factor[i] + offset[i]
			}
		}},
	}
	bytes := func(v ...float32) []byte {
		b := make([]byte, 4*len(v))
		copy(core.Elements[float32](b), v)
		return b
	}
	z := make([]byte, 8)
	k.Apply.Loop(z, []core.Operand{{Data: bytes(3, 5)}, {Data: bytes(1, 1)}, {Data: bytes(2, 2)}, {Data: bytes(0, 100)}})
	fmt.Println(core.Elements[float32](z))
	// Output: [4 108]
}

// The gradient of a rectifier that has no bound says so.
func ExampleRectifier() {
	k := &core.ElementKernel{
		Rectifies: &core.Rectifier{Most: float32(math.NaN())},
		Loop: core.ZipLoop(func(z, dy, x []float32) {
			for i := range z {
				if z[i] = 0; x[i] > 0 {
					z[i] = dy[i]
				}
			}
		}),
	}
	z, dy, x := make([]byte, 8), make([]byte, 8), make([]byte, 8)
	copy(core.Elements[float32](dy), []float32{3, 4})
	copy(core.Elements[float32](x), []float32{-1, 100})
	k.Loop(z, []core.Operand{{Data: dy}, {Data: x}})
	fmt.Println(core.Elements[float32](z), k.Rectifies.Most)
	// Output: [0 4] NaN
}

// The gradient of a normalization of one channel by its moments, for what a rectifier with a
// bound makes of the result: here for the offset alone.
func ExampleChannelGradKernel() {
	k := &core.ChannelGradKernel{Gated: func(c *core.OpContext, r core.Rectifier) error {
		dz, x, offset := core.Data[float32](c.Input(0)), core.Data[float32](c.Input(1)), core.Data[float32](c.Input(2))
		sum := float32(0)
		for i, v := range x {
			if y := v + offset[0]; y > 0 && y < r.Most {
				sum += dz[i]
			}
		}
		fmt.Println("gradient for the offset:", sum)
		return nil
	}}
	of := func(v ...float32) core.Slot {
		t := core.NewTensor(core.Float32, core.Shape{len(v)})
		copy(core.Data[float32](t), v)
		return core.Slot{T: t}
	}
	c := &core.OpContext{In: []core.Slot{of(1, 10, 100), of(-3, 0, 9), of(1)}}
	fmt.Println(k.Gated(c, core.Rectifier{Most: 6}))
	// Output:
	// gradient for the offset: 10
	// <nil>
}

// The gradient of an op that doubles its input, for what a rectifier gives it.
func ExampleRectifiedKernel() {
	k := &core.RectifiedKernel{Rectified: func(c *core.OpContext, r core.Rectifier) error {
		x, dy := core.Data[float32](c.Input(0)), core.Data[float32](c.Input(1))
		dx, err := c.Alloc(0, core.Float32, c.Input(0).Shape())
		if err != nil {
			return err
		}
		for i, v := range x {
			if core.Data[float32](dx)[i] = 0; v > 0 && v < r.Most {
				core.Data[float32](dx)[i] = 2 * dy[i]
			}
		}
		return nil
	}}
	of := func(v ...float32) core.Slot {
		t := core.NewTensor(core.Float32, core.Shape{len(v)})
		copy(core.Data[float32](t), v)
		return core.Slot{T: t}
	}
	c := &core.OpContext{Node: &core.Node{}, In: []core.Slot{of(0, 3, 6), of(1, 2, 3)}, Out: make([]core.Slot, 1)}
	err := k.Rectified(c, core.Rectifier{Most: 6})
	fmt.Println(c.Out[0].T, err)
	// Output: float32[3]{0, 4, 0} <nil>
}
