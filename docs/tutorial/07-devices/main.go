package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/summary"
	"github.com/gorge-tf/gorge/tf/timeline"
	"github.com/gorge-tf/gorge/tf/train"
)

func main() {
	dir, err := os.MkdirTemp("", "tutorial")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), dir); err != nil {
		log.Print(err)
	}
}

func run(ctx context.Context, dir string) error {
	g := tf.NewGraph()
	var w *tf.Variable
	g.Device("/device:CPU:1", func() {
		w = tf.NewVariable(ops.Const(g, []float32{4, 8}), tf.VariableOptions{Name: "w"})
	})
	loss := ops.Sum(w.Value().Square(), ops.AllAxes, tf.Name("loss"), tf.OnDevice("/device:CPU:0"))
	step := train.GradientDescent{LearningRate: 0.25}.Minimize(loss)
	start := tf.InitializeAll(g)

	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		return err
	}
	s, err := session.New(g, session.Devices("CPU", 2))
	if err != nil {
		return err
	}
	defer s.Close()
	for _, op := range []*tf.Operation{start, step} {
		if _, err := s.Run(ctx, nil, op); err != nil {
			return err
		}
	}
	if _, err := saver.Save(ctx, s, filepath.Join(dir, "model")); err != nil {
		return err
	}
	if _, err := s.Run(ctx, nil, step); err != nil {
		return err
	}
	latest, err := train.LatestCheckpoint(dir)
	if err != nil {
		return err
	}
	if err := saver.Restore(ctx, s, latest); err != nil {
		return err
	}
	kept, err := session.Fetch[float32](ctx, s, nil, w.Value())
	if err != nil {
		return err
	}
	fmt.Println(kept)

	events, err := summary.NewFileWriter(filepath.Join(dir, "events"))
	if err != nil {
		return err
	}
	if err := events.Graph(g); err != nil {
		return err
	}
	for i := range int64(3) {
		l, err := session.Fetch[float32](ctx, s, nil, loss)
		if err != nil {
			return err
		}
		if err := events.Scalar(i, "loss", l[0]); err != nil {
			return err
		}
		fmt.Println("loss", l[0])
		if _, err := s.Run(ctx, nil, step); err != nil {
			return err
		}
	}
	if err := events.Close(); err != nil {
		return err
	}

	options := session.RunOptions{Trace: session.FullTrace}
	_, meta, err := s.RunWithOptions(ctx, options, nil, loss)
	if err != nil {
		return err
	}
	for _, d := range meta.GetStepStats().GetDevStats() {
		for _, n := range d.GetNodeStats() {
			if name := n.GetNodeName(); name == "w" || name == "loss/fused" {
				fmt.Println(name, "ran on", d.GetDevice())
			}
		}
	}
	file, err := os.Create(filepath.Join(dir, "step.json"))
	if err != nil {
		return err
	}
	defer file.Close()
	return timeline.Write(file, meta, timeline.Options{})
}
