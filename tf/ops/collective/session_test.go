package collective_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/collective"
	"github.com/gorge-tf/gorge/tf/session"
)

// onEach builds something on each of n devices and runs all of it in one step.
func onEach(t *testing.T, n int, build func(g *tf.Graph, i int) tf.Output) ([]*tf.Tensor, error) {
	t.Helper()
	g, ys := eachOf(t, n, build)
	s := open(t, g, n)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return s.Run(ctx, nil, each(ys)...)
}

func eachOf(t *testing.T, n int, build func(g *tf.Graph, i int) tf.Output) (*tf.Graph, []tf.Output) {
	t.Helper()
	g := tf.NewGraph()
	ys := make([]tf.Output, n)
	for i := range ys {
		g.Device(fmt.Sprintf("/cpu:%d", i), func() { ys[i] = build(g, i) })
	}
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	return g, ys
}

func open(t *testing.T, g *tf.Graph, n int) *session.Session {
	t.Helper()
	s, err := session.New(g, session.Devices("CPU", n))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func each(ys []tf.Output) (out []tf.Fetchable) {
	for _, y := range ys {
		out = append(out, y)
	}
	return out
}

// value is what device i has: small integers, so that sums are exact.
func value(i int, shape tf.Shape) []float32 {
	v := make([]float32, shape.NumElements())
	for j := range v {
		v[j] = float32((i+1)*(j%4) - i + j%3)
	}
	return v
}

// of returns value i as a constant of a type.
func of(g *tf.Graph, i int, shape tf.Shape, d tf.DType) tf.Output {
	return ops.Cast(ops.Const(g, value(i, shape), shape...), d)
}

// folded merges the values of n devices, element by element.
func folded(n int, shape tf.Shape, f func(a, b float32) float32) []float32 {
	out := value(0, shape)
	for i := 1; i < n; i++ {
		for j, v := range value(i, shape) {
			out[j] = f(out[j], v)
		}
	}
	return out
}

var merges = map[string]func(a, b float32) float32{
	"Add": func(a, b float32) float32 { return a + b },
	"Mul": func(a, b float32) float32 { return a * b },
	"Max": func(a, b float32) float32 { return max(a, b) },
	"Min": func(a, b float32) float32 { return min(a, b) },
}

var shapes = []tf.Shape{{}, {1}, {0}, {3}, {4, 5}, {64}, {7, 33}, {1000}}

func check(t *testing.T, what string, got []*tf.Tensor, err error, want func(i int) []float32) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	for i := range got {
		if w := want(i); got[i].DType() != tf.Float32 || !slices.Equal(tf.Data[float32](got[i]), w) {
			t.Errorf("%s: device %d has %v, want %v", what, i, got[i], w)
		}
	}
}

// Every device has the merged values of all, whatever their number and shape.
func TestReduceMergesAll(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for _, shape := range shapes {
			for merge, f := range merges {
				got, err := onEach(t, n, func(g *tf.Graph, i int) tf.Output {
					return collective.Reduce(of(g, i, shape, tf.Float32), collective.Group{Size: n, Key: 1, Instance: 1}, merge, "Id")
				})
				check(t, fmt.Sprint(merge, n, shape), got, err, func(int) []float32 { return folded(n, shape, f) })
			}
		}
	}
}

func TestReduceOfEveryType(t *testing.T) {
	shape := tf.Shape{3, 50}
	for _, d := range []tf.DType{tf.BFloat16, tf.Float16, tf.Float32, tf.Float64, tf.Int32, tf.Int64} {
		got, err := onEach(t, 2, func(g *tf.Graph, i int) tf.Output {
			y := collective.Reduce(of(g, i, shape, d), collective.Group{Size: 2, Key: 1, Instance: 1}, "Add", "Div")
			return ops.Cast(y, tf.Float32)
		})
		check(t, d.String(), got, err, func(int) []float32 {
			want := folded(2, shape, merges["Add"])
			for j := range want {
				if want[j] /= 2; d.IsInteger() {
					want[j] = float32(int(want[j]))
				}
			}
			return want
		})
	}
}

// Several rings, in both directions, give what one does.
func TestReduceOverSeveralRings(t *testing.T) {
	shape := tf.Shape{1000}
	for _, offsets := range [][]int{{0, 0}, {0, -1}, {1, -2, 3}} {
		got, err := onEach(t, 4, func(g *tf.Graph, i int) tf.Output {
			return collective.Reduce(of(g, i, shape, tf.Float32), collective.Group{Size: 4, Key: 1, Instance: 1}, "Add", "Id", tf.Attr("subdiv_offsets", offsets))
		})
		check(t, fmt.Sprint(offsets), got, err, func(int) []float32 { return folded(4, shape, merges["Add"]) })
	}
}

