package batch_test

import (
	"context"
	"embed"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/batch"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func init() {
	two := batch.Opts{Threads: 1, MaxSize: 2}
	// The id is random: what depends on it is left out.
	batched := func(o batch.Opts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			xs, index, _ := batch.Batch(in, o, 0)
			return append([]tf.Output{ops.Slice(index, ops.Const(g, []int32{0, 1}), ops.Const(g, []int32{-1, 2}))}, xs...)
		}
	}
	add := func(op, name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn, Fails: strings.HasPrefix(name, "bad ")})
	}
	add("Batch", "", batched(two), optest.Seq(2, 3), optest.I32(1, 2))
	add("Batch", "padded", batched(batch.Opts{Threads: 1, MaxSize: 6, AllowedSizes: []int{3, 6}}), optest.Seq(2, 3))
	optest.Add(optest.Sample{Op: "Batch", Name: "bad rows", In: []*core.Tensor{optest.Seq(2), optest.Seq(1)}, F: batched(two), Types: optest.OnlyOwn, Fails: true, NoGolden: "TensorFlow's message has several lines"})
	add("Batch", "bad size", batched(two), optest.Seq(3))
	add("Batch", "bad allowed", batched(batch.Opts{Threads: 1, MaxSize: 6, AllowedSizes: []int{3, 5}}), optest.Seq(2))
	add("Batch", "bad order", batched(batch.Opts{Threads: 1, MaxSize: 2, AllowedSizes: []int{3, 2}}), optest.Seq(2))
	alone := func(op string, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output { // kernels that wait are not called without a step
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.Identity(tf.Apply(g, op, in, opts...).Output(0))}
		}
	}
	un, back := alone("Unbatch", tf.Attr("timeout_micros", 0)), alone("UnbatchGrad") // rows that are there need no time
	one, id := optest.Mat[int64](3, 7, 0, 2), core.Scalar[int64](7)
	add("Unbatch", "", un, optest.Seq(2, 3), one, id)
	add("Unbatch", "padding", un, optest.Seq(4, 3), one, id)
	add("Unbatch", "bad late", un, optest.Seq(2, 3), one, core.Scalar[int64](8))
	add("Unbatch", "bad width", un, optest.Seq(2, 3), optest.Mat[int64](2, 7, 0), id)
	add("Unbatch", "bad count", un, optest.Seq(0, 3), one, id)
	add("UnbatchGrad", "", back, optest.Seq(2, 3), one, optest.Seq(2, 3), id)
	add("UnbatchGrad", "empty", back, optest.Seq(0, 3), core.NewTensor(tf.Int64, tf.Shape{0, 3}), optest.Seq(2, 3), id)
	add("UnbatchGrad", "bad index", back, optest.Seq(2, 3), optest.Mat[int64](2, 7, 0), optest.Seq(2, 3), id)
	add("UnbatchGrad", "bad empty index", back, optest.Seq(2, 3), core.NewTensor(tf.Int64, tf.Shape{0, 3}), optest.Seq(2, 3), id)
	optest.Unsampled("BatchFunction", "it takes a function; see TestFunction")
}

