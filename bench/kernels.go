package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// kernelCase is one op of workload 8.
type kernelCase struct {
	name   string
	copies int // how often the graph holds it, each after the one before
	inputs []*tf.Tensor
	build  func(g *tf.Graph, in []tf.Output) tf.Output
	work   float64 // floating-point operations, or elements
	flops  bool
}

const million = 1 << 20

// kernels is workload 8.
func kernels(b *bench) {
	for _, list := range [][]kernelCase{matmuls(), convolutions(), elementwise(), rows(), reductions(), layerKernels(), movements(), randoms()} {
		for _, k := range list {
			if b.wants(k.name) {
				b.kernel(&k)
			}
		}
	}
	for _, name := range []string{"sgd", "momentum", "adam"} {
		if b.wants("apply_" + name + "_4M") {
			b.apply(name)
		}
	}
}

func (b *bench) wants(name string) bool {
	return b.kernels == nil || slices.ContainsFunc(b.kernels, func(s string) bool { return strings.Contains(name, s) })
}

// kernel measures one op on variables that are read in the graph.
func (b *bench) kernel(k *kernelCase) {
	g := tf.NewGraph()
	var in []tf.Output
	var feeds []tf.Output
	for _, t := range k.inputs {
		p := ops.Placeholder(g, t.DType(), t.Shape())
		feeds = append(feeds, p)
		in = append(in, tf.NewVariable(p, tf.VariableOptions{NotTrainable: true}).Value())
	}
	var prev []*tf.Operation
	var first tf.Output
	for i := range k.copies {
		g.ControlDependencies(prev, func() {
			out := k.build(g, in)
			if i == 0 {
				first = out
			}
			prev = []*tf.Operation{out.Operation()}
		})
	}
	s := b.open(g, true)
	defer s.Close()
	initialize(s, feeds, k.inputs)
	b.checkKernel(k, must(s.Run(ctx, nil, first))[0])
	c := must(s.MakeCallable(nil, prev[0]))
	t := b.bestAuto(func() { must(c.Run(ctx)) }) / float64(k.copies)
	if k.flops {
		b.emit(k.name+".gflops", k.work/t/1e9, "GFLOP/s")
		return
	}
	b.emit(k.name+".ns_per_element", t*1e9/k.work, "ns/element")
}

// initialize gives all variables their values, fed so that no constant of that
// size is in the graph.
func initialize(s *session.Session, feeds []tf.Output, values []*tf.Tensor) {
	f := session.Feeds{}
	for i, x := range feeds {
		f[x] = values[i]
	}
	must(s.Run(ctx, f, tf.InitializeAll(s.Graph())))
}

func (b *bench) checkKernel(k *kernelCase, t *tf.Tensor) {
	sum, probe := 0.0, 0.0
	random := uniform(9, t.Len(), 1)
	for i := range t.Len() {
		v := asFloat(t.At(i))
		sum += math.Abs(v)
		probe += v * float64(random[i])
	}
	n := float64(t.Len())
	if len(k.inputs) == 0 { // random numbers: only the distribution must agree
		b.check(k.name+".mean_abs", sum/n, map[string]any{"tolerance": 0.01})
		return
	}
	b.check(k.name+".mean_abs", sum/n, nil)
	b.check(k.name+".probe", probe/math.Sqrt(n), map[string]any{"abs_tolerance": round(1e-3*sum/n, 3)})
}

func asFloat(v any) float64 {
	switch v := v.(type) {
	case float32:
		return float64(v)
	case float64:
		return v
	case int32:
		return float64(v)
	case int64:
		return float64(v)
	case uint8:
		return float64(v)
	case bool:
		if v {
			return 1
		}
		return 0
	case string:
		return crc(v)
	}
	fatal(fmt.Errorf("cannot check a %T", v))
	return 0
}

func u(seed uint32, shape ...int) *tf.Tensor {
	return tensor(uniform(seed, tf.Shape(shape).NumElements(), 1), shape...)
}

