package training_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/optest"
)

// trained adds samples of an optimizer with n variables: dense ones, or sparse
// ones that update rows 3, 0 and 3 again of four.
func trained(op string, n int, types []tf.DType, options []tf.Option, in ...*core.Tensor) {
	for _, flavour := range []string{"Resource", ""} {
		s := sample{Op: flavour + op, In: in, GraphOnly: noRefs, Types: types}
		if core.Lookup(s.Op) == nil {
			continue // TensorFlow has it for resources only
		}
		if flavour != "" {
			s.GraphOnly = ""
		}
		s.F = optimized(s.Op, n)
		addSamples(s)
		for _, o := range options {
			s.Name, s.F, s.Types = "with option", optimized(s.Op, n, o), onlyOwn
			addSamples(s)
		}
		if op != "SparseApplyProximalGradientDescent" { // TensorFlow takes any shape there
			addTrainedBadly(s, n)
		}
	}
}

// addTrainedBadly adds the sample with a variable of another shape.
func addTrainedBadly(s sample, n int) {
	bad := append([]*core.Tensor{}, s.In...)
	bad[0] = optest.Seq(7)
	f := failing(s.Op, "shape", optimized(s.Op, n), bad...)
	f.GraphOnly = s.GraphOnly
	addSamples(f)
}

func init() {
	var (
		lr, beta, epsilon = rate(0.125), rate(0.9), rate(1e-3)
		l1, l2, none      = rate(0.5), rate(0.25), rate(0)
		v, slot, m        = seq(4, 3), positive(4, 3), within(-1, 1, 4, 3)
		g, rows           = within(-2, 2, 3, 3), i32(3, 0, 3)
		dense             = within(-2, 2, 4, 3)
		step              = scalar(int64(3))
		floats            = []tf.DType{tf.Float64}
		linear            = []tf.Option{tf.Attr("multiply_linear_by_lr", true)}
	)
	trained("ApplyAddSign", 2, floats, nil, v, m, lr, rate(0.75), rate(0.5), beta, dense)
	trained("ApplyPowerSign", 2, floats, nil, v, m, lr, rate(1.5), rate(0.5), beta, dense)
	trained("ApplyAdaMax", 3, floats, nil, v, m, slot, rate(0.5), lr, beta, rate(0.99), epsilon, dense)
	trained("ApplyAdamWithAmsgrad", 4, floats, nil, v, m, slot, positive(4, 3), rate(0.5), rate(0.25), lr, beta, rate(0.99), epsilon, dense)
	trained("ApplyProximalGradientDescent", 1, floats, nil, v, lr, l1, l2, dense)
	trained("ApplyProximalAdagrad", 2, floats, nil, v, slot, lr, l1, l2, dense)
	trained("ApplyAdagradDA", 3, floats, nil, v, m, slot, dense, lr, l1, l2, step)
	trained("ApplyFtrlV2", 3, floats, linear, v, slot, m, dense, lr, l1, l2, rate(0.75), rate(-0.5))
	trained("SparseApplyProximalGradientDescent", 1, floats, nil, v, lr, l1, l2, g, rows)
	trained("SparseApplyProximalAdagrad", 2, floats, nil, v, slot, lr, l1, l2, g, rows)
	trained("SparseApplyAdagradDA", 3, floats, nil, v, m, slot, g, rows, lr, l1, l2, step)
	trained("SparseApplyFtrlV2", 3, floats, linear, v, slot, m, g, rows, lr, l1, l2, rate(0.75), rate(-0.25))
	for _, op := range []string{"ResourceApplyProximalGradientDescent", "ResourceSparseApplyProximalGradientDescent"} {
		in := []*core.Tensor{v, lr, none, l2, dense}
		if op[8] == 'S' {
			in = []*core.Tensor{v, lr, none, l2, g, rows}
		}
		addSamples(sample{Op: op, Name: "without l1", In: in, F: optimized(op, 1)})
	}
}
