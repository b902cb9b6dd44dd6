package quantize_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addConv()
	addBadConv()
	addMaxPools()
	addBatchNorm()
	addInstanceNorm()
	addConcat()
	addReshape()
	addResize()
}

func conv(stride int, padding string, o ...tf.Option) function {
	return two(func(x, w quantize.Quantized) quantize.Quantized {
		return quantize.QuantizedConv2D(x, w, []int{1, stride, stride, 1}, padding, o...)
	})
}

func addConv() {
	for _, padding := range []string{"SAME", "VALID"} {
		for name, c := range map[string]struct {
			stride int
			x, w   []int
		}{
			"plain": {1, []int{2, 5, 6, 3}, []int{3, 2, 3, 4}}, "stride 2": {2, []int{1, 6, 5, 2}, []int{3, 3, 2, 3}}, "stride 4": {4, []int{1, 8, 11, 2}, []int{1, 1, 2, 2}},
			"wide": {1, []int{1, 4, 4, 40}, []int{3, 3, 40, 2}}, "point": {1, []int{1, 3, 3, 2}, []int{1, 1, 2, 5}},
		} {
			for _, r := range []string{"around 0", "above", "from 0"} {
				in := append(ranged(tf.QUint8, ranges[r][0], ranges[r][1], c.x...), ranged(tf.QUint8, -2, 4.5, c.w...)...)
				addSamples(sample{Op: "QuantizedConv2D", Name: padding + " " + name + " " + r, In: in, F: conv(c.stride, padding), Types: optest.OnlyOwn})
			}
		}
	}
}

func addBadConv() {
	const op = "QuantizedConv2D"
	in := append(ranged(tf.QUint8, -1, 1, 1, 4, 4, 2), ranged(tf.QUint8, -1, 1, 2, 2, 2, 3)...)
	bad(op, conv(1, "VALID"), in, map[string]swap{
		"cube": {0, spread(tf.QUint8, 1, 2, 3)}, "nothing": {0, spread(tf.QUint8, 1, 0, 3, 2)}, "filter": {3, spread(tf.QUint8, 2, 2, 2)}, "depth": {3, spread(tf.QUint8, 2, 2, 3, 3)},
		"min": {1, vec(1)}, "max": {2, vec(1)}, "filter min": {4, vec(1)}, "filter max": {5, vec(1)}, "size": {3, spread(tf.QUint8, 7, 2, 2, 3)},
	})
}

func addMaxPools() {
	addSamples(poolSamples("QuantizedMaxPool", quantize.QuantizedMaxPool)...)
	badPools("QuantizedMaxPool", quantize.QuantizedMaxPool)
}

// A pooling is one of the two pooling functions.
type pooling func(x quantize.Quantized, ksize, strides []int, padding string, opts ...tf.Option) quantize.Quantized

func (p pooling) padded(padding string) function {
	return one(func(x quantize.Quantized) quantize.Quantized {
		return p(x, []int{1, 2, 3, 1}, []int{1, 2, 1, 1}, padding)
	})
}

func poolSamples(op string, pool pooling) (out []sample) {
	for _, padding := range []string{"SAME", "VALID"} {
		for _, d := range []tf.DType{tf.QUint8, tf.QInt8} {
			out = append(out, sample{Op: op, Name: d.String() + " " + padding, In: ranged(d, -1, 3, 2, 5, 6, 3), F: pool.padded(padding), Types: optest.OnlyOwn})
		}
	}
	return out
}

func badPools(op string, pool pooling) {
	for _, padding := range []string{"SAME", "VALID"} {
		bad(op, pool.padded(padding), ranged(tf.QUint8, -1, 3, 1, 4, 4, 1), map[string]swap{padding + " min": {1, vec(1)}, padding + " max": {2, vec(1)}})
	}
}

func batchNorm(scale bool) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		q := func(i int) quantize.Quantized {
			return quantize.Quantized{Values: in[3*i], Min: in[3*i+1], Max: in[3*i+2]}
		}
		return parts(quantize.QuantizedBatchNormWithGlobalNormalization(q(0), quantize.BatchNorm{Mean: q(1), Variance: q(2), Beta: q(3), Gamma: q(4), Epsilon: 0.01, Scale: scale}))
	}
}

func addBatchNorm() {
	const op = "QuantizedBatchNormWithGlobalNormalization"
	in := ranged(tf.QUint8, -1.5, 6, 2, 3, 2, 4)
	for _, r := range [][2]float32{{-1, 1}, {0, 4}, {-10, 30}, {0.5, 2}} {
		in = append(in, ranged(tf.QUint8, r[0], r[1], 4)...)
	}
	addSamples(sample{Op: op, Name: "scaled", In: in, F: batchNorm(true), Types: optest.OnlyOwn}, sample{Op: op, Name: "plain", In: in, F: batchNorm(false), Types: optest.OnlyOwn})
	swaps := map[string]swap{"images": {0, spread(tf.QUint8, 2, 3, 4)}, "channels": {0, spread(tf.QUint8, 1, 1, 1, 3)}}
	for i, name := range []string{"input", "mean", "var", "beta", "gamma"} {
		swaps[name+" min"], swaps[name+" max"] = swap{3*i + 1, vec(1, 2)}, swap{3*i + 2, vec(1, 2)}
		if i > 0 {
			swaps[name+" cube"], swaps[name+" short"] = swap{3 * i, spread(tf.QUint8, 2, 2)}, swap{3 * i, spread(tf.QUint8, 3)}
		}
	}
	swaps["one mean"] = swap{3, spread(tf.QUint8, 1)}
	bad(op, batchNorm(true), in, swaps)
}

