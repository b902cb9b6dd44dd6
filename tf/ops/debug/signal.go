package debug

import (
	"math"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// What TensorFlow's debugger puts on edges: copies, and signals made of them,
// which are written to files.

func init() {
	const urls = "device_name: string = ''; tensor_name: string = ''; debug_urls: list(string) = []; "
	const gate = "gated_grpc: bool = false"
	for _, name := range []string{"Copy", "CopyHost"} {
		core.Register(core.OpDef{
			Name: name, In: "input: T", Out: "output: T", Attrs: "T: type; tensor_name: string = ''; debug_ops_spec: list(string) = []", Uninitialized: true,
			Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(debugCopy),
		})
	}
	core.Register(core.OpDef{
		Name: "DebugIdentity", In: "input: T", Out: "output: T", Attrs: "T: type; " + urls + gate, Uninitialized: true,
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(debugSignal(passOn)),
	})
	core.Register(core.OpDef{
		Name: "DebugIdentityV2", In: "input: T", Out: "output: T", Stateful: true,
		Attrs: "T: type; tfdbg_context_id: string = ''; op_name: string = ''; output_slot: int = -1; tensor_debug_mode: int = -1; " +
			"debug_urls: list(string) = []; circular_buffer_size: int = 1000; tfdbg_run_id: string = ''",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(passGrad), Kernels: core.AnyType(debugIdentityV2),
	})
	numbers := []tf.DType{tf.Float32, tf.Float64, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64}
	signal := func(name, out, attrs string, run core.Compute, types ...tf.DType) {
		core.Register(core.OpDef{
			Name: name, In: "input: T", Out: "output: " + out, Attrs: "T: type; " + urls + attrs + gate, Uninitialized: true,
			Shape: debugSignalShape, NoGrad: core.NoGradientDefined,
			Kernels: core.KernelSet{All: debugSignal(run), Types: map[string][]tf.DType{"T": append(types, numbers...)}},
		})
	}
	signal("DebugNanCount", "int64", "", debugNaNCount, tf.Float16, tf.BFloat16)
	signal("DebugNumericSummary", "double", "lower_bound: float = -inf; upper_bound: float = inf; mute_if_healthy: bool = false; ", debugNumericSummary, tf.Bool)
}

func debugSignalShape(c *core.Infer) error {
	c.Set(0, tf.Shape{-1}) // one number, or none if the gate is closed
	if c.OpName() == "DebugNumericSummary" {
		c.Set(0, nil)
	}
	return nil
}

// debugCopy copies its input, which may be a variable that changes later.
func debugCopy(n *core.Node) (core.Kernel, error) {
	for _, spec := range n.Strs("debug_ops_spec") {
		if strings.Count(spec, ";") != 2 {
			return nil, tf.Errorf(tf.Internal, "Unexpected number of semicolons in debug_ops_spec element: %s", spec)
		}
	}
	return core.Compute(func(c *core.OpContext) error {
		c.Set(0, c.Input(0).Clone())
		return nil
	}), nil
}

// debugSignal makes the kernel of an op that computes a signal and publishes it,
// unless its gate is closed: then the result is empty. Gates stay closed here.
func debugSignal(run core.Compute) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		key, err := debugKeyOf(n)
		if err != nil {
			return nil, err
		}
		files, err := debugFiles(n.Strs("debug_urls"))
		if err != nil {
			return nil, err
		}
		if n.Bool("gated_grpc") && len(files) == 0 {
			return core.Compute(func(c *core.OpContext) error {
				_, err := c.Alloc(0, n.OutTypes[0].Base(), tf.Shape{0})
				return err
			}), nil
		}
		muted := n.Bool("mute_if_healthy")
		return core.Compute(func(c *core.OpContext) error {
			if err := run(c); err != nil {
				return err
			}
			if signal := c.Out[0].T; signal != nil && !(muted && healthy(signal)) {
				return key.publish(signal, files)
			}
			return nil
		}), nil
	}
}

// debugFiles returns those of urls that name directories. To gRPC, which gates
// are for, nothing is published.
func debugFiles(urls []string) (files []string, err error) {
	for _, url := range urls {
		switch lower := strings.ToLower(url); {
		case strings.HasPrefix(lower, "file://"):
			files = append(files, url)
		case strings.HasPrefix(lower, "grpc://"):
			return nil, tf.Errorf(tf.Unimplemented, "debug signals are published to files only, got the URL %s", url)
		default:
			return nil, tf.Errorf(tf.Unavailable, "Invalid debug target URL: %s", url)
		}
	}
	return files, nil
}