func TestGatherPutsRowsInOrder(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for _, shape := range shapes[1:] {
			got, err := onEach(t, n, func(g *tf.Graph, i int) tf.Output {
				return collective.Gather(of(g, i, shape, tf.Float32), collective.Group{Size: n, Key: 1, Instance: 1})
			})
			check(t, fmt.Sprint(n, shape), got, err, func(int) (want []float32) {
				for i := range n {
					want = append(want, value(i, shape)...)
				}
				return want
			})
		}
	}
}

func TestBroadcastReachesAll(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for source := range n {
			shape, group := tf.Shape{2, 3}, collective.Group{Size: n, Key: 1, Instance: 1}
			got, err := onEach(t, n, func(g *tf.Graph, i int) tf.Output {
				if i == source {
					return collective.BcastSend(of(g, i, shape, tf.Float32), group)
				}
				return collective.BcastRecv(g, tf.Float32, shape, group)
			})
			check(t, fmt.Sprint(n, source), got, err, func(int) []float32 { return value(source, shape) })
		}
	}
}

func keys(g *tf.Graph, size, key, instance int32) collective.Keys {
	return collective.Keys{Size: ops.Scalar(g, size), Key: ops.Scalar(g, key), Instance: ops.Scalar(g, instance)}
}

func TestOpsWithComputedKeys(t *testing.T) {
	const n = 3
	shape := tf.Shape{3, 2}
	sum := folded(n, shape, merges["Add"])
	for name, c := range map[string]struct {
		build func(g *tf.Graph, i int) tf.Output
		want  func(i int) []float32
	}{
		"ReduceV2": {func(g *tf.Graph, i int) tf.Output {
			return collective.ReduceV2(of(g, i, shape, tf.Float32), keys(g, n, 1, 1), "Add", "Id")
		}, func(int) []float32 { return sum }},
		"ReduceV2 of many pieces": {func(g *tf.Graph, i int) tf.Output {
			return collective.ReduceV2(of(g, i, shape, tf.Float32), keys(g, n, 1, 1), "Add", "Id", tf.Attr("max_subdivs_per_device", 0))
		}, func(int) []float32 { return sum }},
		"GatherV2": {func(g *tf.Graph, i int) tf.Output {
			return collective.GatherV2(of(g, i, shape, tf.Float32), keys(g, n, 1, 1))
		}, func(int) []float32 { return slices.Concat(value(0, shape), value(1, shape), value(2, shape)) }},
		"BcastV2": {func(g *tf.Graph, i int) tf.Output {
			if i == 1 {
				return collective.BcastSendV2(of(g, i, shape, tf.Float32), keys(g, n, 1, 1))
			}
			return collective.BcastRecvV2(tf.Float32, ops.Const(g, []int32{3, 2}), keys(g, n, 1, 1))
		}, func(int) []float32 { return value(1, shape) }},
		"AllToAllV2": {func(g *tf.Graph, i int) tf.Output {
			return collective.AllToAllV2(of(g, i, shape, tf.Float32), keys(g, n, 1, 1))
		}, func(i int) (want []float32) {
			for from := range n {
				want = append(want, value(from, shape)[2*i:2*i+2]...)
			}
			return want
		}},
		"ReduceScatterV2": {func(g *tf.Graph, i int) tf.Output {
			return collective.ReduceScatterV2(of(g, i, shape, tf.Float32), keys(g, n, 1, 1), "Add", "Id")
		}, func(i int) []float32 { return sum[2*i : 2*i+2] }},
	} {
		got, err := onEach(t, n, c.build)
		check(t, name, got, err, c.want)
	}
}

