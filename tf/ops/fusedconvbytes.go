package ops

import (
	"math"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// The inputs of a _FusedConv2D of numbers of 8 bits, after image and filter.
const (
	bytesBias  = 2 + iota
	bytesSide  // numbers of 8 bits that are added
	bytesScale // of the sums: one, or one for each output
	bytesSideScale
)

// fusedConvBytes makes the kernel of a _FusedConv2D of numbers of 8 bits: of the
// sums of products, scaled, and biases it takes the nearest of 8 bits.
func fusedConvBytes(n *core.Node) (core.Kernel, error) {
	if err := checkBytesFusion(n); err != nil {
		return nil, err
	}
	a, err := windowAttrsOf(n, 4)
	if err != nil {
		return nil, err
	}
	least := float32(math.MinInt8)
	if len(n.Strs("fused_ops")) == 2 {
		least = 0
	}
	return core.Compute(func(c *core.OpContext) error {
		v, err := a.conv(c.Input(0).Shape(), c.Input(1).Shape())
		if err != nil {
			return err
		}
		if err := checkBytes(c, a, v); err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Input(0).DType(), a.shape(v.Batch, v.OutC, v.Out))
		if err != nil {
			return err
		}
		sums := core.Borrow[int32](c, out.Len())
		conv.Convolve8(c.ParallelFor, v, sums, gemm.Bytes[int8]{Data: core.Data[int8](c.Input(0))}, gemm.Bytes[int8]{Data: core.Data[int8](c.Input(1))})
		finishBytes(c, core.Data[int8](out), sums, v.OutC, least)
		return nil
	}), nil
}

// checkBytesFusion checks what a node lists and the types of its inputs.
func checkBytesFusion(n *core.Node) error {
	fused, d := n.Strs("fused_ops"), n.Type("T")
	switch list := strings.Join(fused, ","); {
	case list == "":
		return tf.Errorf(tf.InvalidArgument, "Fused Conv2D must have at least one fused op.")
	case !slices.Contains([]string{"BiasAdd", "FusedBatchNorm"}, fused[0]) || len(fused) > 2 || len(fused) == 2 && activations[float32](0)[fused[1]] == nil:
		return tf.Errorf(tf.Unimplemented, "Fusion is not implemented: [%s]", list)
	case list != "BiasAdd" && list != "BiasAdd,Relu":
		return tf.Errorf(tf.Unimplemented, "Fused conv implementation for int8/qint8 on CPU only supports BiasAdd + None or BiasAdd + Relu.")
	case n.Int("num_args") != 2 || n.Int("num_host_args") != 2:
		return tf.Errorf(tf.InvalidArgument, "Fused Conv2D with BiasAdd must have one extra argument: bias or 4 extra arguments: bias, side_input, conv_input_scale and side_input_scale")
	}
	want := []tf.DType{d, d, tf.Float32, d, tf.Float32, tf.Float32}
	if !slices.Equal(n.InTypes, want) {
		return tf.Errorf(tf.InvalidArgument, "Fused Conv2D for %v has inputs of types %v, got %v", d, want, n.InTypes)
	}
	if f := n.Str("filter_format"); f != "HWIO" || n.Str("data_format") != "NHWC" {
		return tf.Errorf(tf.Unimplemented, "Fused conv implementation for int8/qint8 on CPU only supports NHWC tensor format for now.")
	}
	return nil
}

// checkBytes checks the inputs of the convolution v.
func checkBytes(c *core.OpContext, a *windowAttrs, v *conv.Conv) error {
	out := a.shape(v.Batch, v.OutC, v.Out)
	switch side, scale := c.Input(bytesSide), c.Input(bytesScale); {
	case v.Groups != 1:
		return tf.Errorf(tf.Unimplemented, "Fused conv implementation does not support grouped convolutions for now.")
	case a.dilations != [3]int{1, 1, 1}:
		return tf.Errorf(tf.Unimplemented, "Fused conv implementation for int8/qint8 on CPU only supports dilation of 1 for rows and cols.")
	case c.Input(bytesBias).Len() != v.OutC:
		return tf.Errorf(tf.InvalidArgument, "bias must have an element for each of %d channels, got %d", v.OutC, c.Input(bytesBias).Len())
	case side.Len() != 0 && !side.Shape().Equal(out):
		return tf.Errorf(tf.InvalidArgument, "side_input must be empty or of shape %s, got %s", out.String(), side.Shape().String())
	case scale.Len() != 1 && scale.Len() != v.OutC:
		return tf.Errorf(tf.InvalidArgument, "conv_input_scale must have one element or %d, got %d", v.OutC, scale.Len())
	case c.Input(bytesSideScale).Len() != 1:
		return tf.Errorf(tf.InvalidArgument, "side_input_scale must be a scalar, got shape %s", c.Input(bytesSideScale).Shape().String())
	}
	return nil
}

// finishBytes sets y to what becomes of sums.
func finishBytes(c *core.OpContext, y []int8, sums []int32, channels int, least float32) {
	bias, scale := core.Data[float32](c.Input(bytesBias)), core.Data[float32](c.Input(bytesScale))
	side, factor := core.Data[int8](c.Input(bytesSide)), core.Data[float32](c.Input(bytesSideScale))[0]
	if factor == 0 {
		side = nil
	}
	c.ParallelFor(len(y), kernel.ElementGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum := float32(sums[i]) * scale[i%channels%len(scale)]
			if len(side) > 0 { // float64 holds the product: it is rounded once, with the sum
				sum = float32(float64(side[i])*float64(factor) + float64(sum))
			}
			sum = float32(math.RoundToEven(float64(sum + bias[i%channels])))
			y[i] = int8(max(min(sum, math.MaxInt8), least))
		}
	})
}
