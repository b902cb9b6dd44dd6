package uniform_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/quantize/uniform"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addQuantize()
	addDequantize()
	addRequantize()
	addClip()
	addSums()
}

// levels are the numbers of the quantized types.
var levels = map[tf.DType]numbers{tf.QInt8: {Min: -127, Max: 126}, tf.QUint8: {Min: 1, Max: 250}, tf.QInt32: {Min: -1 << 30, Max: 1 << 30}}

func addQuantize() {
	const op = "UniformQuantize"
	x := optest.Within(-300, 400, 2, 3, 4)
	f := func(d tf.DType, n numbers) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{uniform.UniformQuantize(in[0], in[1], in[2], d, n).Values}
		}
	}
	for d, n := range levels {
		optest.Add(
			of(op, d.String(), tensors{x, scale(2.5), zero(-3)}, f(d, n)),
			of(op, d.String()+" fine", tensors{x, scale(1e-12), zero(7)}, f(d, n)),
			of(op, d.String()+" first axis", tensors{x, vec(2.5, 0.5), zeros(-3, 100)}, f(d, along(n, 0))),
			of(op, d.String()+" axis", tensors{x, vec(2.5, 0.5, 1.1), zeros(-3, 100, 0)}, f(d, along(n, 1))))
	}
	optest.Add(bad(op, f(tf.QInt8, whole), tensors{x, scale(1), zero(0)}, map[string]swap{"zeros": {2, zeros(1)}})...)
	optest.Add(bad(op, f(tf.QInt8, along(whole, 1)), tensors{x, vec(1, 2, 3), zeros(1, 2, 3)}, map[string]swap{"axis": {0, optest.Within(-1, 1, 3)}, "sizes": {0, optest.Within(-1, 1, 3, 2)}})...)
	optest.Add(optest.Failing(op, "vector", f(tf.QInt8, whole), x, vec(1), zeros(1)))
}

func addDequantize() {
	const op = "UniformDequantize"
	f := func(n numbers) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{uniform.UniformDequantize(uniform.Quantized{Values: in[0], Scales: in[1], ZeroPoints: in[2]}, n)}
		}
	}
	for d, n := range levels {
		x := spread(d, 2, 3, 4)
		optest.Add(
			of(op, d.String(), tensors{x, scale(2.5), zero(-3)}, f(n)),
			of(op, d.String()+" axis", tensors{x, vec(2.5, 0.5, 1.1), zeros(-3, 100, 0)}, f(along(n, 1))))
	}
	optest.Add(bad(op, f(whole), tensors{spread(tf.QInt8, 3), scale(1), zero(0)}, map[string]swap{"scale": {1, scale(0)}, "zeros": {2, zeros(1)}})...)
}

func addRequantize() {
	const op = "UniformRequantize"
	f := func(from, to numbers) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{uniform.UniformRequantize(uniform.Quantized{Values: in[0], Scales: in[1], ZeroPoints: in[2]}, from, in[3], in[4], to).Values}
		}
	}
	for _, d := range []tf.DType{tf.QInt8, tf.QInt32} {
		x, n := spread(d, 2, 3, 4), levels[d]
		optest.Add(
			of(op, d.String(), tensors{x, scale(2.5), zero(-3), scale(4), zero(5)}, f(n, whole)),
			of(op, d.String()+" up", tensors{x, scale(1e9), zero(-3), scale(0.0004), zero(5)}, f(n, whole)),
			of(op, d.String()+" down", tensors{x, scale(1e-9), zero(-3), scale(4000), zero(5)}, f(n, whole)),
			of(op, d.String()+" from axis", tensors{x, vec(2.5, 0.5, 1.1), zeros(-3, 100, 0), scale(3), zero(1)}, f(along(n, 1), whole)),
			of(op, d.String()+" to axis", tensors{x, scale(3), zero(1), vec(2.5, 0.5, 1.1), zeros(-3, 100, 0)}, f(n, along(whole, 1))),
			of(op, d.String()+" both", tensors{x, vec(3, 2, 1), zeros(1, 2, 3), vec(2.5, 0.5, 1.1), zeros(-3, 100, 0)}, f(along(n, 1), along(whole, 1))))
	}
	in := tensors{spread(tf.QInt8, 3), scale(1), zero(0), scale(2), zero(1)}
	optest.Add(bad(op, f(whole, whole), in, map[string]swap{"scale": {1, scale(-1)}, "new scale": {3, scale(0)}, "zeros": {2, zeros(1)}, "new zeros": {4, zeros(1)}})...)
}

