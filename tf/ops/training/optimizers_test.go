package training_test

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// optimized makes the function of a sample that runs an optimizer on variables
// that begin with the first n inputs, and reads them.
func optimized(op string, n int, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	if strings.HasPrefix(op, "Resource") {
		return func(g *tf.Graph, in []tf.Output) []tf.Output { return optimizedResources(g, op, in, n, opts) }
	}
	return func(g *tf.Graph, in []tf.Output) []tf.Output { return optimizedRefs(g, op, in, n, opts) }
}

func optimizedResources(g *tf.Graph, op string, in []tf.Output, n int, opts []tf.Option) []tf.Output {
	args := append([]tf.Output{}, in...)
	var set []*tf.Operation
	for i := range n {
		h, s := variableOf(g, in[i], "v"+string(rune('0'+i)))
		args[i], set = h, append(set, s)
	}
	step := after(g, func() *tf.Operation { return tf.Apply(g, op, args, opts...) }, set...)
	if step.Err() != nil {
		return []tf.Output{step.Output(0)}
	}
	return after(g, func() (out []tf.Output) {
		for i := range n {
			out = append(out, ops.ReadVariableOp(args[i], in[i].DType()))
		}
		return out
	}, step)
}

func optimizedRefs(g *tf.Graph, op string, in []tf.Output, n int, opts []tf.Option) []tf.Output {
	args := append([]tf.Output{}, in...)
	var set []*tf.Operation
	for i := range n {
		args[i] = ops.VariableV2(g, in[i].DType(), nil)
		set = append(set, ops.Assign(args[i], in[i], ops.AssignOpts{AnyShape: true}).Operation())
	}
	step := after(g, func() tf.Output { return tf.Apply(g, op, args, opts...).Output(0) }, set...)
	out := []tf.Output{ops.Identity(step)}
	return append(out, after(g, func() (rest []tf.Output) {
		for _, ref := range args[1:n] {
			rest = append(rest, ops.Identity(ref))
		}
		return rest
	}, step.Operation())...)
}

// rate returns a scalar for a learning rate and the like.
func rate(v float32) *core.Tensor { return scalar(v) }

func init() {
	lr, momentum, rho, epsilon := rate(0.125), rate(0.75), rate(0.9), rate(1e-3)
	v, g := seq(3, 5), seq(5, 3)
	g, _ = g.Reshape(tf.Shape{3, 5})
	slot := positive(3, 5)
	nesterov := tf.Attr("use_nesterov", true)
	still := tf.Attr("update_slots", false)
	type inputs = []*core.Tensor
	optimizer := func(op string, n int, in inputs, variant string, option tf.Option, flavours ...string) {
		for _, f := range flavours {
			name, graphOnly := f+"Apply"+op, ""
			if f == "" {
				graphOnly = noRefs
			}
			addSamples(in16Bits(sample{Op: name, In: in, F: optimized(name, n), GraphOnly: graphOnly})...)
			if option != nil {
				addSamples(sample{Op: name, Name: variant, In: in, F: optimized(name, n, option), GraphOnly: graphOnly})
			}
			bad := append(inputs{}, in...)
			bad[0] = seq(2)
			s := failing(name, "shape", optimized(name, n), bad...)
			s.GraphOnly = graphOnly
			addSamples(s)
		}
	}
	both := []string{"Resource", ""}
	optimizer("GradientDescent", 1, inputs{v, lr, g}, "", nil, both...)
	optimizer("Momentum", 2, inputs{v, slot, lr, g, momentum}, "nesterov", nesterov, both...)
	optimizer("KerasMomentum", 2, inputs{v, slot, lr, g, momentum}, "nesterov", nesterov, "Resource")
	optimizer("Adam", 3, inputs{v, seq(3, 5), slot, rate(0.5), rate(0.25), lr, rho, rate(0.99), epsilon, g}, "nesterov", nesterov, both...)
	optimizer("Adagrad", 2, inputs{v, slot, lr, g}, "still", still, both...)
	optimizer("AdagradV2", 2, inputs{v, slot, lr, epsilon, g}, "still", still, both...)
	optimizer("RMSProp", 3, inputs{v, slot, seq(3, 5), lr, rho, momentum, epsilon, g}, "", nil, both...)
	large := positive(3, 5)
	for i := range core.Data[float32](large) {
		core.Data[float32](large)[i] += 100 // the variance must not be negative
	}
	optimizer("CenteredRMSProp", 4, inputs{v, seq(3, 5), large, seq(3, 5), lr, rho, momentum, epsilon, g}, "", nil, both...)
	optimizer("Adadelta", 3, inputs{v, slot, positive(3, 5), lr, rho, epsilon, g}, "", nil, both...)
	optimizer("Ftrl", 3, inputs{v, slot, seq(3, 5), g, lr, rate(0.5), rate(0.25), rate(-0.5)}, "scaled", tf.Attr("multiply_linear_by_lr", true), both...)
	addSparseOptimizerSamples()
	ftrl := optimized("ResourceApplyFtrl", 3)
	addSamples(
		sample{Op: "ResourceApplyFtrl", Name: "power", In: inputs{v, slot, seq(3, 5), g, lr, rate(0.5), rate(0.25), rate(-0.75)}, F: ftrl},
		failing("ResourceApplyAdam", "slot", optimized("ResourceApplyAdam", 3), v, seq(2), slot, lr, lr, lr, rho, rho, epsilon, g),
		failing("ResourceApplyAdam", "power", optimized("ResourceApplyAdam", 3), v, v, slot, vec[float32](1, 2), lr, lr, rho, rho, epsilon, g),
		failing("ResourceApplyGradientDescent", "rate", optimized("ResourceApplyGradientDescent", 1), v, vec[float32](1), g),
	)
}

