package batch

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func matrix(t testing.TB, rows, width int, first float32) map[string]*tf.Tensor {
	t.Helper()
	data := make([]float32, rows*width)
	for i := range data {
		data[i] = first + float32(i)
	}
	x, err := tf.Adopt(data, rows, width)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*tf.Tensor{"x": x}
}

// echo returns its input, and remembers how many rows batches had.
type echo struct {
	mu    sync.Mutex
	sizes []int
	delay time.Duration
}

func (e *echo) run(ctx context.Context, in map[string]*tf.Tensor, _ []string) (map[string]*tf.Tensor, error) {
	e.mu.Lock()
	e.sizes = append(e.sizes, in["x"].Dim(0))
	e.mu.Unlock()
	time.Sleep(e.delay)
	return map[string]*tf.Tensor{"y": in["x"]}, ctx.Err()
}

// TestEachGetsItsOwn sends many requests of all sizes at once: each gets the rows
// that it sent, whatever it ran with.
func TestEachGetsItsOwn(t *testing.T) {
	for _, p := range []Params{{}, {MaxSize: 8, MaxBatches: 1000}, {MaxSize: 8, Sizes: []int{1, 4, 8}, MaxBatches: 1000}, {MaxSize: 64, Split: true, MaxRun: 4, MaxBatches: 1000, Threads: 3}, {Timeout: time.Millisecond}} {
		e := &echo{}
		q := NewQueue(nil, p, e.run, nil)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				in := matrix(t, 1+i%7, 1+i%2, float32(100*i))
				out, err := q.Run(t.Context(), in, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if a, b := fmt.Sprint(tf.Data[float32](in["x"]), in["x"].Shape()), fmt.Sprint(tf.Data[float32](out["y"]), out["y"].Shape()); a != b {
					t.Errorf("%+v: sent %s, got %s", p, a, b)
				}
			})
		}
		all.Wait()
		q.Close()
	}
}

// TestIdleIsNotSlower: without a timeout a request that comes alone runs at once;
// those that come while it runs are joined.
func TestIdleIsNotSlower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{delay: time.Second}
		q := NewQueue(nil, Params{Threads: 1}, e.run, nil)
		defer q.Close()
		start := time.Now()
		if _, err := q.Run(t.Context(), matrix(t, 1, 1, 0), nil); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v, %v", time.Since(start), err)
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { q.Run(t.Context(), matrix(t, 2, 1, 0), nil) })
			synctest.Wait()
		}
		all.Wait()
		if got := fmt.Sprint(e.sizes); got != "[1 2 18]" {
			t.Errorf("batches of %s rows", got)
		}
	})
}

// TestTimeout: a batch that is not full waits for others, but no longer than that.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{}
		q := NewQueue(nil, Params{MaxSize: 4, Timeout: time.Minute, Sizes: []int{2, 4}}, e.run, nil)
		defer q.Close()
		start := time.Now()
		if out, err := q.Run(t.Context(), matrix(t, 1, 1, 5), nil); err != nil || time.Since(start) != time.Minute || out["y"].Dim(0) != 1 {
			t.Errorf("%v, %v, %v", time.Since(start), out, err)
		}
		start = time.Now()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { q.Run(t.Context(), matrix(t, 1, 1, 0), nil) })
		}
		all.Wait()
		if got := fmt.Sprint(e.sizes, time.Since(start)); got != "[2 4] 0s" {
			t.Errorf("batches and time: %s", got)
		}
	})
}

func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{delay: time.Hour}
		q := NewQueue(nil, Params{MaxSize: 8, Threads: 1, MaxBatches: 1}, e.run, nil)
		expect(t, q, t.Context(), 9, tf.InvalidArgument, "Task size 9 is larger than maximum input batch size 8")
		for range 2 {
			go q.Run(t.Context(), matrix(t, 8, 1, 0), nil)
			synctest.Wait()
		}
		expect(t, q, t.Context(), 1, tf.Unavailable, "The batch scheduling queue to which this task was submitted is full; task size is 1 but scheduling capacity is only 0 (max_enqueued_batches = 1, max_execution_batch_size = 8)")
		time.Sleep(90 * time.Minute) // the second one runs
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		expect(t, q, ctx, 1, tf.ResourceExhausted, "Run() timeout exceeded while waiting in batching queue")
		q.Close()
		expect(t, q, t.Context(), 1, tf.Unavailable, "the model is being unloaded")
	})
}

