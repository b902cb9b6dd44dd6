package dataset

import (
	"context"
	"errors"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func numbers(t *testing.T, start, stop, step int64) Dataset {
	t.Helper()
	d, err := Range(start, stop, step, core.Int64)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// count goes through d.
func count(t *testing.T, d Dataset) (n int64) {
	t.Helper()
	it, err := d.Iterate()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for ; ; n++ {
		if _, err := it.Next(t.Context()); errors.Is(err, End) {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCardinalityIsTheNumberOfElements compares what datasets say with what
// comes.
func TestCardinalityIsTheNumberOfElements(t *testing.T) {
	must := func(d Dataset, err error) Dataset {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, size := range []int64{0, 1, 6, 7} {
		r := numbers(t, 3, 3+size, 1)
		for name, d := range map[string]Dataset{
			"range": r, "steps": numbers(t, 0, -size, -2), "take": Take(r, 3), "take all": Take(r, -1), "skip": Skip(r, 3), "skip all": Skip(r, -1),
			"shard": must(Shard(r, 3, 1)), "batch": must(Batch(r, 3, false)), "whole batches": must(Batch(r, 3, true)), "repeat": Repeat(r, 3),
			"concatenate": must(Concatenate(r, r)), "zip": Zip([]Dataset{r, numbers(t, 0, 3, 1)}), "cache": Cache(r), "prefetch": Prefetch(r, 2),
			"window": must(Window(r, 3, 2, 1, false)), "whole windows": must(Window(r, 2, 2, 2, true)), "shuffle": must(Shuffle(r, 4, 2, NewSeeds(1, 2, true))),
		} {
			if got, said := count(t, d), d.Cardinality(); got != said {
				t.Errorf("%s of %d: %d elements, %d were promised", name, size, got, said)
			}
		}
	}
}

func TestStatesOfOthersAreRefused(t *testing.T) {
	c := NewCursor(*numbers(t, 0, 5, 1).Spec())
	defer c.Close()
	if err := c.Restore(context.Background(), NewState()); core.CodeOf(err) != core.FailedPrecondition {
		t.Error(err)
	}
	if _, err := c.Next(context.Background()); core.CodeOf(err) != core.FailedPrecondition {
		t.Error(err)
	}
	if err := c.Start(context.Background(), Prefetch(Repeat(numbers(t, 0, 5, 1), 2), 2)); err != nil {
		t.Fatal(err)
	}
	if err := c.Restore(context.Background(), NewState()); err == nil {
		t.Error("a state that has nothing serves")
	}
}

func TestDatasetsOfOtherTypesAreRefused(t *testing.T) {
	c := NewCursor(Spec{[]core.DType{core.String}, []core.Shape{{}}})
	defer c.Close()
	if err := c.Start(context.Background(), numbers(t, 0, 5, 1)); core.CodeOf(err) != core.InvalidArgument {
		t.Error(err)
	}
}

// TestRowsAnywhere: rows of memory that begins at any address, as constants of programs
// do, are read as others.
func TestRowsAnywhere(t *testing.T) {
	if !memory.AnyAddress {
		t.Skip("elements need aligned addresses here")
	}
	const rows, width = 3, 2
	x := core.TensorOf(core.Int32, core.Shape{rows, width}, memory.WrapAnywhere(make([]byte, 1+4*rows*width)[1:]))
	for i := range core.Data[int32](x) {
		core.Data[int32](x)[i] = int32(i)
	}
	d, err := Slices(Element{x})
	if err != nil {
		t.Fatal(err)
	}
	it, err := d.Iterate()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for i := range int32(rows) {
		e, err := it.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := core.Data[int32](e[0]); len(got) != width || got[0] != width*i || got[1] != width*i+1 {
			t.Errorf("row %d is %v", i, got)
		}
	}
}

// TestRowsOfAnyComponent: how many rows there are is known if one component tells, whichever
// it is.
func TestRowsOfAnyComponent(t *testing.T) {
	pair := []core.DType{core.Int64, core.Int64}
	rows := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		two := core.NewTensor(core.Int64, core.Shape{2})
		return Element{two, two}, nil
	}
	for _, s := range []*Spec{{pair, []core.Shape{nil, {2}}}, {pair, []core.Shape{{-1}, {2}}}, {pair, []core.Shape{{2}, {-1}}}} {
		d := Unbatch(Map(numbers(t, 0, 3, 1), rows, s, true))
		if n := d.Cardinality(); n != 6 || count(t, d) != n {
			t.Errorf("batches of %v: %d rows, %d are promised", s.Shapes, count(t, d), n)
		}
		if e, err := At(t.Context(), d, 5); err != nil || len(e) != 2 {
			t.Errorf("batches of %v: row 5 is %v (%v)", s.Shapes, e, err)
		}
	}
	if n := Unbatch(Map(numbers(t, 0, 3<<60, 1), rows, &Spec{pair[:1], []core.Shape{{1 << 10}}}, true)).Cardinality(); n != Infinite {
		t.Errorf("more rows than can be counted are %d", n)
	}
}
