package train_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/train"
)

func TestAForgottenRateAndALossThatIsNoScalarAreRefused(t *testing.T) {
	minimizers := map[string]func(tf.Output, ...*tf.Variable) *tf.Operation{
		"GradientDescent": train.GradientDescent{}.Minimize, "Momentum": train.Momentum{}.Minimize, "RMSProp": train.RMSProp{}.Minimize,
		"Adagrad": train.Adagrad{}.Minimize, "FTRL": train.FTRL{}.Minimize, "ProximalAdagrad": train.ProximalAdagrad{}.Minimize,
		"ProximalGradientDescent": train.ProximalGradientDescent{}.Minimize,
	}
	for name, minimize := range minimizers {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{})
		if err := minimize(v.Value().Square()).Err(); err == nil || !strings.Contains(err.Error(), "needs a learning rate") || !strings.Contains(err.Error(), "refuse_test.go:") {
			t.Errorf("%s without a rate must be refused with the line, got %v", name, err)
		}
	}
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{})
	if err := (train.Adam{}).Minimize(v.Value().Square()).Err(); err == nil || !strings.Contains(err.Error(), "a loss must be a scalar") {
		t.Errorf("a vector must be refused as a loss, got %v", err)
	}
}

// TestFTRLRefuses has TensorFlow's words for numbers that must not be negative.
func TestFTRLRefuses(t *testing.T) {
	for want, o := range map[string]train.FTRL{
		"initial_accumulator_value -1.000000 needs to be positive or zero":            {LearningRate: 0.1, InitialAccumulator: -1},
		"l1_regularization_strength -1.000000 needs to be positive or zero":           {LearningRate: 0.1, L1: -1},
		"l2_regularization_strength -0.500000 needs to be positive or zero":           {LearningRate: 0.1, L2: -0.5},
		"l2_shrinkage_regularization_strength -1.000000 needs to be positive or zero": {LearningRate: 0.1, L2Shrinkage: -1},
	} {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{})
		if err := o.Minimize(v.Value()).Err(); !says(err, tf.InvalidArgument, want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// nothing is an input without a state.
type nothing struct{}

func (nothing) Save(context.Context) ([]byte, error)  { return nil, nil }
func (nothing) Restore(context.Context, []byte) error { return nil }

// TestNilIsRefused has what a program may have left out.
func TestNilIsRefused(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{})
	for want, call := range map[string]func() error{
		"a LossScaleOptimizer needs the optimizer": func() error {
			_, err := train.NewLossScaleOptimizer(g, nil, train.LossScaling{})
			return err
		},
		"Minimize needs the optimizer": func() error { return train.Minimize(nil, v.Value(), train.Options{}).Err() },
		"a global step needs a graph":  func() error { _, err := train.CreateGlobalStep(nil); return err },
		"an average needs a graph":     func() error { return (&train.ExponentialMovingAverage{Decay: 0.5}).Apply(nil).Err() },
		"got nil for": func() error {
			_, err := train.NewSaver(g, train.SaverOptions{Vars: []*tf.Variable{v, nil}})
			return err
		},
		`got nil for ""`: func() error {
			_, err := train.NewSaver(g, train.SaverOptions{Saveables: []*train.Saveable{nil}})
			return err
		},
		"a global step needs a graph, got nil:": func() error { return train.GlobalStep(nil).Value().Err() },
		"global step needs a graph, got nil:":   func() error { return train.GetOrCreateGlobalStep(nil).Value().Err() },
		"a step must be the value of a variable": func() error {
			_, err := train.StepOf(t.Context(), nil, nil)
			return err
		},
		"a step is read in a session": func() error {
			_, err := train.StepOf(t.Context(), nil, v)
			return err
		},
		"a session is needed, got nil": func() error {
			c := train.NewCoordinator(t.Context(), nil)
			r := &train.QueueRunner{Enqueue: []*tf.Operation{v.Handle().Operation()}}
			r.Start(nil, nil)
			if len(r.Errors()) != 1 {
				return nil
			}
			r.Start(c, nil)
			return c.Join()
		},
		"a file of a graph needs a graph": func() error { return train.WriteGraph(nil, t.TempDir(), "g") },
		"a MetaGraph needs a graph":       func() error { return train.ExportMetaGraph(nil, "g", nil) },
		"a saver needs a graph":           func() error { _, err := train.NewSaver(nil, train.SaverOptions{}); return err },
		"a supervisor needs a graph": func() error {
			_, err := train.NewSupervisor(t.Context(), nil, train.SupervisorOptions{})
			return err
		},
		"gradients need a tape":          func() error { _, err := train.TapeGradients(nil, v.Value(), v); return err },
		"an input saver needs a graph":   func() error { return train.NewInputSaver(nil, "input", nothing{}).Hook().Begin(g) },
		"an input saver needs the input": func() error { return train.NewInputSaver(tf.NewGraph(), "input", nil).Hook().Begin(g) },
		"a session needs a graph": func() error {
			_, err := train.NewMonitoredSession(t.Context(), nil, train.MonitoredOptions{})
			return err
		},
		"a LossScaleOptimizer needs a graph": func() error {
			_, err := train.NewLossScaleOptimizer(nil, train.Adam{}, train.LossScaling{})
			return err
		},
		"a saver needs a graph, got nil: make": func() error { _, err := train.SaverFrom(nil, &pb.SaverDef{}); return err },
		"a MetaGraph needs a graph, got nil: make": func() error {
			_, err := train.ImportMetaGraph(nil, "g", tf.ImportOptions{})
			return err
		},
		"a start from a checkpoint needs a graph": func() error { return train.InitFromCheckpoint(nil, "c", nil) },
		"a warm start needs a graph":              func() error { return train.WarmStart(nil, "c") },
		"a queue runner needs a graph":            func() error { _, err := train.QueueRunnerFrom(nil, nil); return err },
		"a queue runner must not be nil": func() error {
			g := tf.NewGraph()
			train.AddQueueRunner(g, nil)
			train.AddQueueRunner(nil, &train.QueueRunner{}) // nothing keeps it
			return g.Err()
		},
		"the iterator to save must be an output": func() error {
			_, err := train.NewSaver(g, train.SaverOptions{Saveables: []*train.Saveable{train.IteratorSaveable(tf.Output{}, 0)}})
			return err
		},
		`a Saveable needs Restore, and Tensor in each of its Specs: "s"`: func() error {
			_, err := train.NewSaver(g, train.SaverOptions{Saveables: []*train.Saveable{{Name: "s"}}})
			return err
		},
		`Saveables, got nil for ""`: func() error {
			g := tf.NewGraph()
			g.AddToCollection(train.SaveableObjects, (*train.Saveable)(nil))
			_, err := train.NewSaver(g, train.SaverOptions{})
			return err
		},
		"needs a graph, got nil": func() error {
			_, err := train.MonitoredTrainingSession(t.Context(), nil, train.TrainingOptions{CheckpointDir: t.TempDir()})
			return err
		},
	} {
		if err := call(); !says(err, tf.InvalidArgument, want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestLossScaleOfAVector: a loss that is no scalar is refused as by other optimizers.
func TestLossScaleOfAVector(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{})
	o, err := train.NewLossScaleOptimizer(g, train.Adam{}, train.LossScaling{})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Minimize(v.Value().Square()).Err(); !says(err, tf.InvalidArgument, "a loss must be a scalar") {
		t.Errorf("got %v", err)
	}
}

// TestPiecewiseConstantRefuses: TensorFlow's fails in steps that have two values.
func TestPiecewiseConstantRefuses(t *testing.T) {
	g := tf.NewGraph()
	rate := train.PiecewiseConstant{Boundaries: []int64{10, 5}, Values: []float64{1, 2, 3}}.At(ops.Scalar(g, int64(7)))
	if err := rate.Err(); !says(err, tf.InvalidArgument, "boundaries must be in ascending order, got [10 5]") {
		t.Errorf("got %v", err)
	}
	if rate := (train.PiecewiseConstant{Boundaries: []int64{5, 5}, Values: []float64{1, 2, 3}}).At(ops.Scalar(g, int64(7))); rate.Err() != nil {
		t.Error(rate.Err())
	}
}

// TestMinimizeOfNil: a variable that is missing among those to train is no panic.
func TestMinimizeOfNil(t *testing.T) {
	for want, minimize := range map[string]func(v *tf.Variable) error{
		"with respect to variables, got nil as one of 1": func(v *tf.Variable) error {
			return train.GradientDescent{LearningRate: 1}.Minimize(v.Value(), nil).Err()
		},
		"with respect to variables, got nil as one of 2": func(v *tf.Variable) error {
			return train.Minimize(train.Adam{}, v.Value(), train.Options{Vars: []*tf.Variable{v, nil}}).Err()
		},
	} {
		v := tf.NewVariable(ops.Scalar[float32](tf.NewGraph(), 1), tf.VariableOptions{})
		if err := minimize(v); !says(err, tf.InvalidArgument, want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestNumbersOutOfRange of hooks, averages and savers.
func TestNumbersOutOfRange(t *testing.T) {
	var none context.Context
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{})
	train.GlobalStep(g)
	dir := t.TempDir()
	saver := newSaver(t, g, train.SaverOptions{})
	for want, call := range map[string]func() error{
		"a number of steps must not be negative, got every_steps=-4": func() error {
			return (&train.CheckpointSaverHook{CheckpointDir: dir, SaveSteps: -4}).Begin(g)
		},
		"a number of steps must not be negative, got every_steps=-3": func() error { return (&train.StepCounterHook{EverySteps: -3}).Begin(g) },
		"a number of steps must not be negative, got every_steps=-2": func() error {
			return (&train.ProfilerHook{SaveSteps: -2, SaveEvery: 1, OutputDir: dir}).Begin(g)
		},
		"a time must not be negative, got every_secs=-1ns": func() error {
			return (&train.SummarySaverHook{SaveSteps: 2, SaveEvery: -1, OutputDir: dir, SummaryOps: []tf.Output{v.Value()}}).Begin(g)
		},
		"a time must not be negative, got every_n_secs=-1ns":          func() error { return (&train.LoggingTensorHook{Every: -1}).Begin(g) },
		"must not be negative, got num_steps=-1, last_step=0":         func() error { return (&train.StopAtStepHook{NumSteps: -1}).Begin(g) },
		"must not be negative, got num_steps=0, last_step=-7":         func() error { return (&train.StopAtStepHook{LastStep: -7}).Begin(g) },
		"the step of a checkpoint must not be negative, got -1":       func() error { _, err := saver.SaveStep(t.Context(), nil, dir+"/m", -1); return err },
		"the step of a checkpoint must not be negative, got -2":       func() error { _, err := saver.SaveStepAsync(t.Context(), nil, dir+"/m", -2); return err },
		"a save needs a context, got nil":                             func() error { _, err := saver.Save(none, nil, dir+"/m"); return err },
		"an average needs Decay in (0, 1], got 2: it would move away": func() error { return (&train.ExponentialMovingAverage{Decay: 2}).Apply(tf.NewGraph()).Err() },
	} {
		if err := call(); !says(err, tf.InvalidArgument, want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
