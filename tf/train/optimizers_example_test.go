package train_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// Weight decay makes variables smaller even where the gradient is 0.
func ExampleAdamW() {
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{4, 4}), tf.VariableOptions{Name: "v"})
	gvs := []train.GradVar{{Var: v, Grad: tf.Dense(ops.Const(g, []float32{0, 1}))}}
	optimizer := train.AdamW{Adam: train.Adam{LearningRate: 0.5}, WeightDecay: 0.25}
	if _, err := optimizer.ApplyGradients(gvs); err != nil {
		fmt.Println(err)
		return
	}
	x, err := v.Value().Value()
	fmt.Printf("%.2f %v\n", tf.Data[float32](x), err)
	// Output: [3.00 2.50] <nil>
}

// Adadelta and AdaMax adapt the rate of each element: a gradient of any size moves
// its element by about as much.
func ExampleAdadelta() {
	for _, o := range []train.Optimizer{
		train.Adadelta{LearningRate: 10, Epsilon: 0.01},
		train.AdaMax{LearningRate: 0.5},
	} {
		g := eager.New()
		v := tf.NewVariable(ops.Const(g, []float32{1, 1}), tf.VariableOptions{Name: "v"})
		gvs := []train.GradVar{{Var: v, Grad: tf.Dense(ops.Const(g, []float32{1, 100}))}}
		if _, err := o.ApplyGradients(gvs); err != nil {
			fmt.Println(err)
			return
		}
		x, err := v.Value().Value()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%T %.2f\n", o, tf.Data[float32](x))
	}
	// Output:
	// train.Adadelta [-3.08 -3.47]
	// train.AdaMax [0.50 0.50]
}

// L1 sets what matters little to exactly 0.
func ExampleFTRL() {
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{1, 1}), tf.VariableOptions{Name: "v"})
	gvs := []train.GradVar{{Var: v, Grad: tf.Dense(ops.Const(g, []float32{0.25, -4}))}}
	if _, err := (train.FTRL{LearningRate: 1, L1: 4}).ApplyGradients(gvs); err != nil {
		fmt.Println(err)
		return
	}
	x, err := v.Value().Value()
	fmt.Println(x, err)
	// Output: float32[2]{0, 0.92118895} <nil>
}

// AdagradDA averages all gradients; it has to be told how many updates there were.
func ExampleAdagradDA() {
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{0, 0}), tf.VariableOptions{Name: "v"})
	step := train.GlobalStep(g)
	gvs := []train.GradVar{{Var: v, Grad: tf.Dense(ops.Const(g, []float32{0.25, 4}))}}
	optimizer := train.AdagradDA{LearningRate: 1, L1: 0.5, GlobalStep: step}
	for range 2 {
		if _, err := optimizer.ApplyGradients(gvs); err != nil {
			fmt.Println(err)
			return
		}
		step.AssignAdd(ops.Scalar[int64](g, 1))
	}
	x, err := v.Value().Value()
	fmt.Printf("%.2f %v\n", tf.Data[float32](x), err)
	// Output: [-0.00 -1.24] <nil>
}

// A proximal step subtracts the gradient, then moves each element towards 0 by the
// penalty, and not beyond.
func ExampleProximalGradientDescent() {
	for _, o := range []train.Optimizer{
		train.ProximalGradientDescent{LearningRate: 1, L1: 0.5},
		train.ProximalAdagrad{LearningRate: 1, L1: 0.5, InitialAccumulator: 1},
	} {
		g := eager.New()
		v := tf.NewVariable(ops.Const(g, []float32{0.25, 4}), tf.VariableOptions{Name: "v"})
		gvs := []train.GradVar{{Var: v, Grad: tf.Dense(ops.Const(g, []float32{0, 0}))}}
		if _, err := o.ApplyGradients(gvs); err != nil {
			fmt.Println(err)
			return
		}
		x, err := v.Value().Value()
		fmt.Printf("%T %v %v\n", o, x, err)
	}
	// Output:
	// train.ProximalGradientDescent float32[2]{0, 3.5} <nil>
	// train.ProximalAdagrad float32[2]{0, 3.5} <nil>
}

