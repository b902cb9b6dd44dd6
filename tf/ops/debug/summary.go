package debug

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	types := []tf.DType{tf.Float16, tf.BFloat16, tf.Float32, tf.Float64, tf.Bool, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64}
	core.Register(core.OpDef{
		Name: "DebugNumericSummaryV2", In: "input: T", Out: "output: output_dtype",
		Attrs: "output_dtype: {float, double} = float; T: type; tensor_debug_mode: int = -1; tensor_id: int = -1",
		Shape: debugSummaryShape, NoGrad: core.NoGradientDefined,
		Kernels: core.KernelSet{All: debugSummary, Types: map[string][]tf.DType{"T": types}},
	})
}

// DebugNumericSummaryV2Opts are the optional attributes of
// DebugNumericSummaryV2.
type DebugNumericSummaryV2Opts struct {
	OutputType tf.DType // Float32 or Float64, Float32 if not given
	Mode       int      // what the summary tells: CurtHealth and others
	TensorID   int      // stands in the summary for its tensor
}

// Apply sets the attributes.
func (o DebugNumericSummaryV2Opts) Apply(s *tf.Spec) {
	if o.OutputType != tf.Invalid {
		s.Set("output_dtype", o.OutputType)
	}
	s.Set("tensor_debug_mode", o.Mode)
	s.Set("tensor_id", o.TensorID)
}

// The modes of DebugNumericSummaryV2, with TensorFlow's numbers.
const (
	CurtHealth            = 2 // id; 1 if a number is not finite
	ConciseHealth         = 3 // id, size; how many are -Inf, Inf, NaN
	FullHealth            = 4 // id, -1, type, rank, size; how many are -Inf, Inf, NaN, below, equal to, above zero
	ShapeSummary          = 5 // id, type, rank, size; the last six dimensions, zeros behind fewer
	ReduceInfNaNThreeSlot = 8 // -Inf, Inf and NaN if they occur, else zeros
)

// DebugNumericSummaryV2 returns numbers that tell, as the mode says, of the
// shape and the health of x. x holds real numbers or bools; the result is a
// float32 or float64 vector whose length the mode tells. A mode that there is
// not is refused with UNIMPLEMENTED in the step, a TensorID that the result's
// type cannot count with INVALID_ARGUMENT.
// Its options are [DebugNumericSummaryV2Opts].
func DebugNumericSummaryV2(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("DebugNumericSummaryV2", opts, x)
}

// summarySizes are the lengths of results by mode.
var summarySizes = map[int]int{CurtHealth: 2, ConciseHealth: 5, FullHealth: 11, ShapeSummary: 10, ReduceInfNaNThreeSlot: 3}

func debugSummaryShape(c *core.Infer) error {
	if n, ok := summarySizes[c.Int("tensor_debug_mode")]; ok {
		c.Set(0, tf.Shape{n})
	}
	return nil
}

func debugSummary(n *core.Node) (core.Kernel, error) {
	d, mode, id := n.Type("output_dtype"), n.Int("tensor_debug_mode"), n.Int("tensor_id")
	digits := 24 // of what the result can count exactly
	if d == tf.Float64 {
		digits = 53
	}
	return core.Compute(func(c *core.OpContext) error {
		if mode != ReduceInfNaNThreeSlot && id > 1<<digits {
			return tf.Errorf(tf.InvalidArgument, "DebugNumericSummaryV2Op requires tensor_id to be less than or equal to (2^%d). Given tensor_id:%d", digits, id)
		}
		if summarySizes[mode] == 0 {
			return tf.Errorf(tf.Unimplemented, "Unimplemented tensor debug mode: %d", mode)
		}
		s := summaryOf(c.Input(0), float64(id), mode)
		t, err := c.Alloc(0, d, tf.Shape{len(s)})
		if err == nil {
			elementwise.Cast(core.AnyData(t), s)
		}
		return err
	}), nil
}

// summaryOf returns what a mode tells of x.
func summaryOf(x *core.Tensor, id float64, mode int) []float64 {
	kind, rank, size := float64(x.DType()), float64(x.Rank()), float64(x.Len())
	if mode == ShapeSummary {
		return append([]float64{id, kind, rank, size}, lastDims(x.Shape(), 6)...)
	}
	var s numericSummary
	for _, v := range numbersOf(x) {
		s.add(v, math.Inf(-1), math.Inf(1))
	}
	low, high, nan := float64(s.low), float64(s.high), float64(s.nan)
	switch mode {
	case CurtHealth:
		return []float64{id, min(low+high+nan, 1)}
	case ConciseHealth:
		return []float64{id, size, low, high, nan}
	case FullHealth:
		return []float64{id, -1, kind, rank, size, low, high, nan, float64(s.negative), float64(s.zero), float64(s.positive)}
	}
	return []float64{ifAny(s.low, math.Inf(-1)), ifAny(s.high, math.Inf(1)), ifAny(s.nan, math.NaN())}
}

func ifAny(count int, v float64) float64 {
	if count == 0 {
		return 0
	}
	return v
}

// lastDims returns the last n dimensions of s, zeros behind them if there are
// fewer.
func lastDims(s tf.Shape, n int) []float64 {
	out := core.Make[float64](n)
	for i, d := range s[max(0, len(s)-n):] {
		out[i] = float64(d)
	}
	return out
}
