package xla

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A writer adds operations to a block.
type writer struct{ b *stablehlo.Block }

func tensorOf(e stablehlo.Elem, shape ...int64) stablehlo.Type {
	return stablehlo.Type{Kind: stablehlo.Tensor, Elem: e, Shape: shape}
}

func (w writer) op(name string, t stablehlo.Type, attrs map[string]stablehlo.Attr, in ...*stablehlo.Value) *stablehlo.Value {
	op := &stablehlo.Op{Name: name, Operands: in, Attrs: attrs}
	op.Results = []*stablehlo.Value{{Type: t, Def: op}}
	w.b.Ops = append(w.b.Ops, op)
	return op.Results[0]
}

func (w writer) int(n int32) *stablehlo.Value {
	t := tensorOf("i32")
	return w.op("constant", t, map[string]stablehlo.Attr{"value": stablehlo.Dense{Type: t, Data: binary.LittleEndian.AppendUint32(nil, uint32(n))}})
}

func (w writer) ends(out ...*stablehlo.Value) {
	w.b.Ops = append(w.b.Ops, &stablehlo.Op{Name: "return", Operands: out})
}

// A scan is a loop that moves rows of x to rows of y.
type scan struct {
	start, limit, step int32
	rows               int64 // of x and y
	from, to           place
	given              bool // the first and the last index are arguments: nothing is known
}

// A place is an index that a counter i leads to: sign*i + plus, and rows more if it is
// negative and wraps.
type place struct {
	sign, plus int32
	wraps      bool
}

func (p place) of(i int32, rows int64) int32 {
	at := p.sign*i + p.plus
	if p.wraps && at < 0 {
		at += int32(rows)
	}
	return min(max(at, 0), int32(rows-1))
}

func (p place) write(w writer, i *stablehlo.Value, rows int64) *stablehlo.Value {
	t, at := i.Type, w.op("add", i.Type, nil, i, w.int(p.plus))
	if p.sign < 0 {
		at = w.op("subtract", t, nil, w.int(p.plus), i)
	}
	if !p.wraps {
		return at
	}
	less := w.op("compare", tensorOf("i1"), map[string]stablehlo.Attr{"comparison_direction": stablehlo.Enum("LT")}, at, w.int(0))
	return w.op("select", t, nil, less, w.op("add", t, nil, at, w.int(int32(rows))), at)
}

// module returns the scan as a module of x, y, the first index and the limit.
func (s scan) module() *stablehlo.Module {
	types := []stablehlo.Type{tensorOf("i32", s.rows, 2), tensorOf("i32", s.rows, 2), tensorOf("i32"), tensorOf("i32")}
	args := func() (b *stablehlo.Block) {
		b = &stablehlo.Block{}
		for _, t := range types {
			b.Args = append(b.Args, &stablehlo.Value{Type: t})
		}
		return b
	}
	cond, body, main := args(), args(), args()
	c := writer{cond}
	c.ends(c.op("compare", tensorOf("i1"), map[string]stablehlo.Attr{"comparison_direction": stablehlo.Enum("LT")}, cond.Args[2], cond.Args[3]))
	w, m := writer{body}, writer{main}
	i, zero := body.Args[2], w.int(0)
	row := w.op("dynamic_slice", tensorOf("i32", 1, 2), map[string]stablehlo.Attr{"slice_sizes": stablehlo.Array{stablehlo.Int{Elem: "i64", Value: 1}, stablehlo.Int{Elem: "i64", Value: 2}}}, body.Args[0], s.from.write(w, i, s.rows), zero)
	y := w.op("dynamic_update_slice", types[1], nil, body.Args[1], row, s.to.write(w, i, s.rows), zero)
	w.ends(body.Args[0], y, w.op("add", types[2], nil, i, w.int(s.step)), body.Args[3])
	in := slices.Clone(main.Args)
	if !s.given {
		in[2], in[3] = m.int(s.start), m.int(s.limit)
		cond.Ops[0].Operands[1] = in[3]
	}
	loop := &stablehlo.Op{Name: "while", Operands: in, Regions: []*stablehlo.Block{cond, body}}
	for _, t := range types {
		loop.Results = append(loop.Results, &stablehlo.Value{Type: t, Def: loop})
	}
	main.Ops = append(main.Ops, loop)
	m.ends(loop.Results[1])
	return &stablehlo.Module{Funcs: []*stablehlo.Func{{Name: "main", Args: types, Results: types[1:2], Body: main}}}
}

// run is the scan as Go has it.
func (s scan) run(x, y []int32) []int32 {
	y = slices.Clone(y)
	for i := s.start; i < s.limit; i += s.step {
		from, to := 2*s.from.of(i, s.rows), 2*s.to.of(i, s.rows)
		copy(y[to:to+2], x[from:from+2])
	}
	return y
}

// compute runs the scan's module, and reports whether it clamps indices.
func (s scan) compute(t *testing.T, x, y []int32) (clamps bool, z []int32) {
	g := tf.NewGraph()
	m, rows := s.module(), int(s.rows)
	l := newLowering(m, g, func(int) error { return nil })
	out, err := l.block(m.Funcs[0].Body, []tf.Output{ops.Const(g, x, rows, 2), ops.Const(g, y, rows, 2), ops.Scalar(g, s.start), ops.Scalar(g, s.limit)})
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	run, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	got, err := run.Run(context.Background(), nil, out[0])
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	for _, op := range g.Operations() {
		clamps = clamps || op.OpName() == "Maximum" || op.OpName() == "Minimum"
	}
	return clamps, tf.Data[int32](got[0])
}

// TestCounters runs random scans. Indices out of range are moved into it, whatever is
// known of the counter.
func TestCounters(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	clamped, free := 0, 0
	for range 150 {
		at := func() place {
			return place{sign: 1 - 2*r.Int32N(2), plus: r.Int32N(9) - 3, wraps: r.IntN(2) == 0}
		}
		s := scan{start: r.Int32N(5) - 2, limit: r.Int32N(9), step: 1 + r.Int32N(2), rows: 1 + r.Int64N(7), from: at(), to: at(), given: r.IntN(4) == 0}
		x, y := make([]int32, 2*s.rows), make([]int32, 2*s.rows)
		for i := range x {
			x[i], y[i] = int32(100+i), int32(-i)
		}
		clamps, got := s.compute(t, x, y)
		if clamps {
			clamped++
		} else {
			free++
		}
		if want := s.run(x, y); !slices.Equal(got, want) {
			t.Errorf("%+v: got %v, want %v", s, got, want)
		}
	}
	if clamped == 0 || free == 0 {
		t.Errorf("scans must need clamps and not: got %d and %d", clamped, free)
	}
}

// TestCounterOverflows: a counter that passes the end of its type is below the limit
// again, and no longer what the loop began with.
func TestCounterOverflows(t *testing.T) {
	for _, c := range []struct {
		step, limit int32
		known       bool
	}{{1, 10, true}, {1, math.MaxInt32, false}, {math.MaxInt32, 10, false}, {-1, 10, false}, {1, 0, false}} {
		s := scan{limit: c.limit, step: c.step, rows: 4, from: place{sign: 1}, to: place{sign: 1}}
		m := s.module()
		l := newLowering(m, tf.NewGraph(), func(int) error { return nil })
		all := m.Funcs[0].Body.Ops
		if r, ok := l.counter(all[len(all)-2], 2); ok != c.known || ok && (r != interval{0, int64(c.limit) - 1}) {
			t.Errorf("step %d, limit %d: got %v, %v", c.step, c.limit, r, ok)
		}
	}
}