// The second gradient agrees with the first in one element: that one moves further.
func ExamplePowerSign() {
	for _, o := range []train.Optimizer{
		train.PowerSign{LearningRate: 1, Base: 4},
		train.AddSign{LearningRate: 1, Alpha: 1},
	} {
		g := eager.New()
		v := tf.NewVariable(ops.Const(g, []float32{0, 0}), tf.VariableOptions{Name: "v"})
		for _, grad := range [][]float32{{1, 1}, {1, -1}} {
			gvs := []train.GradVar{{Var: v, Grad: tf.Dense(ops.Const(g, grad))}}
			if _, err := o.ApplyGradients(gvs); err != nil {
				fmt.Println(err)
				return
			}
			x, err := v.Value().Value()
			fmt.Printf("%T %v %v\n", o, x, err)
		}
	}
	// Output:
	// train.PowerSign float32[2]{-4, -4} <nil>
	// train.PowerSign float32[2]{-8, 0} <nil>
	// train.AddSign float32[2]{-2, -2} <nil>
	// train.AddSign float32[2]{-4, 0} <nil>
}

// Half precision cannot hold 1e-8. Computed with a loss that is 1024 times as
// large, the gradient is there.
func ExampleLossScaleOptimizer() {
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	small := ops.Scalar[float32](g, 1e-8)
	loss := v.Value().Cast(tf.Float16).Cast(tf.Float32).Mul(small)
	scaling := train.LossScaling{Fixed: 1024}
	optimizer, err := train.NewLossScaleOptimizer(g, train.GradientDescent{LearningRate: 1e7}, scaling)
	if err != nil {
		fmt.Println(err)
		return
	}
	step := optimizer.Minimize(loss)
	plain := train.GradientDescent{LearningRate: 1e7}.Minimize(loss)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, op := range []*tf.Operation{tf.InitializeAll(g), plain, step} {
		if _, err := s.Run(ctx, nil, op); err != nil {
			fmt.Println(err)
			return
		}
		x, err := session.Fetch[float32](ctx, s, nil, v.Value())
		fmt.Printf("%.2f %v\n", x, err)
	}
	// Output:
	// [1.00] <nil>
	// [1.00] <nil>
	// [0.90] <nil>
}

// With GateGraph an operation holds back the gradients until all are computed.
func ExampleGate() {
	for _, gate := range []train.Gate{train.GateNone, train.GateGraph} {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
		w := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "w"})
		loss := v.Value().Mul(w.Value())
		train.Minimize(train.GradientDescent{LearningRate: 1}, loss, train.Options{Gate: gate})
		if gated := g.Operation("tuple/group_deps"); gated != nil {
			fmt.Println(len(gated.ControlInputs()), "gradients wait")
		}
	}
	// Output: 2 gradients wait
}

// A strategy of one's own puts all variables on the last parameter server.
func ExamplePSStrategy() {
	last := train.PSStrategy(func(*core.Node) int { return 1 })
	for _, strategy := range []train.PSStrategy{last, train.RoundRobin(2), train.GreedyLoadBalancing(2, train.ByteSize)} {
		g := tf.NewGraph()
		spread := train.ReplicaDevices{PSTasks: 2, Strategy: strategy}
		var tasks []string
		g.DeviceFunc(spread.Setter(), func() {
			for _, size := range []int{100, 1, 1} {
				v := tf.NewVariable(ops.Const(g, make([]float32, size)), tf.VariableOptions{})
				tasks = append(tasks, v.Handle().Operation().Device)
			}
		})
		fmt.Println(tasks)
	}
	// Output:
	// [/job:ps/task:1 /job:ps/task:1 /job:ps/task:1]
	// [/job:ps/task:0 /job:ps/task:1 /job:ps/task:0]
	// [/job:ps/task:0 /job:ps/task:1 /job:ps/task:1]
}