// A communicator's ranks say where what all send lies.
func TestCommunicators(t *testing.T) {
	const n = 3
	g := tf.NewGraph()
	none := ops.Const(g, []int32{}, 0, 0)
	var handles, sums, swapped []tf.Output
	for i := range n {
		g.Device(fmt.Sprintf("/cpu:%d", i), func() {
			h := collective.InitializeCommunicator(ops.Scalar(g, int32(7)), ops.Scalar(g, int32(n-1-i)), ops.Scalar(g, int32(n)))
			handles = append(handles, ops.Identity(h))
			sums = append(sums, collective.ReduceV3(of(g, i, tf.Shape{4}, tf.Float32), h, none, "Add"))
			swapped = append(swapped, collective.AllToAllV3(of(g, i, tf.Shape{3}, tf.Float32), h, none, tf.After(sums[i].Operation())))
		})
	}
	s := open(t, g, n)
	got, err := s.Run(t.Context(), nil, each(slices.Concat(sums, swapped))...)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "ReduceV3", got[:n], err, func(int) []float32 { return folded(n, tf.Shape{4}, merges["Add"]) })
	check(t, "AllToAllV3", got[n:], err, func(i int) []float32 {
		return []float32{value(2, tf.Shape{3})[i], value(1, tf.Shape{3})[i], value(0, tf.Shape{3})[i]}
	})
	if _, err := s.Run(t.Context(), nil, each(sums)...); tf.CodeOf(err) != tf.AlreadyExists {
		t.Errorf("joining twice gives %v", err)
	}
}

// Nodes of one loop meet in each iteration.
func TestReduceInLoops(t *testing.T) {
	group := collective.Group{Size: 2, Key: 1, Instance: 1}
	g := tf.NewGraph()
	first := []tf.Output{ops.Scalar(g, float32(1)), ops.Scalar(g, float32(2)), ops.Scalar(g, int32(0))}
	ys := tf.While(first, func(in []tf.Output) tf.Output {
		return ops.Less(in[2], ops.Scalar(g, int32(4)))
	}, func(in []tf.Output) []tf.Output {
		out := []tf.Output{{}, {}, ops.AddV2(in[2], ops.Scalar(g, int32(1)))}
		for i := range 2 {
			g.Device(fmt.Sprintf("/cpu:%d", i), func() {
				out[i] = ops.AddV2(collective.Reduce(in[i], group, "Add", "Id"), ops.Scalar(g, float32(i)))
			})
		}
		return out
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := open(t, g, 2).Run(ctx, nil, each(ys[:2])...)
	check(t, "loop", got, err, func(i int) []float32 {
		a, b := float32(1), float32(2)
		for range 4 {
			a, b = a+b, a+b+1
		}
		return []float32{[]float32{a, b}[i]}
	})
}

func TestErrors(t *testing.T) {
	one := collective.Group{Size: 2, Key: 1, Instance: 1}
	reduce := func(g *tf.Graph, i int, shape tf.Shape, group collective.Group) tf.Output {
		return collective.Reduce(of(g, i, shape, tf.Float32), group, "Add", "Id")
	}
	for name, c := range map[string]struct {
		n     int
		build func(g *tf.Graph, i int) tf.Output
		code  tf.Code
		want  string
	}{
		"shapes": {2, func(g *tf.Graph, i int) tf.Output { return reduce(g, i, tf.Shape{i + 1}, one) }, tf.InvalidArgument, "Shape mismatch in the collective instance 1. Op at device"},
		"sizes": {2, func(g *tf.Graph, i int) tf.Output {
			return reduce(g, i, tf.Shape{2}, collective.Group{Size: 2 + i, Key: 1, Instance: 1})
		}, tf.Internal, "is joining a group with size"},
		"one too many": {3, func(g *tf.Graph, i int) tf.Output { return reduce(g, i, tf.Shape{2}, one) }, tf.Internal, "is joining a group that is already full (group_key=1)"},
		"kinds": {2, func(g *tf.Graph, i int) tf.Output {
			if i == 0 {
				return reduce(g, i, tf.Shape{2}, one)
			}
			return collective.Gather(of(g, i, tf.Shape{1}, tf.Float32), one)
		}, tf.Internal, "Collective instance 1 expected type"},
		"no source": {2, func(g *tf.Graph, i int) tf.Output {
			return collective.BcastRecv(g, tf.Float32, tf.Shape{2}, one)
		}, tf.Internal, "Instance 1 found no source for broadcast.  This could mean that there were group_size=2 BcastRecvs but no BcastSend."},
		"two sources": {2, func(g *tf.Graph, i int) tf.Output {
			return collective.BcastSend(of(g, i, tf.Shape{2}, tf.Float32), one)
		}, tf.Internal, "Instance 1 already has source"},
		"nobody comes": {2, func(g *tf.Graph, i int) tf.Output {
			return reduce(g, i, tf.Shape{2}, collective.Group{Size: 3, Key: 1, Instance: 1, TimeoutSeconds: 0.2})
		}, tf.DeadlineExceeded, "Collective has timed out waiting for other workers"},
		"not joined": {1, func(g *tf.Graph, i int) tf.Output {
			return collective.AllToAllV2(of(g, i, tf.Shape{2}, tf.Float32), keys(g, 1, 1, 1))
		}, tf.InvalidArgument, "input to all-to-all first dimension size (2) must be the same as the group size (1)"},
		"a size of none": {1, func(g *tf.Graph, i int) tf.Output {
			return collective.ReduceV2(of(g, i, tf.Shape{2}, tf.Float32), keys(g, 0, 1, 1), "Add", "Id")
		}, tf.InvalidArgument, "group_size must be positive integer but got 0"},
	} {
		_, err := onEach(t, c.n, c.build)
		if tf.CodeOf(err) != c.code || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %v: %s", name, err, c.code, c.want)
		}
	}
}

// A step that has failed, or was given up, does not stand in the way of the next.
func TestStepsAfterFailures(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, nil)
	var ys []tf.Output
	for i := range 2 {
		g.Device(fmt.Sprintf("/cpu:%d", i), func() {
			y := ops.Identity(x)
			if i == 1 {
				y = ops.CheckNumerics(y, "bad")
			}
			ys = append(ys, collective.Reduce(y, collective.Group{Size: 2, Key: 1, Instance: 1}, "Add", "Id"))
		})
	}
	s := open(t, g, 2)
	for range 3 {
		bad := float32(0)
		if _, err := s.Run(t.Context(), session.Feeds{x: (*tf.Tensor)(core.Scalar(1 / bad))}, each(ys)...); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("a bad value gives %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := s.Run(ctx, session.Feeds{x: (*tf.Tensor)(core.Scalar(float32(1)))}, ys[0]); tf.CodeOf(err) != tf.DeadlineExceeded {
			t.Errorf("one alone gives %v", err)
		}
		cancel()
		got, err := s.Run(t.Context(), session.Feeds{x: (*tf.Tensor)(core.Scalar(float32(4)))}, each(ys)...)
		check(t, "the next", got, err, func(int) []float32 { return []float32{8} })
	}
	// A later step may want a group of another size.
	g.Device("/cpu:0", func() {
		alone := collective.Reduce(ops.Identity(x), collective.Group{Size: 1, Key: 1, Instance: 1}, "Add", "Id")
		got, err := s.Run(t.Context(), session.Feeds{x: (*tf.Tensor)(core.Scalar(float32(4)))}, alone)
		check(t, "a smaller group", got, err, func(int) []float32 { return []float32{4} })
	})
	// Other shapes may come in other steps.
	got, err := s.Run(t.Context(), session.Feeds{x: (*tf.Tensor)(must(core.FromSlice([]float32{1, 2}, 2)))}, each(ys)...)
	check(t, "another shape", got, err, func(int) []float32 { return []float32{2, 4} })
}

