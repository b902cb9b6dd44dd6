package xla

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/pb"
)

// callNodes returns the calls of the cases in testdata.
func callNodes(t testing.TB) (out []*core.Node) {
	t.Helper()
	packed, err := os.ReadFile("testdata/modules.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	def := &pb.GraphDef{}
	if err := proto.Unmarshal(data, def); err != nil {
		t.Fatal(err)
	}
	for _, p := range def.GetNode() {
		if p.GetOp() != "XlaCallModule" {
			continue
		}
		attrs, err := core.AttrsFromProto(p.GetAttr(), core.Lookup(p.GetOp()))
		if err != nil {
			t.Fatal(err)
		}
		n, err := core.NewNode(p.GetName(), p.GetOp(), attrs)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func free(int) error { return nil }

// TestDamagedModules changes modules at random places. What cannot be lowered must be
// an error, soon: no panic.
func TestDamagedModules(t *testing.T) {
	nodes, r := callNodes(t), rand.New(rand.NewPCG(1, 2))
	rounds := 4000
	if testing.Short() {
		rounds = 400
	}
	refused := 0
	for i := range rounds {
		n := nodes[i%len(nodes)]
		m, err := stablehlo.Read([]byte(n.Str("module")))
		if err != nil {
			t.Fatal(err)
		}
		d := &damage{r: r}
		for range 1 + r.IntN(3) {
			d.to(m)
		}
		if !lowers(t, n, m, d) {
			refused++
		}
	}
	t.Logf("%d of %d were refused", refused, rounds)
}

// lowers reports whether a module can be lowered. A panic is a failure.
func lowers(t *testing.T, n *core.Node, m *stablehlo.Module, d *damage) bool {
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("%s, %s: panic: %v", n.Name, d.done, v)
			panic(v)
		}
	}()
	_, err := lower(n, m, -1, free)
	return err == nil
}

// A damage changes a module at random places, and lists what it did.
type damage struct {
	r    *rand.Rand
	done []string
}

func (d *damage) to(m *stablehlo.Module) {
	f := m.Funcs[d.r.IntN(len(m.Funcs))]
	b := f.Body
	for {
		op := b.Ops[d.r.IntN(len(b.Ops))]
		if len(op.Regions) > 0 && d.r.IntN(2) == 0 {
			if b = op.Regions[d.r.IntN(len(op.Regions))]; b != nil && len(b.Ops) > 0 {
				continue
			}
			return
		}
		d.change(m, f, b, op)
		return
	}
}

func (d *damage) note(what string, op *stablehlo.Op) { d.done = append(d.done, what+" of "+op.Name) }

func (d *damage) change(m *stablehlo.Module, f *stablehlo.Func, b *stablehlo.Block, op *stablehlo.Op) {
	r := d.r
	switch r.IntN(8) {
	case 0:
		d.note("type", op)
		if len(op.Results) > 0 {
			d.retype(&op.Results[r.IntN(len(op.Results))].Type)
		} else if len(b.Args) > 0 {
			d.retype(&b.Args[r.IntN(len(b.Args))].Type)
		}
	case 1:
		d.note("operand", op)
		if len(op.Operands) > 0 {
			if x := d.value(b); x != nil {
				op.Operands[r.IntN(len(op.Operands))] = x
			}
		}
	case 3, 4, 5:
		for _, name := range slices.Sorted(maps.Keys(op.Attrs)) {
			if r.IntN(2) == 0 {
				d.note("attribute "+name, op)
				op.Attrs[name] = d.attr(m, op.Attrs[name])
			}
		}
	case 6:
		if names := slices.Sorted(maps.Keys(op.Attrs)); len(names) > 0 {
			d.note("no attribute "+names[0], op)
			delete(op.Attrs, names[0])
		}
	case 2, 7:
		other := m.Funcs[r.IntN(len(m.Funcs))].Body.Ops
		if o := other[r.IntN(len(other))]; sameCounts(o, op) {
			d.note("name "+o.Name, op)
			op.Name = o.Name
		}
	}
}

// sameCounts: the reader sees to it that operations have as many of all parts as they
// should, so damage leaves the numbers alone.
func sameCounts(a, b *stablehlo.Op) bool {
	return len(a.Operands) == len(b.Operands) && len(a.Results) == len(b.Results) && len(a.Regions) == len(b.Regions)
}

func (d *damage) value(b *stablehlo.Block) *stablehlo.Value {
	op := b.Ops[d.r.IntN(len(b.Ops))]
	switch {
	case len(op.Results) > 0:
		return op.Results[0]
	case len(b.Args) > 0:
		return b.Args[d.r.IntN(len(b.Args))]
	}
	return nil
}

func (d *damage) retype(t *stablehlo.Type) {
	r := d.r
	switch r.IntN(5) {
	case 0:
		elems := []stablehlo.Elem{"f32", "i1", "i64", "ui8", "bf16", "complex<f32>", "i4", "f64", "nothing", "i32"}
		t.Elem = elems[r.IntN(len(elems))]
	case 1:
		t.Kind = []stablehlo.Kind{stablehlo.Token, stablehlo.Tuple, stablehlo.Unranked, stablehlo.None}[r.IntN(4)]
	case 2:
		t.Shape = append([]int64(nil), t.Shape...)
		if len(t.Shape) > 0 {
			t.Shape[r.IntN(len(t.Shape))] = d.size()
		}
	case 3:
		t.Shape = append([]int64{d.size()}, t.Shape...)
	case 4:
		if len(t.Shape) > 0 {
			t.Shape = t.Shape[1:]
		}
	}
}

func (d *damage) size() int64 {
	return []int64{0, 1, 2, 3, -1, 1 << 31, 1 << 40, 1<<62 + 1, -7, 1<<63 - 1}[d.r.IntN(10)]
}

func (d *damage) attr(m *stablehlo.Module, a stablehlo.Attr) stablehlo.Attr {
	r := d.r
	switch a := a.(type) {
	case stablehlo.Int:
		a.Value = d.size()
		return a
	case stablehlo.Bool:
		return !a
	case stablehlo.Symbol:
		return stablehlo.Symbol(m.Funcs[r.IntN(len(m.Funcs))].Name)
	case stablehlo.Dense:
		switch r.IntN(4) {
		case 0:
			a.Splat = !a.Splat
		case 1:
			a.Data = append([]byte(nil), a.Data...)
			for i := range a.Data {
				a.Data[i] = byte(r.IntN(256))
			}
		case 2:
			d.retype(&a.Type)
		case 3:
			a.Data = a.Data[:len(a.Data)/2]
		}
		return a
	case stablehlo.Array:
		if len(a) > 0 && r.IntN(2) == 0 {
			return a[1:]
		}
		for i := range a {
			if r.IntN(2) == 0 {
				a[i] = d.attr(m, a[i])
			}
		}
		return a
	case stablehlo.Enum:
		return a + "X"
	}
	return stablehlo.Unit{}
}

// chainOf returns modules whose functions call functions.
func chainOf(calls func(i int) []int, n int) *stablehlo.Module {
	scalar := stablehlo.Type{Kind: stablehlo.Tensor, Elem: "f32"}
	m := &stablehlo.Module{}
	for i := range n {
		b := &stablehlo.Block{Args: []*stablehlo.Value{{Type: scalar}}}
		x := b.Args[0]
		for _, to := range calls(i) {
			op := &stablehlo.Op{Name: "call", Operands: []*stablehlo.Value{x}, Attrs: map[string]stablehlo.Attr{"callee": stablehlo.Symbol(nameOf(to))}}
			op.Results = []*stablehlo.Value{{Type: scalar, Def: op}}
			b.Ops, x = append(b.Ops, op), op.Results[0]
		}
		b.Ops = append(b.Ops, &stablehlo.Op{Name: "return", Operands: []*stablehlo.Value{x}})
		m.Funcs = append(m.Funcs, &stablehlo.Func{Name: nameOf(i), Args: []stablehlo.Type{scalar}, Results: []stablehlo.Type{scalar}, Body: b})
	}
	return m
}

func nameOf(i int) string {
	if i == 0 {
		return "main"
	}
	return "f" + strings.Repeat("x", i)
}

// TestCallsThatGrow: functions that call themselves, and calls that double at each
// level, end with an error.
func TestCallsThatGrow(t *testing.T) {
	n, err := core.NewNode("call", "XlaCallModule", core.Attrs{"version": int64(9), "module": "", "Sout": []tf.Shape{{}}, "Tout": []tf.DType{tf.Float32}, "Tin": []tf.DType{tf.Float32}, "platforms": []string{"CPU"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		m    *stablehlo.Module
		code tf.Code
	}{
		{"itself", chainOf(func(i int) []int { return []int{1 - i} }, 2), tf.InvalidArgument},
		{"main", chainOf(func(int) []int { return []int{0} }, 1), tf.InvalidArgument},
		{"nothing", chainOf(func(i int) []int { return []int{7} }, 1), tf.InvalidArgument},
		{"doubling", chainOf(func(i int) []int {
			if i == 59 {
				return nil
			}
			return []int{i + 1, i + 1}
		}, 60), tf.ResourceExhausted},
		{"deep", chainOf(func(i int) []int {
			if i == 999 {
				return nil
			}
			return []int{i + 1}
		}, 1000), tf.OK},
	} {
		if _, err := lower(n, c.m, -1, free); tf.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %v", c.name, err, c.code)
		}
	}
	stop, first := tf.Errorf(tf.Canceled, "stop"), callNodes(t)[0]
	if _, err := lower(first, must(stablehlo.Read([]byte(first.Str("module")))), -1, func(int) error { return stop }); err != stop {
		t.Errorf("a planning that ends: got %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestMissing: all that is not supported is told at once.
func TestMissing(t *testing.T) {
	m := chainOf(func(int) []int { return nil }, 1)
	b := m.Funcs[0].Body
	b.Ops = append([]*stablehlo.Op{
		{Name: "unheard_of"},
		{Name: "custom_call", Attrs: map[string]stablehlo.Attr{"call_target_name": stablehlo.String("somewhere")}},
		{Name: "while", Regions: []*stablehlo.Block{{Ops: []*stablehlo.Op{{Name: "send"}, {Name: "return"}}}}},
	}, b.Ops...)
	_, err := lower(nil, m, -1, free)
	if tf.CodeOf(err) != tf.Unimplemented || !strings.HasSuffix(err.Error(), `custom_call of "somewhere", send, unheard_of`) {
		t.Errorf("got %v", err)
	}
}

// wide returns a module of some calls of a function, of operations that come to many
// nodes each.
func wide(calls int) *stablehlo.Module {
	line, window := tensorOf("f32", 9000), int64(4000)
	b := &stablehlo.Block{Args: []*stablehlo.Value{{Type: line}, {Type: tensorOf("f32")}}}
	x, y := &stablehlo.Value{Type: tensorOf("f32")}, &stablehlo.Value{Type: tensorOf("f32")}
	region := writer{&stablehlo.Block{Args: []*stablehlo.Value{x, y}}}
	region.ends(region.op("add", x.Type, nil, region.op("abs", x.Type, nil, x), y)) // no known combination
	w := writer{b}
	out := w.op("reduce_window", tensorOf("f32", 9000-window+1), map[string]stablehlo.Attr{"window_dimensions": stablehlo.Array{stablehlo.Int{Elem: "i64", Value: window}}}, b.Args...)
	out.Def.Regions = []*stablehlo.Block{region.b}
	w.ends(b.Args[0])
	main := writer{&stablehlo.Block{Args: []*stablehlo.Value{{Type: line}, {Type: tensorOf("f32")}}}}
	for range calls {
		main.op("call", line, map[string]stablehlo.Attr{"callee": stablehlo.Symbol("f")}, main.b.Args...)
	}
	main.ends(main.b.Args[0])
	types := []stablehlo.Type{line, tensorOf("f32")}
	return &stablehlo.Module{Funcs: []*stablehlo.Func{
		{Name: "main", Args: types, Results: types[:1], Body: main.b}, {Name: "f", Args: types, Results: types[:1], Body: b}}}
}

// TestNodesAreBounded: nodes that a rule adds count, against the limit of a body and
// against the budget of a planning.
func TestNodesAreBounded(t *testing.T) {
	n := must(core.NewNode("call", "XlaCallModule", core.Attrs{"version": int64(9), "module": "", "Sout": []tf.Shape{{9000}}, "Tout": []tf.DType{tf.Float32}, "Tin": []tf.DType{tf.Float32, tf.Float32}, "platforms": []string{"CPU"}}))
	visited := 0
	if _, err := lower(n, wide(2), -1, func(nodes int) error { visited += nodes; return nil }); err != nil || visited < 2*4000 {
		t.Errorf("two calls: got %v, after %d visits", err, visited)
	}
	if testing.Short() {
		return
	}
	if _, err := lower(n, wide(1000), -1, free); tf.CodeOf(err) != tf.ResourceExhausted || !strings.Contains(err.Error(), "nodes") {
		t.Errorf("a thousand calls: got %v", err)
	}
}
