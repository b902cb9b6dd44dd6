package train_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A line is fitted to points: Minimize adds an operation that makes the loss
// smaller, and each step runs it.
func Example() {
	ctx, g := context.Background(), tf.NewGraph()
	x, y := ops.Const(g, []float32{0, 1, 2, 3}), ops.Const(g, []float32{1, 4, 7, 10}) // y = 3x + 1
	w := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "w"})
	b := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "b"})
	loss := x.Mul(w.Value()).Add(b.Value()).Sub(y).Square().Mean()
	step := train.GradientDescent{LearningRate: 0.1}.Minimize(loss)

	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	_, err = s.Run(ctx, nil, tf.InitializeAll(g))
	for i := 0; err == nil && i < 400; i++ {
		_, err = s.Run(ctx, nil, step)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Run(ctx, nil, w.Value(), b.Value())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("w = %.2f, b = %.2f\n", out[0].At(0), out[1].At(0))
	// Output: w = 3.00, b = 1.00
}

// All optimizers are used alike. Fields that are left out have TensorFlow's
// defaults, but for the learning rate of some.
func ExampleOptimizer() {
	for _, o := range []train.Optimizer{
		train.GradientDescent{LearningRate: 0.1},
		train.Momentum{LearningRate: 0.1, Momentum: 0.9},
		train.Adam{LearningRate: 0.1},
		train.RMSProp{LearningRate: 0.1},
		train.Adagrad{LearningRate: 0.1},
	} {
		g := eager.New()
		v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
		var loss tf.Output
		tape := eager.Record(g, func() { loss = v.Value().Square() })
		gvs, err := train.TapeGradients(tape, loss, v)
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := o.ApplyGradients(gvs); err != nil {
			fmt.Println(err)
			return
		}
		x, err := v.Value().Value()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%T %.3f\n", o, x.At(0))
	}
	// Output:
	// train.GradientDescent 0.800
	// train.Momentum 0.800
	// train.Adam 0.900
	// train.RMSProp 0.825
	// train.Adagrad 0.901
}

// The optimizer's own variables are named as TensorFlow names them.
func ExampleAdam() {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	train.Adam{LearningRate: 0.01}.Minimize(v.Value().Square().Sum())
	if err := g.Err(); err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		fmt.Println(v.Name(), v.Shape())
	}
	// Output:
	// v [2]
	// beta1_power []
	// beta2_power []
	// v/Adam [2]
	// v/Adam_1 [2]
}

// With options, gradients are clipped and steps are counted.
func ExampleMinimize() {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{3, 4}), tf.VariableOptions{Name: "v"})
	count := train.GlobalStep(g)
	loss := v.Value().Square().Sum() // the gradient is [6 8], of norm 10
	step := train.Minimize(train.GradientDescent{LearningRate: 1}, loss, train.Options{
		GlobalStep: count,
		Clip: func(gs []tf.Gradient) []tf.Gradient {
			clipped, _ := train.ClipByGlobalNorm(1, gs...)
			return clipped
		},
	})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	for _, op := range []*tf.Operation{tf.InitializeAll(g), step} {
		if _, err := s.Run(ctx, nil, op); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := s.Run(ctx, nil, v.Value(), count.Value())
	fmt.Println(out, err)
	// Output: [float32[2]{2.4, 3.2} int64[]{1}] <nil>
}

// ComputeGradients and ApplyGradients are the two halves of Minimize; a program
// may change the gradients in between.
func ExampleComputeGradients() {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 5), tf.VariableOptions{Name: "v"})
	gvs, err := train.ComputeGradients(v.Value().Square())
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, gv := range gvs {
		gvs[i].Grad = tf.Dense(gv.Grad.Output().Sign())
	}
	step, err := train.GradientDescent{LearningRate: 1}.ApplyGradients(gvs)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	for _, op := range []*tf.Operation{tf.InitializeAll(g), step, step} {
		if _, err := s.Run(ctx, nil, op); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := s.Run(ctx, nil, v.Value())
	fmt.Println(out, err)
	// Output: [float32[]{3}] <nil>
}

