package docs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/timeline"
	"github.com/gorge-tf/gorge/tf/train"
)

// show runs what how-to.md shows a part of.
func show(f func(ctx context.Context) error) {
	if err := f(context.Background()); err != nil {
		fmt.Println(err)
	}
}

// inDir is show for what writes files.
func inDir(f func(ctx context.Context, dir string) error) {
	show(func(ctx context.Context) error {
		dir, err := os.MkdirTemp("", "howto")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		return f(ctx, dir)
	})
}

func Example_feedAndFetch() {
	show(func(ctx context.Context) error {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2})
		sum, mean := x.Sum(0), x.Mean()
		s, err := session.New(g)
		if err != nil {
			return err
		}
		defer s.Close()

		rows, err := tf.TensorOf([][]float32{{1, 2}, {3, 4}})
		if err != nil {
			return err
		}
		out, err := s.Run(ctx, session.Feeds{x: rows}, sum, mean)
		if err != nil {
			return err
		}
		fmt.Println(tf.Data[float32](out[0]), tf.Data[float32](out[1])[0])

		type results struct {
			Sum  []float32
			Mean float32
		}
		r, err := session.FetchAs[results](ctx, s, session.Feeds{x: rows}, struct{ Sum, Mean tf.Output }{sum, mean})
		if err != nil {
			return err
		}
		fmt.Println(r.Sum, r.Mean)
		return nil
	})
	// Output:
	// [4 6] 2.5
	// [4 6] 2.5
}

func Example_saveAndRestore() {
	inDir(func(ctx context.Context, dir string) error {
		g := tf.NewGraph()
		w := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "w"})
		saver, err := train.NewSaver(g, train.SaverOptions{MaxToKeep: 3})
		if err != nil {
			return err
		}
		s, err := session.New(g)
		if err != nil {
			return err
		}
		defer s.Close()

		latest, err := train.LatestCheckpoint(dir) // "" if there is none
		if err != nil {
			return err
		}
		if latest != "" {
			err = saver.Restore(ctx, s, latest)
		} else {
			_, err = s.Run(ctx, nil, tf.InitializeAll(g))
		}
		if err != nil {
			return err
		}
		saved, err := saver.SaveStep(ctx, s, filepath.Join(dir, "model"), 100)
		if err != nil {
			return err
		}
		fmt.Println(filepath.Base(saved))

		value, err := train.LoadVariable(dir, w.Name()) // without graph and session
		fmt.Println(value)
		return err
	})
	// Output:
	// model-100
	// float32[2]{1, 2}
}

func Example_train() {
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	inDir(func(ctx context.Context, dir string) error {
		g := tf.NewGraph()
		w := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "w"})
		loss := w.Value().Sub(5).Square()
		step := train.Minimize(train.GradientDescent{LearningRate: 0.1}, loss, train.Options{GlobalStep: train.GlobalStep(g)})
		s, err := train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{
			CheckpointDir:       dir,
			SaveCheckpointSteps: 20,
			Hooks: []train.Hook{
				&train.StopAtStepHook{LastStep: 50},
				&train.NanTensorHook{Loss: loss},
			},
		})
		if err != nil {
			return err
		}
		if err := s.Train(ctx, step); err != nil { // it closes the session, too
			return err
		}
		latest, err := train.LatestCheckpoint(dir)
		fmt.Println(filepath.Base(latest))
		return err
	})
	// Output: model.ckpt-50
}

func Example_threads() {
	show(func(ctx context.Context) error {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{})
		y := x.Square()

		s, err := session.New(g, session.Threads(2))
		if err != nil {
			return err
		}
		defer s.Close()
		square, err := s.MakeCallable([]tf.Output{x}, y)
		if err != nil {
			return err
		}
		var wait sync.WaitGroup
		results, errs := make([]float32, 4), make([]error, 4)
		for i := range results {
			wait.Go(func() {
				out, err := square.Run(ctx, tf.Scalar(float32(i)))
				if errs[i] = err; err == nil {
					results[i] = tf.Data[float32](out[0])[0]
				}
			})
		}
		wait.Wait()
		fmt.Println(results, errors.Join(errs...))
		return nil
	})
	// Output: [0 1 4 9] <nil>
}

