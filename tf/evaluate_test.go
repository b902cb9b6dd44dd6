package tf

import (
	"errors"
	"fmt"
	"github.com/gorge-tf/gorge/tf/core"
	"math"
	"testing"
)

func TestKeysTellOperationsApart(t *testing.T) {
	g := NewGraph()
	f, i := &Operation{g: g, Node: core.Node{OutTypes: []DType{Float32}}}, &Operation{g: g, Node: core.Node{OutTypes: []DType{Int32}}}
	seen := map[string]string{}
	for _, c := range []struct {
		op    string
		in    []Output
		attrs core.Attrs
	}{
		{"A", nil, nil}, {"B", nil, nil}, {"AB", nil, nil}, {"A", []Output{{f, 0}}, nil}, {"A", []Output{{i, 0}}, nil}, {"A", []Output{{f, 0}, {f, 0}}, nil},
		{"A", nil, core.Attrs{"b": true}}, {"A", nil, core.Attrs{"b": false}}, {"A", nil, core.Attrs{"c": true}}, {"A", nil, core.Attrs{"b": true, "c": true}},
		{"A", nil, core.Attrs{"b": int64(1)}}, {"A", nil, core.Attrs{"b": int64(-1)}}, {"A", nil, core.Attrs{"b": int64(math.MaxInt64)}}, {"A", nil, core.Attrs{"b": float32(1)}},
		{"A", nil, core.Attrs{"b": "x"}}, {"A", nil, core.Attrs{"b": "xy"}}, {"A", nil, core.Attrs{"b": ""}}, {"A", nil, core.Attrs{"b": "x", "c": "y"}}, {"A", nil, core.Attrs{"b": "x\x01c\x73\x01y"}},
		{"A", nil, core.Attrs{"b": Float32}}, {"A", nil, core.Attrs{"b": Int32}}, {"A", nil, core.Attrs{"b": Shape(nil)}}, {"A", nil, core.Attrs{"b": Shape{}}},
		{"A", nil, core.Attrs{"b": Shape{-1}}}, {"A", nil, core.Attrs{"b": Shape{1, 2}}}, {"A", nil, core.Attrs{"b": []int64{}}}, {"A", nil, core.Attrs{"b": []int64{1, 2}}},
		{"A", nil, core.Attrs{"b": []DType{Float32}}}, {"A", nil, core.Attrs{"b": []DType{}}},
		{"A", nil, core.Attrs{"b": core.Func{Name: "f"}}}, {"A", nil, core.Attrs{"b": core.Func{Name: "g"}}},
	} {
		key, ok := appendKey(nil, c.op, c.in, c.attrs)
		again, _ := appendKey(nil, c.op, c.in, c.attrs)
		what := fmt.Sprintf("%s%v%v", c.op, c.in, c.attrs)
		if !ok || string(again) != string(key) {
			t.Errorf("%s has keys %q and %q", what, key, again)
		}
		if other, clash := seen[string(key)]; clash {
			t.Errorf("%s and %s have the same key", what, other)
		}
		seen[string(key)] = what
	}
	for _, v := range []any{Scalar(1.0), core.Func{Attrs: core.Attrs{"T": Float32}}, []string{"x"}, nil, core.Placeholder("T")} {
		if _, ok := appendKey(nil, "A", nil, core.Attrs{"b": v}); ok {
			t.Errorf("a %T is part of a key", v)
		}
	}
}

// counting evaluates nothing, but counts what it is asked to prepare.
type counting struct{ prepared int }

func (e *counting) prepare(n *core.Node) (evalFunc, error) {
	e.prepared++
	if n.Str("_fail") != "" {
		return nil, errors.New("cannot prepare")
	}
	return func(n *core.Node, in []Output, dst []*core.Tensor) ([]*core.Tensor, error) {
		return append(dst, core.Scalar(int32(7))), nil
	}, nil
}

func TestOperationsArePreparedOnce(t *testing.T) {
	e := &counting{}
	g := NewGraph(face{}.Eager(e.prepare))
	add := func(opts ...Option) *Operation { return Apply(g, "TestOnce", nil, opts...) }
	for range 3 {
		add()
		add(Attr("n", 5))
		add(Attr("n", 6), Name("whatever"))
	}
	if e.prepared != 3 {
		t.Errorf("prepared %d times, want 3", e.prepared)
	}
	for range 2 { // errors are not kept
		if op := add(Attr("_fail", "yes")); op.Err() == nil {
			t.Error("no error")
		}
	}
	if e.prepared != 5 {
		t.Errorf("prepared %d times, want 5", e.prepared)
	}
	for i := range 2 * mostPrepared {
		add(Attr("n", i))
	}
	if n := len(g.eager.cache.known); n > mostPrepared {
		t.Errorf("the cache holds %d entries", n)
	}
	if v, err := add().Output(0).Value(); err != nil || Data[int32](v)[0] != 7 {
		t.Errorf("got %v, %v", v, err)
	}
}

func init() {
	core.Register(core.OpDef{Name: "TestOnce", Out: "y: int32", Attrs: "n: int = 5", Shape: func(*core.Infer) error { return nil }, NoGrad: core.NotDifferentiable})
}