// A schedule computes the learning rate from the number of the step.
func ExampleSchedule() {
	g := eager.New()
	for _, s := range []train.Schedule{
		train.ExponentialDecay{LearningRate: 1, Decay: 0.5, Steps: 10, Staircase: true},
		train.PiecewiseConstant{Boundaries: []int64{5, 15}, Values: []float64{1, 0.1, 0.01}},
		train.CosineDecay{LearningRate: 1, Steps: 20},
	} {
		fmt.Printf("%T", s)
		for _, step := range []int64{0, 10, 20} {
			rate, err := s.At(ops.Scalar(g, step)).Value()
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf(" %.2f", rate.At(0))
		}
		fmt.Println()
	}
	// Output:
	// train.ExponentialDecay 1.00 0.50 0.25
	// train.PiecewiseConstant 1.00 0.10 0.01
	// train.CosineDecay 1.00 0.50 0.00
}

// The rate of an optimizer may be computed by the graph.
func ExampleExponentialDecay() {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	count := train.GlobalStep(g)
	rate := train.ExponentialDecay{LearningRate: 0.1, Decay: 0.9, Steps: 100}.At(count.Value())
	step := train.Minimize(train.GradientDescent{Rate: rate}, v.Value().Square(), train.Options{GlobalStep: count})
	fmt.Println(step.Err())
	// Output: <nil>
}

func ExampleClipByNorm() {
	g := eager.New()
	v, err := train.ClipByNorm(ops.Const(g, []float32{3, 4}), 1).Value()
	fmt.Println(v, err)
	// Output: float32[2]{0.6, 0.8} <nil>
}

// The average of a variable follows it slowly.
func ExampleExponentialMovingAverage() {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "v"})
	set := v.Assign(ops.Scalar[float32](g, 8))
	average := &train.ExponentialMovingAverage{Decay: 0.5}
	update := average.Apply(g, v)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	for _, op := range []*tf.Operation{tf.InitializeAll(g), set, update, update} {
		if _, err := s.Run(ctx, nil, op); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := s.Run(ctx, nil, v.Value(), average.Average(v).Value())
	fmt.Println(average.AverageName(v), out, err)
	// Output: v/ExponentialMovingAverage [float32[]{8} float32[]{6}] <nil>
}

// The first goroutine that fails stops all; Join returns its error.
func ExampleCoordinator() {
	coord := train.NewCoordinator(context.Background())
	coord.Go(func(ctx context.Context) error {
		<-ctx.Done() // works until it is asked to stop
		return nil
	})
	coord.Go(func(context.Context) error { return errors.New("no more disk space") })
	fmt.Println(coord.Join())
	// Output: no more disk space
}

// Queue runners fill queues in the background, until the input ends.
func ExampleStartQueueRunners() {
	ctx, g := context.Background(), tf.NewGraph()
	rows := ops.Const(g, []int32{10, 20, 30, 40})
	row := train.SliceInputProducer([]tf.Output{rows}, train.ProducerOptions{Epochs: 1, InOrder: true})
	batch := train.Batch(row, 2, train.BatchOptions{})

	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	coord := train.NewCoordinator(ctx)
	train.StartQueueRunners(g, coord, s)
	for {
		v, err := session.Fetch[int32](ctx, s, nil, batch[0])
		if err != nil {
			fmt.Println(train.CleanStop(err))
			break
		}
		fmt.Println(v)
	}
	coord.RequestStop(nil)
	fmt.Println(coord.Join())
	// Output:
	// [10 20]
	// [30 40]
	// true
	// <nil>
}

// ReplicaDevices puts variables on parameter servers, and all else on a worker.
func ExampleReplicaDevices() {
	g := tf.NewGraph()
	spread := train.ReplicaDevices{PSTasks: 2, Worker: "/job:worker/task:3"}
	g.DeviceFunc(spread.Setter(), func() {
		for _, name := range []string{"a", "b"} {
			v := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: name})
			fmt.Println(v.Handle().Operation().Device, v.Value().Square().Operation().Device)
		}
	})
	// Output:
	// /job:ps/task:0 /job:worker/task:3
	// /job:ps/task:1 /job:worker/task:3
}
