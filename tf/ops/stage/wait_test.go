package stage_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/stage"
	"github.com/gorge-tf/gorge/tf/session"
)

// A bench runs parts of a graph.
type bench struct {
	t *testing.T
	g *tf.Graph
	s *session.Session
}

func newBench(t *testing.T) *bench { return &bench{t: t, g: tf.NewGraph()} }

// session returns the one session of the graph.
func (b *bench) session() *session.Session {
	if b.s == nil {
		s, err := session.New(b.g)
		if err != nil {
			b.t.Fatal(err)
		}
		b.s = s
		b.t.Cleanup(func() { _ = s.Close() })
	}
	return b.s
}

// run runs what it is given to the end.
func (b *bench) run(ctx context.Context, what ...tf.Fetchable) ([]*tf.Tensor, error) {
	return b.session().Run(ctx, nil, what...)
}

func (b *bench) must(what ...tf.Fetchable) []*tf.Tensor {
	b.t.Helper()
	out, err := b.run(context.Background(), what...)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// later runs something that has to wait, and returns where the result will be.
func (b *bench) later(ctx context.Context, what ...tf.Fetchable) chan error {
	done, s := make(chan error, 1), b.session()
	go func() { _, err := s.Run(ctx, nil, what...); done <- err }()
	return done
}

func (b *bench) fails(code tf.Code, words string, what ...tf.Fetchable) {
	b.t.Helper()
	if _, err := b.run(context.Background(), what...); tf.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		b.t.Errorf("%v, want %v: %s", err, code, words)
	}
}

func TestStageWaits(t *testing.T) {
	b := newBench(t)
	o := stage.Opts{SharedName: "area", Capacity: 1}
	floats := []tf.DType{tf.Float32}
	put := stage.Stage([]tf.Output{ops.Const(b.g, []float32{1, 2})}, o)
	get := stage.Unstage(b.g, floats, o)
	size, clear := stage.StageSize(b.g, floats, o), stage.StageClear(b.g, floats, o)
	b.must(put)
	second := b.later(context.Background(), put)
	b.must(get[0])
	if err := <-second; err != nil {
		t.Fatal("the area has room:", err)
	}
	third := b.later(context.Background(), put)
	b.must(clear)
	if err := <-third; err != nil {
		t.Fatal("the area is empty:", err)
	}
	if n := b.must(size)[0]; tf.Data[int32](n)[0] != 1 {
		t.Errorf("size %v", n)
	}
	b.must(get[0])
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := <-b.later(ctx, get[0]); tf.CodeOf(err) != tf.DeadlineExceeded && tf.CodeOf(err) != tf.Canceled {
		t.Errorf("there is nothing to get: %v", err)
	}
}

func TestMapParts(t *testing.T) {
	b := newBench(t)
	o := stage.Opts{SharedName: "map"}
	types := []tf.DType{tf.Float32, tf.Float32}
	key, at := ops.Scalar(b.g, int64(3)), func(i ...int32) tf.Output { return ops.Const(b.g, i) }
	x := ops.Const(b.g, []float32{1, 2})
	put0 := stage.MapStage(stage.Ordered, key, at(0), []tf.Output{x}, types, o)
	put1 := stage.MapStage(stage.Ordered, key, at(1), []tf.Output{x}, types, o)
	get0 := tf.Apply(nil, "OrderedMapUnstage", []tf.Output{key, at(0)}, tf.Attr("dtypes", types), o)
	_, any := stage.MapUnstageNoKey(stage.Ordered, at(0, 1), types, o)
	waiting := b.later(context.Background(), any[0])
	b.must(put0)
	b.fails(tf.InvalidArgument, "The tensor for index '0' for key '3' was already initialized '2'.", put0)
	b.must(put1)
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	b.must(put0)
	b.must(put1)
	b.fails(tf.InvalidArgument, "Mismatch stage/unstage: 1 vs. 2", get0)
	b.fails(tf.InvalidArgument, "Tensor at index '0' for key '3' has already been removed.", get0)
}

// TestDroppedTuplesTakeNoMemory: a tuple whose key is there already is dropped, whole
// or in parts, and leaves its room to others.
func TestDroppedTuplesTakeNoMemory(t *testing.T) {
	b := newBench(t)
	o := stage.Opts{SharedName: "map", MemoryLimit: 64}
	types := []tf.DType{tf.Int64, tf.Int64}
	put := func(k int64, at ...int32) tf.Fetchable {
		key := ops.Scalar(b.g, k)
		return stage.MapStage(stage.Ordered, key, ops.Const(b.g, at), []tf.Output{key, key}[:len(at)], types, o)
	}
	whole, first, second, other := put(1, 0, 1), put(1, 0), put(1, 1), put(2, 0, 1)
	for range 10 {
		b.must(whole)
		b.must(first)
		b.must(second)
	}
	b.must(other)
}

