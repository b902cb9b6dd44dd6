package core_test

import (
	"fmt"

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