func Example_nan() {
	show(func(ctx context.Context) error {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
		s, err := session.New(g)
		if err != nil {
			return err
		}
		defer s.Close()
		batch, err := tf.FromSlice([]float32{1, 0, 2})
		if err != nil {
			return err
		}

		shifted := ops.CheckNumerics(x.Sub(1), "shifted")
		logs := ops.CheckNumerics(shifted.Log(), "logs")
		loss := logs.Mean()
		_, err = s.Run(ctx, session.Feeds{x: batch}, loss)
		fmt.Println(tf.CodeOf(err), tf.AsError(err).Message())
		return nil
	})
	// Output: INVALID_ARGUMENT logs : Tensor had Inf and NaN values
}

func Example_profile() {
	inDir(func(ctx context.Context, dir string) error {
		g := tf.NewGraph()
		loss := ops.RandomUniform(g, tf.Shape{3}, tf.Float32).Square().Sum()
		s, err := session.New(g)
		if err != nil {
			return err
		}
		defer s.Close()

		_, meta, err := s.RunWithOptions(ctx, session.RunOptions{Trace: session.FullTrace}, nil, loss)
		if err != nil {
			return err
		}
		file, err := os.Create(filepath.Join(dir, "step.json"))
		if err != nil {
			return err
		}
		defer file.Close()
		if err := timeline.Write(file, meta, timeline.Options{Memory: true}); err != nil {
			return err
		}
		info, err := file.Stat()
		fmt.Println(info.Size() > 0)
		return err
	})
	// Output: true
}

func Example_tls() {
	withCertificates(func(ctx context.Context) error {
		spec := cluster.Spec{"worker": {"127.0.0.1:0"}}
		g := tf.NewGraph()
		y := ops.Scalar[float32](g, 3).Square()

		files := cluster.SecurityFiles{Cert: "task.pem", Key: "task.key", CA: "ca.pem"}
		security, err := cluster.OpenSecurity(files, slog.Default().Handler(), nil)
		if err != nil {
			return err
		}
		defer security.Close()
		server, err := cluster.NewServer(cluster.Config{Cluster: spec, Job: "worker", Task: 0, Security: security})
		if err != nil {
			return err
		}
		defer server.Stop()
		if err := server.Start(); err != nil {
			return err
		}
		s, err := session.New(g, session.Target(server.Target()), cluster.Secured(security))
		if err != nil {
			return err
		}
		defer s.Close()
		out, err := s.Run(ctx, nil, y)
		fmt.Println(out)
		return err
	})
	// Output: [float32[]{9}]
}

func Example_options() {
	show(func(ctx context.Context) error {
		g := tf.NewGraph()
		y := ops.Scalar[float32](g, 3).Square()

		s, err := session.New(g, session.With(session.Config{
			LogDevicePlacement: true,
			LogFusion:          true,
			DisabledPasses:     []string{"all"},
			Log:                slog.DiscardHandler, // or slog.NewTextHandler(os.Stderr, nil)
		}))
		if err != nil {
			return err
		}
		defer s.Close()
		out, err := s.Run(ctx, nil, y)
		fmt.Println(out)
		return err
	})
	// Output: [float32[]{9}]
}

func Example_saveMemory() {
	show(func(ctx context.Context) error {
		g := tf.NewGraph()
		x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
		w := tf.NewVariable(ops.Const(g, []float32{0.5, -0.5, 1, 2}, 2, 2), tf.VariableOptions{})

		for range 8 {
			g.Recompute(func() { x = ops.Tanh(ops.MatMul(x, w.Value())) })
		}
		loss := ops.Square(x).Mean()
		step := train.Adam{}.Minimize(loss)

		s, err := session.New(g, session.With(session.Config{SaveMemory: true}))
		if err != nil {
			return err
		}
		defer s.Close()
		if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
			return err
		}
		out, err := s.Run(ctx, nil, loss, step)
		if err != nil {
			return err
		}
		fmt.Printf("%.4f\n", tf.Data[float32](out[0])[0])
		return nil
	})
	// Output: 0.7374
}
