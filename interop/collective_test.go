package interop

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/collective"
	"github.com/gorge-tf/gorge/tf/session"
)

// member is what each task brings to collective operations.
func member(task, length int) []float32 {
	v := make([]float32, length)
	for i := range v {
		v[i] = float32((task+1)*(i%5) + i%3)
	}
	return v
}

// together is what the tasks get, by name, as the script prints it.
func together(tasks, length int) []string {
	sum, most := make([]float32, length), make([]float32, length)
	var rows []float32
	for task := range tasks {
		v := member(task, length)
		rows = append(rows, v...)
		for i := range v {
			sum[i] += v[i]
			most[i] = max(most[i], v[i])
		}
	}
	mean := slices.Clone(sum)
	for i := range mean {
		mean[i] /= float32(tasks)
	}
	return []string{line("sum", sum), line("mean", mean), line("rows", rows), line("sent", member(0, length)), line("max", most)}
}

func line(name string, v []float32) string {
	var b strings.Builder
	b.WriteString(name)
	for _, x := range v {
		fmt.Fprintf(&b, " %g", x)
	}
	return b.String()
}

// led starts workers of the given kinds, the one numbered leader of which
// completes groups, and returns their targets.
func led(t *testing.T, kinds []string, leader int) (targets []string) {
	t.Helper()
	addr := ports(t, len(kinds))
	spec, name := "worker|"+strings.Join(addr, ";"), fmt.Sprintf("/job:worker/replica:0/task:%d", leader)
	var starts []func()
	for i, kind := range kinds {
		starts = append(starts, func() { serveLed(t, kind, spec, "worker", i, name) })
		targets = append(targets, "grpc://"+addr[i])
	}
	both(starts...)
	return targets
}

// Tasks of both kinds do things together, each with a master and a client of its
// own, whichever leads.
func TestCollectivesOfManyMasters(t *testing.T) {
	needTensorFlow(t)
	kinds := []string{ofGorge, ofTensorFlow}
	for leader := range kinds {
		t.Run(fmt.Sprintf("%v led by %d", kinds, leader), func(t *testing.T) {
			targets := led(t, kinds, leader)
			const length = 37
			got := make([][]string, len(kinds))
			var wg sync.WaitGroup
			for task, target := range targets {
				wg.Go(func() {
					got[task] = script(t, "collective.py", target, fmt.Sprint(task), fmt.Sprint(len(kinds)), fmt.Sprint(length))
				})
			}
			wg.Wait()
			want := together(len(kinds), length)
			for task := range kinds {
				if !slices.Equal(got[task], slices.Concat(want, want, want)) {
					t.Errorf("task %d has\n%s, want each of\n%s", task, strings.Join(got[task], "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

// One master, of either kind, has tasks of both kinds do things together. Lengths
// are such that pieces are short, empty, or many.
func TestCollectivesOfOneMaster(t *testing.T) {
	needTensorFlow(t)
	kinds := []string{ofGorge, ofTensorFlow, ofGorge}
	for leader := range 2 {
		targets := led(t, kinds, leader)
		for master, target := range targets[:2] {
			t.Run(fmt.Sprintf("%v led by %d, master %d", kinds, leader, master), func(t *testing.T) {
				for i, length := range []int{1, 16, 33, 1000, 300_001} {
					allAtOnce(t, target, len(kinds), length, 100*i+10*master)
				}
			})
		}
	}
}

// allAtOnce runs all parts in one step, of a Go client, under instance keys from
// base on.
func allAtOnce(t *testing.T, target string, tasks, length, base int) {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	var ys []tf.Fetchable
	for task := range tasks {
		g.Device(fmt.Sprintf("/job:worker/task:%d/device:CPU:0", task), func() {
			group := func(i int) collective.Group {
				return collective.Group{Size: tasks, Key: 1, Instance: base + i, TimeoutSeconds: 240}
			}
			x := ops.Const(g, member(task, length))
			sent := collective.BcastRecv
			ys = append(ys, collective.Reduce(x, group(1), "Add", "Id"), collective.Reduce(x, group(2), "Add", "Div"), collective.Gather(x, group(3)))
			if task == 0 {
				ys = append(ys, collective.BcastSend(x, group(4)))
			} else {
				ys = append(ys, sent(g, tf.Float32, tf.Shape{length}, group(4)))
			}
			k := collective.Keys{Size: ops.Scalar(g, int32(tasks)), Key: ops.Scalar(g, int32(1)), Instance: ops.Scalar(g, int32(base+5))}
			ys = append(ys, collective.ReduceV2(x, k, "Max", "Id", tf.Attr("timeout_seconds", float32(240))))
		})
	}
	s, err := session.New(g, session.With(session.Config{Target: target, Timeout: 5 * time.Minute}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := together(tasks, length)
	for range 2 {
		got, err := s.Run(t.Context(), nil, ys...)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			name, _, _ := strings.Cut(want[i%5], " ")
			if l := line(name, tf.Data[float32](v)); l != want[i%5] {
				t.Fatalf("%d elements, task %d: %.200s, want %.200s", length, i/5, l, want[i%5])
			}
		}
	}
}
