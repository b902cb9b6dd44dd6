package data_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// writer runs steps that write wherever the engine lets them.
type writer struct {
	s             *session.Session
	x, same, sum  tf.Output
	assign, added *tf.Operation
}

func newWriter(t *testing.T) *writer {
	t.Helper()
	g := tf.NewGraph()
	w := &writer{x: ops.Placeholder(g, tf.Int64, nil)}
	v := ops.VarHandleOp(g, tf.Int64, nil)
	w.assign = ops.AssignVariableOp(v, w.x)
	w.added = ops.AssignAddVariableOp(v, w.x)
	w.same = ops.Identity(w.x)
	w.sum = w.x.Add(w.x).Neg()
	var err error
	if w.s, err = session.New(g); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.s.Close() })
	return w
}

// use feeds x to variables, computes with it, and writes over what is fetched.
func (w *writer) use(t *testing.T, x *tf.Tensor) {
	t.Helper()
	feeds := session.Feeds{w.x: x}
	for _, target := range []*tf.Operation{w.assign, w.added} {
		if _, err := w.s.Run(t.Context(), feeds, target); err != nil {
			t.Fatal(err)
		}
	}
	out, err := w.s.Run(t.Context(), feeds, w.same, w.sum)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out {
		for i := range tf.Data[int64](o) {
			tf.Data[int64](o)[i] = -7
		}
	}
}

// shared reads a dataset without copies, and has w use each element.
func shared(t *testing.T, d *data.Dataset, w *writer) (out [][]*tf.Tensor) {
	t.Helper()
	it, err := d.Iterator()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for {
		e, err := it.NextShared(t.Context())
		if errors.Is(err, data.End) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range e {
			if x.DType() == tf.Int64 {
				w.use(t, x)
			}
		}
		out = append(out, e)
	}
}

// TestSharedElements: what sessions do with elements that they share with a dataset
// reaches neither it nor the elements.
func TestSharedElements(t *testing.T) {
	w := newWriter(t)
	for name, p := range pipelines {
		t.Run(name, func(t *testing.T) {
			if name == "shuffle" {
				p.d = data.Range(0, 20).Shuffle(8, 1, 3) // iterators differ
			}
			var got []string
			for _, e := range shared(t, p.d, w) {
				got = append(got, text(e))
			}
			if got := strings.Join(got, "|"); got != p.want {
				t.Errorf("the elements after all steps are %s, want %s", got, p.want)
			}
		})
	}
}

// TestSharedTwice: elements that come again are what they were.
func TestSharedTwice(t *testing.T) {
	x, err := tf.FromSlice([]int64{1, 2, 3, 4, 5, 6}, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t)
	for name, d := range map[string]*data.Dataset{
		"tensors": data.FromTensors(x).Repeat(3), "slices": data.FromTensorSlices(x).Repeat(3), "cached": data.FromTensorSlices(x).Cache().Repeat(3),
		"map": data.FromTensors(x).Map(func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) { return in, nil }, ints, nil).Cache().Repeat(3),
	} {
		t.Run(name, func(t *testing.T) {
			all := shared(t, d, w)
			n := len(all) / 3
			for i, e := range all[n:] {
				if !slices.Equal(tf.Data[int64](e[0]), tf.Data[int64](all[i%n][0])) || tf.Data[int64](e[0])[0] < 1 {
					t.Errorf("element %d is %v, the first time it was %v", n+i, e[0], all[i%n][0])
				}
			}
		})
	}
	if got := tf.Data[int64](x); !slices.Equal(got, []int64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("the program's tensor has become %v", got)
	}
}
