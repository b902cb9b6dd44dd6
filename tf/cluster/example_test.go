package cluster_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A server that is a whole cluster by itself, and a session on it.
func ExampleServer() {
	server, err := cluster.NewServer(cluster.Local("127.0.0.1:0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}

	g := tf.NewGraph()
	y := ops.Scalar[float32](g, 3).Square()
	s, err := session.New(g, session.Target(server.Target()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, y)
	fmt.Println(out, err)
	// Output: [float32[]{9}] <nil>
}

// Spec is TensorFlow's ClusterSpec.
func ExampleSpec() {
	spec := cluster.Spec{"ps": {"a:2222"}, "worker": {"b:2222", "c:2222"}}
	address, err := spec.Address("worker", 1)
	fmt.Println(spec.Jobs(), address, err)
	fmt.Println(spec)
	// Output:
	// [ps worker] c:2222 <nil>
	// ps|a:2222,worker|b:2222;c:2222
}

func ExampleParseSpec() {
	spec, err := cluster.ParseSpec("ps|a:2222,worker|b:2222;c:2222")
	fmt.Println(len(spec["worker"]), err)
	// Output: 2 <nil>
}

// TF_CONFIG tells a task which one it is.
func ExampleFromTFConfig() {
	c, err := cluster.FromTFConfig(`{"cluster": {"ps": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"type": "worker", "index": 1}}`)
	fmt.Println(c.Job, c.Task, c.Cluster, err)
	// Output: worker 1 ps|a:1,worker|b:1;c:1 <nil>
}

// ListDevices tells what a cluster computes with.
func ExampleListDevices() {
	c := cluster.Local("127.0.0.1:0")
	c.Devices = map[string]int{"CPU": 2}
	server, err := cluster.NewServer(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	devices, err := cluster.ListDevices(context.Background(), server.Target(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range devices {
		fmt.Println(d.Name)
	}
	// Output:
	// /job:localhost/replica:0/task:0/device:CPU:0
	// /job:localhost/replica:0/task:0/device:CPU:1
}

// A reset takes their values from the variables of a cluster, and ends its sessions.
func ExampleServer_reset() {
	server, err := cluster.NewServer(cluster.Local("127.0.0.1:0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}

	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 3), tf.VariableOptions{Name: "v"})
	for _, reset := range []bool{false, true} {
		if reset {
			if err := session.Reset(ctx, server.Target(), nil); err != nil {
				fmt.Println(err)
				return
			}
		}
		s, err := session.New(g, session.Target(server.Target()))
		if err != nil {
			fmt.Println(err)
			return
		}
		if !reset {
			_, err = s.Run(ctx, nil, tf.InitializeAll(g))
			fmt.Println("initialized:", err)
		}
		_, err = s.Run(ctx, nil, v.Read())
		fmt.Println("read:", tf.CodeOf(err))
		s.Close()
	}
	// Output:
	// initialized: <nil>
	// read: OK
	// read: FAILED_PRECONDITION
}