func addInstanceNorm() {
	const op = "QuantizedInstanceNorm"
	for name, o := range map[string]quantize.InstanceNormOpts{"": {}, "given": {Min: -1, Max: 2}, "apart": {MinSeparation: 20}, "epsilon": {Epsilon: 0.5}} {
		f := one(func(x quantize.Quantized) quantize.Quantized { return quantize.QuantizedInstanceNorm(x, o) })
		addSamples(sample{Op: op, Name: name, In: ranged(tf.QUint8, -1, 3, 2, 4, 5, 3), F: f, Types: optest.OnlyOwn, Tol: 2e-6})
	}
	f := one(func(x quantize.Quantized) quantize.Quantized { return quantize.QuantizedInstanceNorm(x) })
	bad(op, f, ranged(tf.QUint8, -1, 3, 1, 2, 2, 1), map[string]swap{"min": {1, vec(1)}, "max": {2, vec(1)}, "order": {1, scalar(5)}})
}

// joined makes the function of a QuantizedConcat, whose inputs are the axis and
// numbers with their ranges.
func joined(_ *tf.Graph, in []tf.Output) []tf.Output {
	var all []quantize.Quantized
	for i := 1; i < len(in); i += 3 {
		all = append(all, quantize.Quantized{Values: in[i], Min: in[i+1], Max: in[i+2]})
	}
	return parts(quantize.QuantizedConcat(in[0], all))
}

func addConcat() {
	const op = "QuantizedConcat"
	at := func(axis int32, d tf.DType, r ...[2]float32) tensors {
		in := tensors{optest.Scalar(axis)}
		for i, b := range r {
			s := []int{2, 3, 2}
			s[axis] += i
			in = append(in, ranged(d, b[0], b[1], s...)...)
		}
		return in
	}
	for _, d := range []tf.DType{tf.QUint8, tf.QInt32} {
		addSamples(
			sample{Op: op, Name: d.String() + " first", In: at(0, d, [2]float32{-1, 1}, [2]float32{0, 7}), F: joined, Types: optest.OnlyOwn},
			sample{Op: op, Name: d.String() + " middle", In: at(1, d, [2]float32{-1, 1}, [2]float32{-1, 1}, [2]float32{-3, 0.5}), F: joined, Types: optest.OnlyOwn},
			sample{Op: op, Name: d.String() + " last", In: at(2, d, [2]float32{2, 4}, [2]float32{1, 5}), F: joined, Types: optest.OnlyOwn},
			sample{Op: op, Name: d.String() + " equal", In: at(2, d, [2]float32{-4, 4}, [2]float32{-4, 4}), F: joined, Types: optest.OnlyOwn})
	}
	bad(op, joined, at(1, tf.QUint8, [2]float32{-1, 1}, [2]float32{0, 7}), map[string]swap{
		"axis": {0, optest.Vec[int32](1)}, "negative axis": {0, optest.Scalar(int32(-1))}, "far axis": {0, optest.Scalar(int32(3))},
		"min": {2, vec(1, 2)}, "max": {6, vec(1, 2)}, "rank": {4, spread(tf.QUint8, 2, 3)}, "size": {4, spread(tf.QUint8, 2, 3, 3)},
	})
}

func reshaped(_ *tf.Graph, in []tf.Output) []tf.Output {
	return parts(quantize.QuantizedReshape(quantize.Quantized{Values: in[0], Min: in[2], Max: in[3]}, in[1]))
}

func addReshape() {
	const op = "QuantizedReshape"
	for _, d := range []tf.DType{tf.QUint8, tf.QInt32} {
		addSamples(sample{Op: op, Name: d.String(), In: tensors{spread(d, 2, 6), optest.I32(3, -1), scalar(-1), scalar(5)}, F: reshaped, Types: optest.OnlyOwn})
	}
	bad(op, reshaped, tensors{spread(tf.QUint8, 2, 6), optest.I32(3, 4), scalar(-1), scalar(5)}, map[string]swap{"shape": {1, optest.I32(5, 2)}, "min": {2, vec(1, 2)}, "max": {3, vec(1, 2)}})
}

func addResize() {
	const op = "QuantizedResizeBilinear"
	resized := func(o quantize.ResizeOpts) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return parts(quantize.QuantizedResizeBilinear(quantize.Quantized{Values: in[0], Min: in[2], Max: in[3]}, in[1], o))
		}
	}
	for name, o := range map[string]quantize.ResizeOpts{"": {}, "aligned": {AlignCorners: true}, "half": {HalfPixelCenters: true}} {
		for size, s := range map[string]*core.Tensor{"larger": optest.I32(7, 13), "smaller": optest.I32(2, 3), "equal": optest.I32(4, 6)} {
			for _, x := range (tensors{spread(tf.QUint8, 2, 4, 6, 3), spread(tf.QInt32, 1, 4, 6, 2), within(-3, 4, 1, 4, 6, 1)}) {
				addSamples(sample{Op: op, Name: x.DType().String() + " " + size + " " + name, In: tensors{x, s, scalar(-1), scalar(5)}, F: resized(o), Types: optest.OnlyOwn})
			}
		}
	}
	bad(op, resized(quantize.ResizeOpts{}), tensors{spread(tf.QUint8, 1, 4, 6, 3), optest.I32(2, 3), scalar(-1), scalar(5)}, map[string]swap{
		"min": {2, vec(1)}, "max": {3, vec(1)}, "cube": {0, spread(tf.QUint8, 4, 6, 3)}, "channels": {0, spread(tf.QUint8, 1, 4, 6, 0)}, "empty": {0, spread(tf.QUint8, 1, 0, 6, 2)},
		"size": {1, optest.I32(2)}, "sizes": {1, optest.Arr(tf.Shape{1, 2}, int32(2), int32(3))}, "negative": {1, optest.I32(2, -3)},
	})
}
