package quantize_test

import (
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
)

// emptyOps are ops on tensors that have many slices, rows or images, but no elements.
func emptyOps() map[string]func() tf.Output {
	const many = 1 << 40
	g := eager.New()
	empty := func(d tf.DType, s ...int) tf.Output { return ops.ConstValue(g, core.NewTensor(d, tf.Shape(s))) }
	lo, hi := ops.Const(g, []float32{0, 0, 0}), ops.Const(g, []float32{1, 1, 1})
	of := func(s ...int) quantize.Quantized {
		return quantize.Quantized{Values: empty(tf.QUint8, s...), Min: ops.Scalar[float32](g, 0), Max: ops.Scalar[float32](g, 1)}
	}
	axis, ones := quantize.QuantizeOpts{Axis: at(1)}, []int{1, 1, 1, 1}
	return map[string]func() tf.Output{
		"Dequantize": func() tf.Output { return quantize.Dequantize(empty(tf.QInt8, many, 3, 0), lo, hi, axis) },
		"QuantizeV2": func() tf.Output {
			y, _, _ := quantize.QuantizeV2(empty(tf.Float32, many, 3, 0), lo, hi, tf.QInt8, axis)
			return y
		},
		"QuantizeAndDequantizeV2": func() tf.Output {
			return quantize.QuantizeAndDequantizeV2(empty(tf.Float32, many, 3, 0), lo, hi, quantize.SimulateOpts{Axis: at(1)})
		},
		"QuantizedConcat": func() tf.Output {
			return quantize.QuantizedConcat(ops.Scalar(g, int32(1)), []quantize.Quantized{of(many, 0), of(many, 0)}).Values
		},
		"QuantizedInstanceNorm": func() tf.Output { return quantize.QuantizedInstanceNorm(of(many, 0, 1, 1)).Values },
		"QuantizedAvgPool":      func() tf.Output { return quantize.QuantizedAvgPool(of(many, 1, 1, 0), ones, ones, "SAME").Values },
		"QuantizedMaxPool":      func() tf.Output { return quantize.QuantizedMaxPool(of(many, 1, 1, 0), ones, ones, "SAME").Values },
	}
}

// TestManySlicesWithoutElements: a tensor may have any number of slices, rows or images that
// have no elements. Nothing goes through them.
func TestManySlicesWithoutElements(t *testing.T) {
	for name, f := range emptyOps() {
		done := make(chan error, 1)
		go func() {
			_, err := f().Value()
			done <- err
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s goes through slices without elements", name)
			return // it goes on
		}
	}
}