func matmul(name string, m, k, n, copies int, ta, tb bool) kernelCase {
	a, c := []int{m, k}, []int{k, n}
	if ta {
		slices.Reverse(a)
	}
	if tb {
		slices.Reverse(c)
	}
	return kernelCase{name, copies, []*tf.Tensor{u(1, a...), u(2, c...)}, func(_ *tf.Graph, in []tf.Output) tf.Output {
		return ops.MatMul(in[0], in[1], ops.MatMulOpts{TransposeA: ta, TransposeB: tb})
	}, 2 * float64(m) * float64(k) * float64(n), true}
}

func matmuls() (out []kernelCase) {
	copies := map[int]int{64: 200, 128: 50, 256: 20, 512: 5, 1024: 2, 2048: 1}
	for _, n := range []int{64, 128, 256, 512, 1024, 2048} {
		out = append(out, matmul(fmt.Sprintf("matmul_f32_%d", n), n, n, n, copies[n], false, false))
	}
	f64 := matmul("matmul_f64_512", 512, 512, 512, 3, false, false)
	f64.inputs = []*tf.Tensor{tensor(uniform64(1, 512*512, 1), 512, 512), tensor(uniform64(2, 512*512, 1), 512, 512)}
	out = append(out, f64,
		matmul("matmul_f32_100x784x512", 100, 784, 512, 10, false, false),
		matmul("matmul_f32_ta_784x100x512", 784, 100, 512, 10, true, false),
		matmul("matmul_f32_tb_100x512x784", 100, 512, 784, 10, false, true),
		matmul("matmul_f32_1x784x128", 1, 784, 128, 200, false, false))
	return append(out, kernelCase{"batch_matmul_f32_32x128x64x128", 5, []*tf.Tensor{u(1, 32, 128, 64), u(2, 32, 64, 128)},
		func(_ *tf.Graph, in []tf.Output) tf.Output { return ops.BatchMatMulV2(in[0], in[1]) }, 2 * 32 * 128 * 64 * 128, true})
}

func elementwise() (out []kernelCase) {
	p := positive(1, million)
	for i := range p {
		p[i] += 0.5
	}
	one := func(name string, x *tf.Tensor, f func(tf.Output, ...tf.Option) tf.Output) {
		out = append(out, kernelCase{name, 5, []*tf.Tensor{x}, func(_ *tf.Graph, in []tf.Output) tf.Output { return f(in[0]) }, million, false})
	}
	x, pos := u(1, million), tensor(p, million)
	one("exp_1M", x, ops.Exp)
	one("tanh_1M", x, ops.Tanh)
	one("sigmoid_1M", x, ops.Sigmoid)
	one("relu_1M", x, ops.Relu)
	one("square_1M", x, ops.Square)
	one("log_1M", pos, ops.Log)
	one("sqrt_1M", pos, ops.Sqrt)
	one("rsqrt_1M", pos, ops.Rsqrt)
	two := func(name string, a, b *tf.Tensor, f func(x, y tf.Output, opts ...tf.Option) tf.Output) {
		out = append(out, kernelCase{name, 5, []*tf.Tensor{a, b}, func(_ *tf.Graph, in []tf.Output) tf.Output { return f(in[0], in[1]) }, million, false})
	}
	two("add_1M", x, u(2, million), ops.AddV2)
	two("mul_1M", x, u(2, million), ops.Mul)
	two("add_row_broadcast_1024x1024", u(1, 1024, 1024), u(2, 1024), ops.AddV2)
	two("bias_add_1024x1024", u(1, 1024, 1024), u(2, 1024), ops.BiasAdd)
	out = append(out,
		kernelCase{"select_1M", 5, []*tf.Tensor{x, u(2, million)}, func(g *tf.Graph, in []tf.Output) tf.Output {
			return ops.SelectV2(ops.Greater(in[0], ops.Scalar(g, float32(0))), in[0], in[1])
		}, million, false},
		cast("cast_f32_f64_1M", x, tf.Float64), cast("cast_f32_i32_1M", tensor(uniform(1, million, 1000), million), tf.Int32))
	return out
}

func cast(name string, x *tf.Tensor, d tf.DType) kernelCase {
	return kernelCase{name, 5, []*tf.Tensor{x}, func(_ *tf.Graph, in []tf.Output) tf.Output { return ops.Cast(in[0], d) }, million, false}
}

