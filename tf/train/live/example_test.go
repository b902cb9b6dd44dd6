package live_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/train/live"
)

// printCurve prints the curve of the last picture in a terminal, without the line below
// it, which has the rate of steps.
func printCurve(terminal string) {
	all := pictures(terminal)
	lines := strings.Split(strings.TrimSpace(all[len(all)-1]), "\n")
	for _, line := range lines[:len(lines)-1] {
		fmt.Println(strings.TrimSpace(line))
	}
}

// A loop of one's own tells a view of each step. The first picture has no curve yet.
func ExampleView() {
	var terminal strings.Builder // os.Stdout, if IsTerminal says so
	v := live.New(&terminal, live.Options{LastStep: 4, Every: time.Hour, Width: 20, Height: 3})
	for i, loss := range []float64{4, 2, 1, 0.5} {
		if err := v.Step(int64(i+1), loss); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Print(terminal.String())
	if err := v.Close(); err != nil {
		fmt.Println(err)
		return
	}
	printCurve(terminal.String())
	// Output:
	// step 1 of 4  loss 4.0000
	// 4.0000 ┼───╮
	// 2.8333 ┤   ╰───╮
	// 1.6667 ┤       ╰─────────╮
	// 0.5000 ┤                 ╰─
}

// A hook shows the training of a monitored session.
func ExampleHook() {
	ctx, g := context.Background(), tf.NewGraph()
	w := tf.NewVariable(ops.Scalar[float32](g, 4), tf.VariableOptions{})
	loss := w.Value().Square()
	op := train.Minimize(train.GradientDescent{LearningRate: 0.1}, loss, train.Options{GlobalStep: train.GetOrCreateGlobalStep(g)})
	var terminal strings.Builder
	hook := &live.Hook{Out: &terminal, Loss: loss, Options: live.Options{LastStep: 10, Every: time.Hour, Width: 20, Height: 3}}
	m, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{hook, &train.StopAtStepHook{LastStep: 10}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Train(ctx, op); err != nil {
		fmt.Println(err)
		return
	}
	printCurve(terminal.String())
	// Output:
	// 16.0000 ┼─╮
	// 10.7627 ┤ ╰─╮
	// 5.5255 ┤   ╰────╮
	// 0.2882 ┤        ╰──────────
}
