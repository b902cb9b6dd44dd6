package dataset

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestFunctionsEndInfiniteDatasets: a dataset that its function may end has no known number
// of elements, and batches of it may be smaller in the end.
func TestFunctionsEndInfiniteDatasets(t *testing.T) {
	endless := Repeat(numbers(t, 0, 5, 1), -1)
	first := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		if core.Data[int64](e[0])[0] == 3 {
			return nil, core.Errorf(core.OutOfRange, "no more")
		}
		return e, nil
	}
	scan := func(ctx context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		out, err := first(ctx, e[1:])
		return append(e[:1:1], out...), err
	}
	for name, d := range map[string]Dataset{
		"map": Map(endless, first, scalars, false), "parallel": ParallelMap(endless, first, scalars, false, 2, true),
		"scan": Scan(endless, Element{core.Scalar(int64(0))}, scan, scalars, false),
	} {
		if n := d.Cardinality(); n != Unknown {
			t.Errorf("%s: cardinality %d, want %d", name, n, Unknown)
		}
		batches := must2(t)(Batch(d, 2, false))
		it := mustIterate(t, batches)
		take(t, it, 1)
		e, err := it.Next(t.Context())
		if err != nil || !e[0].Shape().Compatible(batches.Spec().Shapes[0]) {
			t.Errorf("%s: the last batch is %v, %v, its shape was to be %v", name, e, err, batches.Spec().Shapes[0])
		}
		it.Close()
	}
}