func addClip() {
	const op = "UniformQuantizedClipByValue"
	f := func(n numbers) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{uniform.UniformQuantizedClipByValue(uniform.Quantized{Values: in[0], Scales: in[3], ZeroPoints: in[4]}, in[1], in[2], n).Values}
		}
	}
	bounds := func(v ...int32) *core.Tensor {
		t := core.NewTensor(tf.QInt32, tf.Shape{len(v)})
		copy(core.Data[int32](t), v)
		return t
	}
	bound := func(v int32) *core.Tensor {
		t := core.NewTensor(tf.QInt32, tf.Shape{})
		core.Data[int32](t)[0] = v
		return t
	}
	x := spread(tf.QInt32, 2, 3, 4)
	plain := tensors{x, bound(-1000000), bound(500), scale(1), zero(0)}
	optest.Add(of(op, "", plain, f(wide)), of(op, "axis", tensors{x, bounds(-1000, -2000, 0), bounds(500, 2000000, 1), vec(1, 2, 3), zeros(0, 1, 2)}, f(along(wide, 1))))
	optest.Add(bad(op, f(wide), plain, map[string]swap{"min": {1, bounds(1)}, "max": {2, bounds(1)}, "zeros": {4, zeros(1)}})...)
}

func addSums() {
	const op = "UniformQuantizedAdd"
	f := func(by uniform.Of) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			x, y := uniform.Quantized{Values: in[0], Scales: in[2], ZeroPoints: in[3]}, uniform.Quantized{Values: in[1], Scales: in[4], ZeroPoints: in[5]}
			return []tf.Output{uniform.UniformQuantizedAdd(x, y, in[6], in[7], by).Values}
		}
	}
	plain, axis := uniform.Of{Left: wide, Right: wide, Out: levels[tf.QInt32]}, along(wide, 1)
	x, y := spread(tf.QInt32, 2, 3, 4), spread(tf.QInt32, 3, 1)
	in := tensors{x, y, scale(2), zero(3), scale(0.5), zero(-7), scale(1.5), zero(11)}
	scales := tensors{vec(1, 2, 3), zeros(3, 4, 5)}
	optest.Add(
		of(op, "", in, f(plain)),
		of(op, "scalar", tensors{spread(tf.QInt32), y, scale(2), zero(3), scale(0.5), zero(-7), scale(1.5), zero(11)}, f(plain)),
		of(op, "left axis", append(tensors{x, y}, scales[0], scales[1], scale(0.5), zero(-7), scale(1.5), zero(11)), f(uniform.Of{Left: axis, Right: wide, Out: wide})),
		of(op, "right axis", append(tensors{y, x}, scale(0.5), zero(-7), scales[0], scales[1], scale(1.5), zero(11)), f(uniform.Of{Left: wide, Right: axis, Out: wide})),
		of(op, "all axes", append(tensors{x, y}, scales[0], scales[1], vec(1, 0.5, 2), zeros(0, 1, 2), vec(2, 4, 1), zeros(-1, 9, 8)), f(uniform.Of{Left: axis, Right: along(wide, 0), Out: axis})))
	optest.Add(bad(op, f(plain), in, map[string]swap{"shape": {1, spread(tf.QInt32, 5)}, "zeros": {3, zeros(1)}, "right zeros": {5, zeros(1)}, "out zeros": {7, zeros(1)}, "scale": {2, scale(0)}, "out scale": {6, scale(-1)}})...)
	optest.Add(optest.Failing(op, "axes", f(uniform.Of{Left: axis, Right: wide, Out: along(wide, 2)}), spread(tf.QInt32, 2, 3, 3), y, scales[0], scales[1], scale(1), zero(0), scales[0], scales[1]))
}
