package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/collective"
	"github.com/gorge-tf/gorge/tf/session"
)

// reducers are the servers of n tasks of two devices each, led by the first.
func reducers(t *testing.T, n int) *running {
	return startAlike(t, map[string]int{"worker": n}, cluster.Config{Devices: map[string]int{"CPU": 2}, CollectiveLeader: "/job:worker/task:0"})
}

// sums adds, on both devices of some tasks of n, the sum of what is fed over all
// devices of all n.
func sums(g *tf.Graph, n int, tasks ...int) (x tf.Output, ys []tf.Fetchable) {
	x = ops.Placeholder(g, tf.Float32, nil)
	for _, task := range tasks {
		for id := range 2 {
			g.Device(fmt.Sprintf("/job:worker/task:%d/device:CPU:%d", task, id), func() {
				own := ops.AddV2(x, ops.Scalar(g, float32(2*task+id)))
				ys = append(ys, collective.Reduce(own, collective.Group{Size: 2 * n, Key: 1, Instance: 1}, "Add", "Id"))
			})
		}
	}
	return x, ys
}

func checkSums(t *testing.T, got []*tf.Tensor, err error, want []float32) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	for i := range got {
		if !slices.Equal(tf.Data[float32](got[i]), want) {
			t.Errorf("part %d is %v, want %v", i, got[i], want)
		}
	}
}

// Devices of several tasks sum up what they have: small values, and ones that
// cross in many pieces.
func TestTasksSumUp(t *testing.T) {
	r := reducers(t, 2)
	g := tf.NewGraph()
	x, ys := sums(g, 2, 0, 1)
	s := open(t, g, r.servers["worker:1"].Target())
	got, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(1))}, ys...)
	checkSums(t, got, err, []float32{10})
	// Instances are settled once for all steps, but nodes that have met need not
	// agree on shapes again.
	big := slices.Repeat([]float32{1, 2}, 500_000)
	got, err = s.Run(t.Context(), session.Feeds{x: must(tf.FromSlice(big, len(big)))}, ys...)
	checkSums(t, got, err, slices.Repeat([]float32{10, 14}, 500_000))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Tasks that keep what they have sent, until it has arrived, sum up as others do.
func TestTasksThatKeepResponsesSumUp(t *testing.T) {
	r := startAlike(t, map[string]int{"worker": 2}, cluster.Config{
		Devices: map[string]int{"CPU": 2}, CollectiveLeader: "/job:worker/task:0", CacheResponses: true, Retries: 2,
	})
	g := tf.NewGraph()
	x, ys := sums(g, 2, 0, 1)
	s := open(t, g, r.servers["worker:0"].Target())
	for _, n := range []int{1, 3, 300_000} {
		got, err := s.Run(t.Context(), session.Feeds{x: must(tf.FromSlice(slices.Repeat([]float32{float32(n)}, n), n))}, ys...)
		checkSums(t, got, err, slices.Repeat([]float32{float32(6 + 4*n)}, n))
	}
}

// Each task has a master of its own, whose steps are the same: the leader says
// which.
func TestMastersSumUp(t *testing.T) {
	const n = 3
	r := reducers(t, n)
	var wg sync.WaitGroup
	for task := range n {
		wg.Go(func() {
			g := tf.NewGraph()
			x, ys := sums(g, n, task)
			s := open(t, g, r.servers[taskKey("worker", task)].Target(), only(fmt.Sprintf("/job:worker/task:%d", task)))
			for step := range 5 {
				got, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(step))}, ys...)
				checkSums(t, got, err, []float32{float32(15 + 2*n*step)})
			}
		})
	}
	wg.Wait()
}

// A task that stops ends what the others wait for, with the reason.
func TestTaskStopsWhileOthersWait(t *testing.T) {
	r := reducers(t, 2)
	g := tf.NewGraph()
	x, ys := sums(g, 2, 0)
	s := open(t, g, r.servers["worker:0"].Target(), only("/job:worker/task:0"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, session.Feeds{x: tf.Scalar(float32(1))}, ys...)
		failed <- err
	}()
	h := tf.NewGraph()
	y, zs := sums(h, 2, 1)
	other := open(t, h, r.servers["worker:1"].Target(), only("/job:worker/task:1"))
	// One device of the other task joins and gives up, if its time is long enough for that.
	var err error
	for patience, over := 50*time.Millisecond, false; !over; patience *= 2 {
		limited, stop := context.WithTimeout(ctx, patience)
		if _, err := other.Run(limited, session.Feeds{y: tf.Scalar(float32(1))}, zs[0]); err == nil {
			t.Error("a sum over four devices of which three come has a value")
		}
		stop()
		select {
		case err = <-failed:
			over = true
		case <-time.After(patience):
		}
	}
	if err == nil || ctx.Err() != nil {
		t.Errorf("who waits for a device that gives up hears %v", err)
	} else if !strings.Contains(err.Error(), "Collective ops is aborted by") && !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("who waits for a device that gives up hears %v", err)
	}
}

// only restricts a session to some tasks.
func only(filter string) session.Option {
	return func(c *session.Config) { c.DeviceFilters = []string{filter} }
}

// A session that asks for order has it on every task.
func TestTasksReduceInOrder(t *testing.T) {
	r := reducers(t, 2)
	g := tf.NewGraph()
	var ys []tf.Fetchable
	for i := range 2 {
		g.Device(fmt.Sprintf("/job:worker/task:%d/device:CPU:0", i), func() {
			for k, name := range []string{"one", "two"} {
				group := collective.Group{Size: 2, Key: 1, Instance: k + 1}
				ys = append(ys, collective.Reduce(ops.Scalar(g, float32(i)), group, "Add", "Id", tf.Name(name+fmt.Sprint(i))))
			}
		})
	}
	s := open(t, g, r.servers["worker:1"].Target(), session.With(session.Config{CollectivesInOrder: true}))
	got, about, err := s.RunWithOptions(t.Context(), session.RunOptions{PartitionGraphs: true}, nil, ys...)
	checkSums(t, got, err, []float32{1})
	ordered := 0
	for _, p := range about.GetPartitionGraphs() {
		for _, n := range p.GetNode() {
			if i, isOne := strings.CutPrefix(n.GetName(), "one"); isOne && slices.Contains(n.GetInput(), "^two"+i) {
				ordered++
			}
		}
	}
	if ordered != 2 {
		t.Errorf("%d of 2 reductions come after another one", ordered)
	}
}

// TestNoSuchLeader: a server does not begin whose groups would find no leader.
func TestNoSuchLeader(t *testing.T) {
	for _, leader := range []string{"/job:boss/task:0", "/job:worker/task:2", "/job:worker", "/task:0", "/device:CPU:0", "worker:0"} {
		s, err := cluster.NewServer(cluster.Config{Cluster: cluster.Spec{"worker": {"127.0.0.1:0", "127.0.0.1:1"}}, Job: "worker", CollectiveLeader: leader})
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("a leader %q: %v", leader, err)
		}
		if err == nil {
			s.Stop()
		}
	}
}
