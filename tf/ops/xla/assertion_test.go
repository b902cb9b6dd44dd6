package xla

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// a blockBuilder builds a block of scalars.
type blockBuilder struct{ stablehlo.Block }

var scalarOf = map[string]stablehlo.Type{"i32": {Kind: stablehlo.Tensor, Elem: "i32"}, "i1": {Kind: stablehlo.Tensor, Elem: "i1"}}

func (b *blockBuilder) arg() *stablehlo.Value {
	v := &stablehlo.Value{Type: scalarOf["i32"], Index: len(b.Args)}
	b.Args = append(b.Args, v)
	return v
}

// op adds an operation with one result of a type, none for "".
func (b *blockBuilder) op(name, elem string, attrs map[string]stablehlo.Attr, regions []*stablehlo.Block, in ...*stablehlo.Value) *stablehlo.Value {
	op := &stablehlo.Op{Name: name, Operands: in, Attrs: attrs, Regions: regions}
	b.Ops = append(b.Ops, op)
	if elem == "" {
		return nil
	}
	op.Results = []*stablehlo.Value{{Type: scalarOf[elem], Def: op}}
	return op.Results[0]
}

func (b *blockBuilder) number(v byte) *stablehlo.Value {
	return b.op("constant", "i32", map[string]stablehlo.Attr{"value": stablehlo.Dense{Type: scalarOf["i32"], Data: []byte{v, 0, 0, 0}}}, nil)
}

func (b *blockBuilder) less(x *stablehlo.Value, v byte) *stablehlo.Value {
	return b.op("compare", "i1", map[string]stablehlo.Attr{"comparison_direction": stablehlo.Enum("LT")}, nil, x, b.number(v))
}

// assertLess adds an assertion that x is less than v.
func (b *blockBuilder) assertLess(x *stablehlo.Value, v byte) {
	b.op("custom_call", "", map[string]stablehlo.Attr{
		"call_target_name": stablehlo.String("shape_assertion"), "error_message": stablehlo.String("too large: {0}")}, nil, b.less(x, v), x)
}

func (b *blockBuilder) end(xs ...*stablehlo.Value) *stablehlo.Block {
	b.op("return", "", nil, nil, xs...)
	return &b.Block
}

// asserting returns a module that counts from its argument to 5, in whose loop there is a
// branch for numbers from 2 on. Assertions are that numbers are less than given ones.
func asserting(inTest, inBody, inBranch byte) *stablehlo.Module {
	var test, body, low, high, main blockBuilder
	i := test.arg()
	test.assertLess(i, inTest)
	condition := test.less(i, 5)
	i = body.arg()
	body.assertLess(i, inBody)
	high.assertLess(i, inBranch)
	step := body.op("if", "i32", nil, []*stablehlo.Block{low.end(low.number(1)), high.end(high.number(1))}, body.less(i, 2))
	next := body.op("add", "i32", nil, nil, i, step)
	x := main.arg()
	y := main.op("while", "i32", nil, []*stablehlo.Block{test.end(condition), body.end(next)}, x)
	return &stablehlo.Module{Funcs: []*stablehlo.Func{{Name: "main", Args: []stablehlo.Type{x.Type}, Body: main.end(y)}}}
}

// TestAssertionsInLoops: assertions of loops and branches end the step if they run, and
// only then.
func TestAssertionsInLoops(t *testing.T) {
	for _, c := range []struct {
		test, body, branch byte
		from               int32
		want               string // what the message ends with, "" if there is none
	}{
		{9, 9, 9, 0, ""}, {6, 5, 5, 0, ""}, {5, 9, 9, 0, "5"}, {9, 4, 9, 0, "4"}, {9, 9, 3, 0, "3"}, {9, 9, 3, 3, "3"},
		{9, 9, 1, 5, ""}, {9, 1, 1, 5, ""}, {1, 9, 9, 5, "5"}, {9, 9, 1, 1, "2"},
	} {
		l := newLowering(asserting(c.test, c.body, c.branch), tf.NewGraph(), func(int) error { return nil })
		main := l.module.Func("main")
		l.calls = append(l.calls, main)
		x := ops.Placeholder(l.g, tf.Int32, tf.Shape{})
		out, err := l.block(main.Body, []tf.Output{x})
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.New(l.g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got, err := s.Run(context.Background(), session.Feeds{x: tf.Scalar(c.from)}, out[0])
		switch {
		case c.want != "":
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "too large: "+c.want) {
				t.Errorf("%+v: %v", c, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", c, err)
		case core.Data[int32]((*core.Tensor)(got[0]))[0] != 5:
			t.Errorf("%+v: got %v", c, got[0])
		}
	}
}
