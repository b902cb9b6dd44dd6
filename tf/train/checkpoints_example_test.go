package train_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// writeCheckpoint writes a checkpoint of two variables to dir.
func writeCheckpoint(dir string) (path string, err error) {
	ctx, g := context.Background(), tf.NewGraph()
	tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "layer/w"})
	tf.NewVariable(ops.Scalar[float32](g, 3), tf.VariableOptions{Name: "layer/b"})
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		return "", err
	}
	s, err := session.New(g)
	if err != nil {
		return "", err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		return "", err
	}
	return saver.Save(ctx, s, filepath.Join(dir, "model.ckpt"))
}

// A reader looks into a checkpoint without a graph.
func ExampleCheckpointReader() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path, err := writeCheckpoint(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	var r *train.CheckpointReader
	if r, err = train.OpenCheckpoint(path); err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for _, v := range r.Variables() {
		fmt.Println(v.Name, v.DType, v.Shape)
	}
	fmt.Println(r.Has("layer/c"), r.Verify())
	fmt.Println(r.Tensor("layer/w"))
	// Output:
	// layer/b float32 []
	// layer/w float32 [2]
	// false <nil>
	// float32[2]{1, 2} <nil>
}

// describe says in a line what a checkpoint has of a variable.
func describe(v train.VariableInfo) string { return fmt.Sprintf("%s %s%v", v.Name, v.DType, v.Shape) }

func ExampleVariableInfo() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path, err := writeCheckpoint(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := train.ListVariables(path)
	for _, v := range list {
		fmt.Println(describe(v))
	}
	fmt.Println(err)
	// Output:
	// layer/b float32[]
	// layer/w float32[2]
	// <nil>
}

// The state file of a directory says which checkpoint is the latest.
func ExampleCheckpointState() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	state := &train.CheckpointState{Latest: filepath.Join(dir, "model-20"), All: []string{filepath.Join(dir, "model-10")}}
	if err := state.Write(dir); err != nil {
		fmt.Println(err)
		return
	}
	if state, err = train.ReadCheckpointState(dir); err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range state.All {
		fmt.Println(filepath.Base(path), path == state.Latest)
	}
	// Output:
	// model-10 false
	// model-20 true
}

// CheckpointsIterator returns the checkpoints of a training that goes on elsewhere,
// as they come, until there has been none for some time.
func ExampleCheckpointsOptions() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if _, err := writeCheckpoint(dir); err != nil {
		fmt.Println(err)
		return
	}
	options := train.CheckpointsOptions{Poll: time.Millisecond, Timeout: 2 * time.Millisecond}
	for path := range train.CheckpointsIterator(context.Background(), dir, options) {
		fmt.Println(filepath.Base(path))
	}
	// Output: model.ckpt
}

// The values are those of the moment; they are written while the program goes on.
func ExamplePendingSave() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	next := v.Assign(ops.Scalar[float32](g, 2))
	saver, err := train.NewSaver(g, train.SaverOptions{})
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
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	var save *train.PendingSave
	save, err = saver.SaveAsync(ctx, s, filepath.Join(dir, "model.ckpt"), train.SaveOptions{NoMetaGraph: true})
	if err == nil {
		_, err = s.Run(ctx, nil, next)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	path, err := save.Wait(ctx)
	fmt.Println(filepath.Base(path), err)
	fmt.Println(train.LoadVariable(path, "v"))
	// Output:
	// model.ckpt <nil>
	// float32[]{1} <nil>
}

// A variable of a new model begins with the value that another one had.
func ExampleWarmStart() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path, err := writeCheckpoint(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{0, 0}), tf.VariableOptions{Name: "new/w"})
	options := train.WarmStartOptions{Vars: ".*/w", Names: map[string]string{"new/w": "layer/w"}}
	if err := train.WarmStart(g, path, options); err != nil {
		fmt.Println(err)
		return
	}
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
	fmt.Println(session.Fetch[float32](ctx, s, nil, v.Value()))
	// Output: [1 2] <nil>
}

// A Saveable is saved and restored beside the variables: here a number that is kept
// in a variable, under another name and as another type.
func ExampleSaveable() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 3), tf.VariableOptions{Name: "v"})
	asInteger := &train.Saveable{
		Name:    "count",
		Specs:   []train.SaveSpec{{Name: "count", DType: tf.Int64, Tensor: func() tf.Output { return v.Value().Cast(tf.Int64) }}},
		Restore: func(values []tf.Output) *tf.Operation { return v.Assign(values[0].Cast(tf.Float32)) },
	}
	saver, err := train.NewSaver(g, train.SaverOptions{Vars: []*tf.Variable{}, Saveables: []*train.Saveable{asInteger}})
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
	_, err = s.Run(ctx, nil, tf.InitializeAll(g))
	path := ""
	if err == nil {
		path, err = saver.Save(ctx, s, filepath.Join(dir, "model.ckpt"))
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := train.ListVariables(path)
	for _, v := range list {
		fmt.Println(describe(v))
	}
	fmt.Println(saver.Restore(ctx, s, path), err)
	// Output:
	// count int64[]
	// <nil> <nil>
}

// A graph is written with its variables and what its collections hold, as text, to
// be read by another program.
func ExampleExportOptions() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	g := tf.NewGraph()
	tf.NewVariable(ops.Scalar[float32](g, 3), tf.VariableOptions{Name: "v"})
	file := filepath.Join(dir, "graph.meta")
	if err := train.ExportMetaGraph(g, file, nil, train.ExportOptions{AsText: true}); err != nil {
		fmt.Println(err)
		return
	}
	other := tf.NewGraph()
	_, err = train.ImportMetaGraph(other, file, tf.ImportOptions{})
	for _, v := range tf.Variables(other, tf.GlobalVariables) {
		fmt.Println(v.Name(), v.DType(), err)
	}
	// Output: v float32 <nil>
}

// ascending is input of one's own: numbers, from 1 on.
type ascending struct{ at uint32 }

func (c *ascending) next() float32 { c.at++; return float32(c.at) }

func (c *ascending) Save(context.Context) ([]byte, error) {
	return binary.BigEndian.AppendUint32(nil, c.at), nil
}

func (c *ascending) Restore(_ context.Context, state []byte) error {
	c.at = binary.BigEndian.Uint32(state)
	return nil
}

// The second program goes on with the input where the first one ended.
func ExampleInputSaver() {
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for range 2 {
		ctx, g := context.Background(), tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{})
		sum := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "sum"})
		one := ops.Scalar[int64](g, 1)
		step := train.GetOrCreateGlobalStep(g).AssignAdd(one, tf.After(sum.AssignAdd(x)))
		count := &ascending{}
		var input train.StatefulInput = count
		var saver *train.InputSaver = train.NewInputSaver(g, "input", input)
		s, err := train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{
			CheckpointDir: dir, LogStepCountSteps: -1,
			ChiefHooks: []train.Hook{saver.Hook()}, Listeners: []train.CheckpointSaverListener{saver.Listener()},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		for range 2 {
			number := count.next()
			_, err := s.Run(ctx, session.Feeds{x: tf.Scalar(number)}, step)
			fmt.Println(number, err)
		}
		out, _ := s.RawSession().Run(ctx, nil, sum.Value())
		fmt.Println(out, s.Close())
	}
	// Output:
	// 1 <nil>
	// 2 <nil>
	// [float32[]{3}] <nil>
	// 3 <nil>
	// 4 <nil>
	// [float32[]{10}] <nil>
}