// run runs steps at the same time, each with a vector of its own, and returns
// what they fetch.
func run(t *testing.T, g *tf.Graph, x tf.Output, fetches []tf.Output, feeds ...[]float32) [][]*tf.Tensor {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out := make([][]*tf.Tensor, len(feeds))
	var all sync.WaitGroup
	for i, v := range feeds {
		all.Add(1)
		go func() {
			defer all.Done()
			var list []tf.Fetchable
			for _, y := range fetches {
				list = append(list, y)
			}
			var err error
			if out[i], err = s.Run(t.Context(), session.Feeds{x: (*tf.Tensor)(optest.Vec(v...))}, list...); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return out
}

func placeholder() (*tf.Graph, tf.Output) {
	g := tf.NewGraph()
	return g, ops.Placeholder(g, tf.Float32, tf.Shape{-1})
}

// slow is how long batches wait that have to become full.
const slow = 60_000_000

// TestSteps: two steps make a batch, which one of them gets, and each gets what
// is its own back.
func TestSteps(t *testing.T) {
	g, x := placeholder()
	xs, index, id := batch.Batch([]tf.Output{x}, batch.Opts{Threads: 1, MaxSize: 3, TimeoutMicros: slow}, 0)
	y := batch.Unbatch(ops.Mul(xs[0], ops.Scalar[float32](g, 10)), index, id, slow)
	grad := batch.UnbatchGrad(xs[0], index, ops.Neg(y), id)
	out := run(t, g, x, []tf.Output{xs[0], y, grad}, []float32{1, 2}, []float32{3})
	if a, b := out[0][1], out[1][1]; !slices.Equal(tf.Data[float32](a), []float32{10, 20}) || !slices.Equal(tf.Data[float32](b), []float32{30}) {
		t.Errorf("the steps got %v and %v", a, b)
	}
	whole := out[0]
	if whole[0].Len() == 0 {
		whole = out[1]
	}
	for i, v := range tf.Data[float32](whole[0]) {
		if got := tf.Data[float32](whole[2])[i]; got != -10*v {
			t.Errorf("gradient %d is %v for %v", i, got, v)
		}
	}
	if whole[0].Len() != 3 {
		t.Errorf("the batch is %v", whole[0])
	}
}

// TestFunction: a function computes batches, whole requests and parts of them.
func TestFunction(t *testing.T) {
	for _, split := range []bool{false, true} {
		g, x := placeholder()
		half := ops.Scalar[float32](g, 0.5)
		f := tf.NewFunction(g, "double", []tf.ArgSpec{{DType: tf.Float32}}, func(in []tf.Output) []tf.Output {
			return []tf.Output{ops.AddV2(ops.AddV2(in[0], in[0]), half)}
		})
		if f.Err() != nil {
			t.Fatal(f.Err())
		}
		o, more := batch.Opts{Threads: 1, MaxSize: 8, TimeoutMicros: 1000, AllowedSizes: []int{4, 8}}, []tf.Option{}
		if split {
			o.AllowedSizes, more = []int{2, 3}, append(more, tf.Attr("enable_large_batch_splitting", true))
		}
		y := batch.Function(f, []tf.Output{x}, o, more...)
		for i, out := range run(t, g, x, y, []float32{1, 2, 3, 4, 5, 6, 7}, []float32{8}) {
			want := [][]float32{{2.5, 4.5, 6.5, 8.5, 10.5, 12.5, 14.5}, {16.5}}[i]
			if got := tf.Data[float32](out[0]); !slices.Equal(got, want) {
				t.Errorf("split %v: %v, want %v", split, got, want)
			}
		}
	}
}

// TestTwoFunctionsOfOneName: nodes that share a resource have each their own function.
func TestTwoFunctionsOfOneName(t *testing.T) {
	g, x := placeholder()
	var fetches []tf.Output
	for _, n := range []float32{1, 2} {
		f := tf.NewFunction(g, "plus", []tf.ArgSpec{{DType: tf.Float32}}, func(in []tf.Output) []tf.Output {
			return []tf.Output{ops.AddV2(in[0], ops.Scalar(in[0].Graph(), n))}
		})
		fetches = append(fetches, batch.Function(f, []tf.Output{x}, batch.Opts{Threads: 1, MaxSize: 8, TimeoutMicros: 1000, SharedName: "s"})...)
	}
	for i, out := range run(t, g, x, fetches, []float32{10}, []float32{20}) {
		at := float32(10 * (i + 1))
		if a, b := tf.Data[float32](out[0])[0], tf.Data[float32](out[1])[0]; a != at+1 || b != at+2 {
			t.Errorf("%v and %v of %v", a, b, at)
		}
	}
}

// TestFunctionOfOthers: a function must take what there is.
func TestFunctionOfOthers(t *testing.T) {
	g, x := placeholder()
	f := tf.NewFunction(g, "sum", []tf.ArgSpec{{DType: tf.Float32}, {DType: tf.Float32}}, func(in []tf.Output) []tf.Output {
		return []tf.Output{ops.AddV2(in[0], in[1])}
	})
	y := batch.Function(f, []tf.Output{x}, batch.Opts{Threads: 1, MaxSize: 8, TimeoutMicros: 1000})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Run(t.Context(), session.Feeds{x: (*tf.Tensor)(optest.Vec[float32](1))}, y[0])
	if want := "Function takes 2 argument(s) but 1 argument(s) were passed"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestStepGivesUp: a step that is over is not waited for, and does not wait.
func TestStepGivesUp(t *testing.T) {
	g, x := placeholder()
	xs, _, _ := batch.Batch([]tf.Output{x}, batch.Opts{Threads: 1, MaxSize: 2, TimeoutMicros: slow}, 0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	gaveUp := 0
	for limit := 10 * time.Millisecond; ; limit *= 2 { // until two steps have come as far as the batch
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		out, err := s.Run(ctx, session.Feeds{x: (*tf.Tensor)(optest.Vec[float32](2))}, xs[0])
		cancel()
		if err == nil {
			if gaveUp == 0 || out[0].Len() != 2 {
				t.Errorf("after %d steps that gave up: %v, want a row of one of them and the last one's", gaveUp, out)
			}
			return
		}
		if code := tf.CodeOf(err); code != tf.DeadlineExceeded && code != tf.Canceled {
			t.Fatal(err)
		}
		gaveUp++
	}
}