// in16Bits gives the samples of FTRL a tolerance of their own for 16-bit
// floats: TensorFlow rounds there after each operation, and a difference of
// roots makes much of that.
func in16Bits(s sample) []sample {
	if !strings.HasSuffix(s.Op, "Ftrl") {
		return []sample{s}
	}
	rough := s
	s.Types = []tf.DType{tf.Float64}
	rough.Name, rough.Types, rough.Tol = "in 16 bits", []tf.DType{tf.Float16, tf.BFloat16}, 0.1
	return []sample{s, rough}
}

// addSparseOptimizerSamples has rows 3, 0 and 3 again of four updated.
func addSparseOptimizerSamples() {
	lr, momentum, rho, epsilon := rate(0.125), rate(0.75), rate(0.9), rate(1e-3)
	v, slot, g, rows := seq(4, 3), positive(4, 3), seq(3, 3), i32(3, 0, 3)
	type inputs = []*core.Tensor
	add := func(op string, n int, in ...*core.Tensor) {
		for _, flavour := range []string{"Resource", ""} {
			name, graphOnly := flavour+"SparseApply"+op, noRefs
			if flavour != "" {
				graphOnly = ""
			}
			if core.Lookup(name) == nil {
				continue // TensorFlow has it for resources only
			}
			addSamples(in16Bits(sample{Op: name, In: in, F: optimized(name, n), GraphOnly: graphOnly})...)
			k := len(in) - 1
			for ; in[k] != rows; k-- {
			}
			bad := append(inputs{}, in...)
			bad[k] = i32(0, 4, 1)
			s := failing(name, "index", optimized(name, n), bad...)
			s.GraphOnly = graphOnly
			if op == "KerasMomentum" {
				s.NoGolden = "TensorFlow words it differently than for all the others"
			}
			addSamples(s)
		}
	}
	add("Momentum", 2, v, slot, lr, g, rows, momentum)
	add("KerasMomentum", 2, v, slot, lr, g, rows, momentum)
	add("Adagrad", 2, v, slot, lr, g, rows)
	add("AdagradV2", 2, v, slot, lr, epsilon, g, rows)
	add("RMSProp", 3, v, slot, seq(4, 3), lr, rho, momentum, epsilon, g, rows)
	add("CenteredRMSProp", 4, v, zeros(4, 3), slot, seq(4, 3), lr, rho, momentum, epsilon, g, rows)
	add("Adadelta", 3, v, slot, positive(4, 3), lr, rho, epsilon, g, rows)
	add("Ftrl", 3, v, slot, seq(4, 3), g, rows, lr, rate(0.5), rate(0.25), rate(-0.5))
	adagrad := optimized("ResourceSparseApplyAdagrad", 2)
	addSamples(
		failing("ResourceSparseApplyAdagrad", "rows", adagrad, v, slot, lr, seq(2, 3), rows),
		failing("ResourceSparseApplyAdagrad", "columns", adagrad, v, slot, lr, seq(3, 2), rows),
		failing("ResourceSparseApplyAdagrad", "matrix", adagrad, v, slot, lr, g, mat[int32](3, 3, 0, 3)),
		failing("ResourceSparseApplyAdagrad", "scalar", adagrad, rate(1), rate(1), lr, g, rows),
	)
}

func zeros(s ...int) *core.Tensor { return core.NewTensor(tf.Float32, tf.Shape(s)) }