// TestMapOrder: the lowest key comes first.
func TestMapOrder(t *testing.T) {
	b := newBench(t)
	o := stage.Opts{SharedName: "map", Capacity: 3, MemoryLimit: 24}
	types := []tf.DType{tf.Int64}
	put := func(k int64) tf.Fetchable {
		key := ops.Scalar(b.g, k)
		return stage.MapStage(stage.Ordered, key, ops.Const(b.g, []int32{0}), []tf.Output{key}, types, o)
	}
	key, _ := stage.MapUnstageNoKey(stage.Ordered, ops.Const(b.g, []int32{0}), types, o)
	all := []tf.Fetchable{put(5), put(-2), put(9), put(1)}
	for _, p := range all[:3] {
		b.must(p)
	}
	fourth := b.later(context.Background(), all[3])
	var got []int64
	got = append(got, tf.Data[int64](b.must(key)[0])...)
	if err := <-fourth; err != nil {
		t.Fatal(err)
	}
	for range 3 {
		got = append(got, tf.Data[int64](b.must(key)[0])...)
	}
	if want := []int64{-2, 1, 5, 9}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
}

func TestMutexExcludes(t *testing.T) {
	b := newBench(t)
	m := stage.MutexV2(b.g, stage.MutexOpts{SharedName: "m"})
	lock := stage.MutexLock(m)
	never := stage.Unstage(b.g, []tf.DType{tf.Float32}, stage.Opts{SharedName: "empty"})[0].Operation()
	held := stage.ConsumeMutexLock(lock, tf.After(never))
	free := stage.ConsumeMutexLock(stage.MutexLock(m))
	ctx, cancel := context.WithCancel(context.Background())
	holder := b.later(ctx, held)
	waiter := b.later(context.Background(), free)
	cancel()
	if err := <-holder; err == nil {
		t.Error("the holder was to wait for ever")
	}
	if err := <-waiter; err != nil {
		t.Errorf("the mutex is not free after its holder has failed: %v", err)
	}
}

func TestBarrierCloses(t *testing.T) {
	b := newBench(t)
	bar := stage.Barrier(b.g, []tf.DType{tf.Float32, tf.Float32}, []tf.Shape{nil, {}}, stage.BarrierOpts{SharedName: "b"})
	insert := func(component int, keys ...string) tf.Fetchable {
		return stage.BarrierInsertMany(bar, ops.Const(b.g, keys), ops.Const(b.g, make([]float32, len(keys))), component)
	}
	first, second, again, fresh := insert(0, "a", "b"), insert(1, "a"), insert(0, "a"), insert(0, "c")
	last, empty := insert(1, "b"), insert(0)
	take := func(n int32) tf.Fetchable {
		indices, _, _ := stage.BarrierTakeMany(bar, ops.Scalar(b.g, n), []tf.DType{tf.Float32, tf.Float32})
		return indices
	}
	one, two, three := take(1), take(2), take(3)
	closed, ready := stage.BarrierClose(bar), stage.BarrierReadySize(bar)
	b.fails(tf.InvalidArgument, "Tensors with no elements are not supported b: received shape [0]",
		stage.BarrierInsertMany(bar, ops.Const(b.g, []string{"a"}), ops.Const(b.g, []float32{}), 0))
	b.must(first)
	b.fails(tf.InvalidArgument, "Key a already has a value for component 0 in barrier b", again)
	b.must(second)
	waiting := b.later(context.Background(), two)
	b.must(closed)
	b.fails(tf.Canceled, "Barrier 'b' is already closed.", closed)
	b.fails(tf.Canceled, "is closed, but attempted to insert a brand new key: c", fresh)
	b.fails(tf.OutOfRange, "is closed and has insufficient elements (requested 3, total size", three)
	b.must(last)
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	b.fails(tf.Canceled, "is closed.", fresh)
	b.must(empty)
	b.fails(tf.OutOfRange, "is closed and has insufficient elements (requested 1, total size 0)", one)
	if n := b.must(ready)[0]; tf.Data[int32](n)[0] != 0 {
		t.Error(n)
	}
}

// TestEagerBarrier: a barrier's handle is a reference, so an eager graph has none; what
// is said is not about variables alone.
func TestEagerBarrier(t *testing.T) {
	b := stage.Barrier(eager.New(), []tf.DType{tf.Float32}, nil)
	if err := b.Err(); tf.CodeOf(err) != tf.Unimplemented || !strings.Contains(err.Error(), "run other operations on references in a session") {
		t.Error(err)
	}
}