func rows() []kernelCase {
	x := tensor(uniform(1, 1024*1000, 4), 1024, 1000)
	return []kernelCase{
		{"softmax_1024x1000", 5, []*tf.Tensor{x}, func(_ *tf.Graph, in []tf.Output) tf.Output { return ops.Softmax(in[0]) }, 1024 * 1000, false},
		{"log_softmax_1024x1000", 5, []*tf.Tensor{x}, func(_ *tf.Graph, in []tf.Output) tf.Output { return ops.LogSoftmax(in[0]) }, 1024 * 1000, false},
		{"sparse_softmax_xent_1024x1000", 5, []*tf.Tensor{x, tensor(labels(5, 1024, 1000), 1024)}, func(_ *tf.Graph, in []tf.Output) tf.Output {
			return ops.SparseSoftmaxCrossEntropyWithLogits(in[1], in[0])
		}, 1024 * 1000, false},
	}
}

func reductions() (out []kernelCase) {
	add := func(name string, x *tf.Tensor, f func(x, axes tf.Output, opts ...tf.Option) tf.Output, axes ...int32) {
		out = append(out, kernelCase{name, 2, []*tf.Tensor{x}, func(g *tf.Graph, in []tf.Output) tf.Output {
			return f(in[0], ops.Const(g, axes, len(axes)))
		}, float64(x.Len()), false})
	}
	sum := func(x, axes tf.Output, opts ...tf.Option) tf.Output { return ops.Sum(x, axes, opts...) }
	mean := func(x, axes tf.Output, opts ...tf.Option) tf.Output { return ops.Mean(x, axes, opts...) }
	maximum := func(x, axes tf.Output, opts ...tf.Option) tf.Output { return ops.Max(x, axes, opts...) }
	r := u(1, 4096, 1024)
	add("reduce_sum_axis0_4096x1024", r, sum, 0)
	add("reduce_sum_axis1_4096x1024", r, sum, 1)
	add("reduce_sum_all_4096x1024", r, sum, 0, 1)
	add("reduce_max_axis1_4096x1024", r, maximum, 1)
	add("reduce_mean_axis12_32x32x32x64", u(1, 32, 32, 32, 64), mean, 1, 2)
	return append(out, kernelCase{"argmax_axis1_4096x1024", 2, []*tf.Tensor{r}, func(g *tf.Graph, in []tf.Output) tf.Output {
		return ops.ArgMax(in[0], ops.Scalar(g, int32(1)))
	}, 4096 * 1024, false})
}

