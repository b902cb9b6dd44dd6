package main

import (
	"context"
	"fmt"
	"log"
	"net"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// serve starts one parameter server and one worker.
func serve() (ps, worker *cluster.Server, err error) {
	jobs, spec := []string{"ps", "worker"}, cluster.Spec{}
	listeners := map[string]net.Listener{}
	for _, job := range jobs {
		if listeners[job], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, nil, err
		}
		spec[job] = []string{listeners[job].Addr().String()}
	}
	servers := map[string]*cluster.Server{}
	for _, job := range jobs {
		c := cluster.Config{Cluster: spec, Job: job, Task: 0, Listener: listeners[job]}
		if servers[job], err = cluster.NewServer(c); err != nil {
			return nil, nil, err
		}
		if err := servers[job].Start(); err != nil {
			return nil, nil, err
		}
	}
	return servers["ps"], servers["worker"], nil
}

func run(ctx context.Context) error {
	ps, worker, err := serve()
	if err != nil {
		return err
	}
	defer ps.Stop()
	defer worker.Stop()

	g := tf.NewGraph()
	var x, loss tf.Output
	var w *tf.Variable
	var step, start *tf.Operation
	spread := train.ReplicaDevices{PSTasks: 1, Worker: "/job:worker/task:0"}
	g.DeviceFunc(spread.Setter(), func() {
		x = ops.Placeholder(g, tf.Float32, tf.Shape{-1})
		w = tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "w"})
		loss = x.Mul(w.Value()).Sub(x.Mul(3)).Square().Mean() // w should become 3
		step = train.GradientDescent{LearningRate: 0.1}.Minimize(loss)
		start = tf.InitializeAll(g)
	})
	fmt.Println(w.Handle().Operation().Device, loss.Operation().Device)

	s, err := session.New(g, session.Target(worker.Target()))
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, start); err != nil {
		return err
	}
	batch, err := tf.FromSlice([]float32{1, 2})
	if err != nil {
		return err
	}
	for range 50 {
		if _, err := s.Run(ctx, session.Feeds{x: batch}, step); err != nil {
			return err
		}
	}
	got, err := session.Fetch[float32](ctx, s, nil, w.Value())
	if err != nil {
		return err
	}
	fmt.Printf("w = %.2f\n", got[0])

	other, err := session.New(g, session.Target(ps.Target()))
	if err != nil {
		return err
	}
	defer other.Close()
	again, err := session.Fetch[float32](ctx, other, nil, w.Value())
	if err != nil {
		return err
	}
	fmt.Println("the same value:", again[0] == got[0])
	return nil
}