func must(t *core.Tensor, err error) *core.Tensor {
	if err != nil {
		panic(err)
	}
	return t
}

// Reductions of a device run in order where a session asks for that: the greatest
// instance first.
func TestReducesInOrder(t *testing.T) {
	g, ys := eachOf(t, 2, func(g *tf.Graph, i int) tf.Output {
		x := of(g, i, tf.Shape{3}, tf.Float32)
		one := collective.Reduce(x, collective.Group{Size: 2, Key: 1, Instance: 1}, "Add", "Id", tf.Name(fmt.Sprint("one", i)))
		two := collective.Reduce(x, collective.Group{Size: 2, Key: 1, Instance: 2}, "Max", "Id", tf.Name(fmt.Sprint("two", i)))
		return ops.AddV2(one, two)
	})
	for _, inOrder := range []bool{false, true} {
		s, err := session.New(g, session.With(session.Config{Devices: map[string]int{"CPU": 2}, CollectivesInOrder: inOrder}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got, about, err := s.RunWithOptions(t.Context(), session.RunOptions{PartitionGraphs: true}, nil, each(ys)...)
		check(t, "one and two", got, err, func(int) []float32 {
			want := folded(2, tf.Shape{3}, merges["Add"])
			for j, v := range folded(2, tf.Shape{3}, merges["Max"]) {
				want[j] += v
			}
			return want
		})
		for _, p := range about.GetPartitionGraphs() {
			for _, n := range p.GetNode() {
				if i, isOne := strings.CutPrefix(n.GetName(), "one"); isOne && slices.Contains(n.GetInput(), "^two"+i) != inOrder {
					t.Errorf("in order: %v; the inputs of %s are %v", inOrder, n.GetName(), n.GetInput())
				}
			}
		}
	}
}