func movements() []kernelCase {
	square := u(1, 2048, 2048)
	four := []*tf.Tensor{u(1, 1024, 512), u(2, 1024, 512), u(3, 1024, 512), u(4, 1024, 512)}
	vec := func(g *tf.Graph, v ...int32) tf.Output { return ops.Const(g, v, len(v)) }
	concat := func(axis int32) func(*tf.Graph, []tf.Output) tf.Output {
		return func(g *tf.Graph, in []tf.Output) tf.Output { return ops.ConcatV2(in, ops.Scalar(g, axis)) }
	}
	return []kernelCase{
		{"transpose_2048x2048", 2, []*tf.Tensor{square}, func(g *tf.Graph, in []tf.Output) tf.Output { return ops.Transpose(in[0], vec(g, 1, 0)) }, 2048 * 2048, false},
		{"transpose_nhwc_nchw_8x56x56x64", 2, []*tf.Tensor{u(1, 8, 56, 56, 64)}, func(g *tf.Graph, in []tf.Output) tf.Output { return ops.Transpose(in[0], vec(g, 0, 3, 1, 2)) }, 8 * 56 * 56 * 64, false},
		{"gather_4096_of_100000x128", 5, []*tf.Tensor{u(1, 100000, 128), tensor(labels(2, 4096, 100000), 4096)}, func(g *tf.Graph, in []tf.Output) tf.Output {
			return ops.GatherV2(in[0], in[1], ops.Scalar(g, int32(0)))
		}, 4096 * 128, false},
		{"segment_sum_4096x128_into_1000", 5, []*tf.Tensor{u(1, 4096, 128), tensor(labels(2, 4096, 1000), 4096)}, func(g *tf.Graph, in []tf.Output) tf.Output {
			return ops.UnsortedSegmentSum(in[0], in[1], ops.Scalar(g, int32(1000)))
		}, 4096 * 128, false},
		{"concat_axis0_4x1024x512", 2, four, concat(0), 4 * 1024 * 512, false},
		{"concat_axis1_4x1024x512", 2, four, concat(1), 4 * 1024 * 512, false},
		{"slice_1024x1024_of_2048x2048", 2, []*tf.Tensor{square}, func(g *tf.Graph, in []tf.Output) tf.Output {
			return ops.Slice(in[0], vec(g, 512, 512), vec(g, 1024, 1024))
		}, million, false},
		{"tile_2x2_1024x1024", 1, []*tf.Tensor{u(1, 1024, 1024)}, func(g *tf.Graph, in []tf.Output) tf.Output { return ops.Tile(in[0], vec(g, 2, 2)) }, 4 * million, false},
		{"pad_1_8x56x56x64", 2, []*tf.Tensor{u(1, 8, 56, 56, 64)}, func(g *tf.Graph, in []tf.Output) tf.Output {
			return ops.Pad(in[0], ops.Const(g, []int32{0, 0, 1, 1, 1, 1, 0, 0}, 4, 2))
		}, 8 * 56 * 56 * 64, false},
	}
}

func randoms() []kernelCase {
	one := int64(1)
	size := func(g *tf.Graph) tf.Output { return ops.Const(g, []int32{million}) }
	return []kernelCase{
		{"random_uniform_1M", 2, nil, func(g *tf.Graph, _ []tf.Output) tf.Output {
			return ops.RandomUniform(nil, size(g), tf.Float32, ops.RandomOpts{Seed: &one})
		}, million, false},
		{"random_normal_1M", 2, nil, func(g *tf.Graph, _ []tf.Output) tf.Output {
			return ops.RandomStandardNormal(nil, size(g), tf.Float32, ops.RandomOpts{Seed: &one})
		}, million, false},
		{"truncated_normal_1M", 2, nil, func(g *tf.Graph, _ []tf.Output) tf.Output {
			return ops.TruncatedNormal(nil, size(g), tf.Float32, ops.RandomOpts{Seed: &one})
		}, million, false},
	}
}

// apply measures one optimizer update of four million elements.
func (b *bench) apply(name string) {
	const n = 1 << 22
	g := tf.NewGraph()
	pv, pg := ops.Placeholder(g, tf.Float32, tf.Shape{n}), ops.Placeholder(g, tf.Float32, tf.Shape{n})
	v := tf.NewVariable(pv, tf.VariableOptions{})
	grad := tf.NewVariable(pg, tf.VariableOptions{NotTrainable: true})
	o := map[string]train.Optimizer{"sgd": train.GradientDescent{LearningRate: 0.01},
		"momentum": train.Momentum{LearningRate: 0.01, Momentum: 0.9}, "adam": train.Adam{LearningRate: 0.001}}[name]
	op := must(o.ApplyGradients([]train.GradVar{{Grad: tf.Dense(grad.Value()), Var: v}}))
	s := b.open(g, true)
	defer s.Close()
	initialize(s, []tf.Output{pv, pg}, []*tf.Tensor{tensor(uniform(1, n, 1), n), tensor(uniform(2, n, 0.01), n)})
	c := must(s.MakeCallable(nil, op))
	must(c.Run(ctx))
	sum := 0.0
	func() {
		for _, x := range must(session.Fetch[float32](ctx, s, nil, ops.Abs(v.Value()))) {
			sum += float64(x)
		}
	}()
	b.check(fmt.Sprintf("apply_%s_4M.mean_abs", name), sum/n, nil)
	t := b.bestAuto(func() { must(c.Run(ctx)) })
	b.emit(fmt.Sprintf("apply_%s_4M.ns_per_element", name), t*1e9/n, "ns/element")
}