// healthy reports whether a DebugNumericSummary has no NaN and nothing infinite.
func healthy(summary *core.Tensor) bool {
	v := core.Data[float64](summary)
	return v[2] == 0 && v[3] == 0 && v[7] == 0
}

// debugKeyOf reads the name of a node, or that of an output: "node:1".
func debugKeyOf(n *core.Node) (debugKey, error) {
	name := n.Str("tensor_name")
	node, slot, named := strings.Cut(name, ":")
	k := debugKey{device: n.Str("device_name"), node: node, signal: n.OpName()}
	if name == "" || strings.Contains(slot, ":") {
		return k, tf.Errorf(tf.InvalidArgument, "Failed to parse tensor name: \"%s\"", name)
	}
	var err error
	if k.slot, err = strconv.Atoi(slot); named && err != nil {
		return k, tf.Errorf(tf.InvalidArgument, "Invalid string value for output_slot: \"%s\"", slot)
	}
	return k, nil
}

func debugIdentityV2(n *core.Node) (core.Kernel, error) {
	urls := n.Strs("debug_urls")
	if len(urls) == 0 {
		return passOnKernel(n)
	}
	if !strings.HasPrefix(urls[0], "file://") {
		return nil, tf.Errorf(tf.Internal, "Unsupported debug URL schema in: %s", urls[0])
	}
	return nil, tf.Errorf(tf.Unimplemented, "traces of executions are not written, got the URL %s", urls[0])
}

// numbersOf returns the numbers of t as float64.
func numbersOf(t *core.Tensor) []float64 {
	x := core.Make[float64](t.Len())
	elementwise.Cast(x, core.AnyData(t))
	return x
}

func debugNaNCount(c *core.OpContext) error {
	count := int64(0)
	for _, v := range numbersOf(c.Input(0)) {
		if math.IsNaN(v) {
			count++
		}
	}
	t, err := c.Alloc(0, tf.Int64, tf.Shape{1})
	if err != nil {
		return err
	}
	core.Data[int64](t)[0] = count
	return nil
}

// A numericSummary counts numbers by kind. Those at a bound or beyond it count
// as infinite.
type numericSummary struct {
	nan, low, negative, zero, positive, high int
	least, greatest, sum                     float64
}

// add counts v. It reports whether v is neither NaN nor infinite.
func (s *numericSummary) add(v, lower, upper float64) (finite bool) {
	switch {
	case math.IsNaN(v):
		s.nan++
		return false
	case math.IsInf(v, -1):
		s.low++
		return false
	case math.IsInf(v, 1):
		s.high++
		return false
	case v <= lower:
		s.low++
	case v >= upper:
		s.high++
	case v < 0:
		s.negative++
	case v > 0:
		s.positive++
	default:
		s.zero++
	}
	s.least, s.greatest, s.sum = min(s.least, v), max(s.greatest, v), s.sum+v
	return true
}

func debugNumericSummary(c *core.OpContext) error {
	x := c.Input(0)
	data := numbersOf(x)
	s := numericSummary{least: math.Inf(1), greatest: math.Inf(-1)}
	lower, upper := float64(c.Node.Float("lower_bound")), float64(c.Node.Float("upper_bound"))
	if math.IsInf(lower, 0) { // either infinity stands for no bound
		lower = math.Inf(-1)
	}
	if math.IsInf(upper, 0) {
		upper = math.Inf(1)
	}
	var finite []float64
	for _, v := range data {
		if s.add(v, lower, upper) {
			finite = append(finite, v)
		}
	}
	mean, variance := meanAndVariance(finite, s.sum)
	out := []float64{1, float64(len(data)), float64(s.nan), float64(s.low), float64(s.negative), float64(s.zero), float64(s.positive), float64(s.high),
		s.least, s.greatest, mean, variance, float64(x.DType()), float64(x.Rank())}
	for _, d := range x.Shape() {
		out = append(out, float64(d))
	}
	t, err := c.Alloc(0, tf.Float64, tf.Shape{len(out)})
	if err != nil {
		return err
	}
	copy(core.Data[float64](t), out)
	return nil
}

// meanAndVariance returns the mean and the variance of x, whose sum is known; NaN if
// there are no numbers.
func meanAndVariance(x []float64, sum float64) (mean, variance float64) {
	n := float64(len(x))
	mean, variance = sum/n, 0
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / n
}