// TestParametersRefused: the error names the parameter.
func TestParametersRefused(t *testing.T) {
	for want, p := range map[string]Params{
		"batch_timeout_micros must not be negative, got -2":     {Timeout: -2 * time.Microsecond},
		"max_enqueued_batches must not be negative, got -3":     {MaxBatches: -3},
		"max_execution_batch_size must not be negative, got -1": {MaxRun: -1},
	} {
		if err := p.Check(); tf.CodeOf(err) != tf.InvalidArgument || tf.AsError(err).Message() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestTimeoutRefused: a file's timeout that no Duration holds is refused as it stands
// there.
func TestTimeoutRefused(t *testing.T) {
	for _, micros := range []int64{-1, 9_223_372_036_854_776, 18_446_744_073_709_552, math.MaxInt64} {
		want := fmt.Sprintf("batch_timeout_micros must be from 0 to 9223372036854775, got %d", micros)
		_, err := FromProto(&servingpb.BatchingParameters{BatchTimeoutMicros: wrapperspb.Int64(micros)})
		if tf.CodeOf(err) != tf.InvalidArgument || tf.AsError(err).Message() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	longest := &servingpb.BatchingParameters{BatchTimeoutMicros: wrapperspb.Int64(maxMicros)}
	if p, err := FromProto(longest); err != nil || p.Timeout.Microseconds() != maxMicros {
		t.Errorf("got %v, %v", p, err)
	}
}

func expect(t *testing.T, q *Queue, ctx context.Context, rows int, code tf.Code, text string) {
	t.Helper()
	_, err := q.Run(ctx, matrix(t, rows, 1, 0), nil)
	if tf.CodeOf(err) != code || tf.AsError(err).Message() != text {
		t.Errorf("got %v, want %v: %s", err, code, text)
	}
}

// TestOutputsMustHaveRows: results that cannot be divided are errors.
func TestOutputsMustHaveRows(t *testing.T) {
	for text, y := range map[string]*tf.Tensor{
		"Batched output tensor has 0 dimensions": tf.Scalar[float32](1),
		"Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors": matrix(t, 1, 1, 0)["x"],
	} {
		q := NewQueue(nil, Params{MaxSize: 4, Sizes: []int{4}}, func(context.Context, map[string]*tf.Tensor, []string) (map[string]*tf.Tensor, error) {
			return map[string]*tf.Tensor{"y": y}, nil
		}, nil)
		expect(t, q, t.Context(), 2, tf.FailedPrecondition, text)
		q.Close()
	}
}

// TestPadding: smaller tensors get zeros at their ends.
func TestPadding(t *testing.T) {
	a, b := matrix(t, 1, 3, 1)["x"], matrix(t, 2, 2, 7)["x"]
	got, _ := stack([]*tf.Tensor{a, b}, 4)
	if s := fmt.Sprint(tf.Data[float32](got), got.Shape()); s != "[1 2 3 7 8 0 9 10 0 7 8 0] [4,3]" {
		t.Error(s)
	}
	x, _ := tf.FromSlice([]string{"a", "b", "c", "d"}, 1, 2, 2)
	y, _ := tf.FromSlice([]string{"e", "f", "g"}, 1, 1, 3)
	z, _ := stack([]*tf.Tensor{x, y}, 2)
	if s := fmt.Sprintf("%q", tf.Data[string](z)); s != `["a" "b" "" "c" "d" "" "e" "f" "g" "" "" ""]` {
		t.Error(s)
	}
}

// TestCanceled: requests whose clients have gone do not end those of others.
func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int64
		q := NewQueue(nil, Params{Timeout: time.Second}, func(ctx context.Context, in map[string]*tf.Tensor, _ []string) (map[string]*tf.Tensor, error) {
			select {
			case <-ctx.Done():
				ended.Add(1)
				return nil, ctx.Err()
			case <-time.After(time.Minute):
				return map[string]*tf.Tensor{"y": in["x"]}, nil
			}
		}, nil)
		defer q.Close()
		ctx, cancel := context.WithCancel(t.Context())
		for _, c := range []context.Context{ctx, t.Context()} {
			go q.Run(c, matrix(t, 1, 1, 0), nil)
		}
		time.Sleep(2 * time.Second) // they run together
		cancel()
		synctest.Wait()
		if ended.Load() != 0 {
			t.Error("the batch ended with one of two requests")
		}
	})
}

// TestRandomQueues: whatever comes and goes, the rows that wait are counted, batches
// are no larger than allowed, and nothing is lost.
func TestRandomQueues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		q := &pending{p: Params{MaxSize: 10, Timeout: time.Duration(r.IntN(3)), MaxBatches: 3}.withDefaults()}
		in, out := 0, 0
		now := time.Time{}
		for range 100 {
			now = now.Add(1)
			switch r.IntN(3) {
			case 0:
				n := 1 + r.IntN(10)
				if q.add([]*task{{key: fmt.Sprint(r.IntN(2)), rows: n, since: now, request: &request{parts: make([]part, 1)}}}) == nil {
					in += n
				}
			case 1:
				out += taken(t, q, now)
			case 2:
				if len(q.tasks) > 0 {
					x := q.tasks[r.IntN(len(q.tasks))]
					q.drop(x.request)
					out += x.rows
				}
			}
		}
		q.closed = true
		for len(q.tasks) > 0 {
			out += taken(t, q, now)
		}
		if in != out || q.rows != 0 {
			t.Fatalf("%d rows in, %d out, %d left", in, out, q.rows)
		}
	}
}

func taken(t *testing.T, q *pending, now time.Time) (rows int) {
	tasks, wait := q.next(now)
	for _, x := range tasks {
		if x.key != tasks[0].key {
			t.Fatal("keys are mixed")
		}
		rows += x.rows
	}
	if rows > q.p.MaxRun || tasks == nil && len(q.tasks) > 0 && wait <= 0 {
		t.Fatalf("%d rows, wait %v", rows, wait)
	}
	return rows
}

func TestParams(t *testing.T) {
	for _, p := range []Params{{Sizes: []int{4, 2}}, {MaxSize: 8, Sizes: []int{2, 4}}, {MaxSize: -1}, {MaxSize: 4, Split: true, MaxRun: 8}} {
		if p.Check() == nil {
			t.Errorf("%+v is not refused", p)
		}
	}
	if err := (Params{MaxSize: 8, Split: true, MaxRun: 4, Sizes: []int{1, 4}}).Check(); err != nil {
		t.Error(err)
	}
}
