package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	packed "github.com/gorge-tf/gorge/tf/record"
)

// TestRoundsAgain: an iterator that is brought back draws by lot again what it has
// drawn, in rounds to come too.
func TestRoundsAgain(t *testing.T) {
	for name, once := range map[string]Dataset{
		"shuffle": must2(t)(Shuffle(numbers(t, 0, 20, 1), 5, 1, NewSeeds(3, 4, true))), "random": Take(Random(NewSeeds(3, 4, true)), 5),
	} {
		for taken := range 8 {
			d := Repeat(once, 3)
			it := mustIterate(t, d)
			defer it.Close()
			for range taken {
				if _, err := it.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			s := NewState()
			it.Save(s)
			want := rest(t, it)
			again := mustIterate(t, d)
			defer again.Close()
			again.Restore(t.Context(), s)
			if got := rest(t, again); s.Err() != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s after %d: %v (%v), want %v", name, taken, got, s.Err(), want)
			}
		}
	}
}

// TestInterleaveAny: while one dataset is late, elements of the other come.
func TestInterleaveAny(t *testing.T) {
	released := make(chan struct{})
	late := Map(numbers(t, 0, 3, 1), func(ctx context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		select {
		case <-released:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return e, nil
	}, numbers(t, 0, 1, 1).Spec(), true)
	sets := List(&Spec{[]core.DType{core.Variant}, []core.Shape{{}}}, []Element{{Value(late)}, {Value(numbers(t, 10, 14, 1))}})
	itself := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) { return e, nil }
	d := must2(t)(InterleaveAny(sets, itself, numbers(t, 0, 1, 1).Spec(), 2, 1, 1))
	it := mustIterate(t, d)
	defer it.Close()
	var got []string
	for range 4 {
		e, err := it.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, show(t, e))
	}
	if fmt.Sprint(got) != "[[10] [11] [12] [13]]" {
		t.Errorf("before the late ones came %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := it.Next(ctx); core.CodeOf(err) != core.Canceled {
		t.Errorf("who does not wait any more is told %v", err)
	}
	close(released)
	if late := rest(t, it); fmt.Sprint(late) != "[[0] [1] [2]]" {
		t.Errorf("then came %v", late)
	}
}

// TestInterleaveAnyHasAll: in whatever order, each element comes once.
func TestInterleaveAnyHasAll(t *testing.T) {
	r := numbers(t, 0, 20, 1)
	tens := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		v := 10 * core.Data[int64](e[0])[0]
		return []*core.Tensor{Value(numbers(t, v, v+10, 1))}, nil
	}
	for block := int64(1); block < 4; block++ {
		got := all(t, must2(t)(InterleaveAny(r, tens, r.Spec(), 7, block, 2)))
		want := all(t, numbers(t, 0, 200, 1))
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("blocks of %d: %v", block, got)
		}
	}
}

// TestFewFiles: there has to be a file for each shard, unless this one has none.
func TestFewFiles(t *testing.T) {
	r := numbers(t, 0, 3, 1)
	for shard, want := range map[int64]core.Code{0: core.InvalidArgument, 2: core.InvalidArgument, 4: core.OK} {
		it := mustIterate(t, must2(t)(ShardFiles(r, 5, shard)))
		_, err := it.Next(t.Context())
		if err == End {
			err = nil
		}
		if core.CodeOf(err) != want {
			t.Errorf("shard %d: %v", shard, err)
		}
		it.Close()
	}
	if _, err := must2(t)(Shard(r, HintedShards, 0)).Iterate(); core.CodeOf(err) != core.FailedPrecondition {
		t.Error(err)
	}
}

// TestBrokenSnapshots: what is not there, or not whole, is told of.
func TestBrokenSnapshots(t *testing.T) {
	dir, r := t.TempDir(), numbers(t, 0, 3, 1)
	if _, err := Keep(r, Snapshot{Compression: "ZLIB"}); core.CodeOf(err) != core.Unimplemented {
		t.Error(err)
	}
	kept := Snapshot{Read: dir, Write: dir, FileBytes: 10}
	if got := all(t, must2(t)(Keep(r, kept))); len(got) != 3 {
		t.Fatal(got)
	}
	kept.Mode = SnapshotRead
	names, _ := filepath.Glob(dir + "/*/*.snapshot")
	for name, b := range map[string][]byte{names[0]: []byte("no record at all, but text"), dir + "/" + metadataName: {0xff}} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		it := mustIterate(t, must2(t)(Keep(r, kept)))
		if _, err := it.Next(t.Context()); core.CodeOf(err) != core.DataLoss {
			t.Errorf("%s: %v", name, err)
		}
		it.Close()
	}
}

// TestElementWithoutItsEnd: a file that ends within an element is damaged, though
// its records are whole.
func TestElementWithoutItsEnd(t *testing.T) {
	dir := t.TempDir()
	w, err := packed.Create(dir+"/0.snapshot", packed.None)
	if err != nil {
		t.Fatal(err)
	}
	one := &pb.TensorProto{Dtype: pb.DataType_DT_INT64, TensorShape: &pb.TensorShapeProto{}, Int64Val: []int64{1}}
	b, _ := proto.Marshal(one)
	for range 3 {
		_ = w.Write(b)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	spec := &Spec{[]core.DType{core.Int64, core.Int64}, []core.Shape{{}, {}}}
	it := mustIterate(t, must2(t)(ElementsUnder(dir, "", spec)))
	defer it.Close()
	if e, err := it.Next(t.Context()); err != nil || len(e) != 2 {
		t.Fatal(e, err)
	}
	if _, err := it.Next(t.Context()); core.CodeOf(err) != core.DataLoss {
		t.Errorf("half an element: %v", err)
	}
}
