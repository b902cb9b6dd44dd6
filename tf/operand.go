package tf

import (
	"reflect"

	"github.com/gorge-tf/gorge/tf/core"
)

// Ints are sizes, axes or positions: integers that are known while the graph is
// built, or a tensor of int32 or int64 that the step computes.
type Ints interface{ []int | Shape | Output }

// Int is an axis, a size or a position: an integer, or a scalar tensor of int32 or
// int64.
type Int interface{ int | Output }

// asInts returns v, one of Ints, as a vector in the graph of x: an int32 constant, int64 if an
// integer needs that. Functions that add operations use it for their arguments.
func asInts(x Output, v any) Output {
	if y, ok := v.(Output); ok {
		return y
	}
	if x.unusable() {
		return x
	}
	return intsOf(x.Graph(), v)
}

// unusable reports whether x cannot be computed where operations are added now.
// Then its operands cannot either, for the same reason, which x tells.
func (o Output) unusable() bool { return o.Err() != nil || o.op.g.finished() }

// intsOf is asInts in a graph, for functions that take no tensor beside the
// integers. With an Output g may be nil.
func intsOf(g *Graph, v any) Output {
	if x, ok := v.(Output); ok {
		return x
	}
	if g == nil {
		return Failed(nil, "Const", Errorf(InvalidArgument, "sizes that are integers need a graph, got nil: make one by tf.NewGraph")).Output(0)
	}
	switch v := v.(type) {
	case Shape:
		return g.intConstant(v, Shape{len(v)})
	case []int:
		return g.intConstant(v, Shape{len(v)})
	}
	return Output{}
}

// asInt is asInts of a single integer, one of Int: a scalar.
func asInt(x Output, v any) Output {
	switch v := v.(type) {
	case Output:
		return v
	case int:
		if x.unusable() {
			return x
		}
		return x.Graph().intConstant([]int{v}, Shape{})
	}
	return Output{}
}

func (g *Graph) intConstant(v []int, s Shape) Output {
	for _, n := range v {
		if n != int(int32(n)) {
			return constant(g, core.Wrap(convertInts[int64](v), s))
		}
	}
	return constant(g, core.Wrap(convertInts[int32](v), s))
}

// asOperand returns v as an operand beside x. An Output is itself. A Go number,
// bool or string becomes a constant of the type of x, of which it must be a value.
// A Value, such as a *Tensor or a dense tensor, becomes a constant of its own type.
func asOperand(x Output, v any) Output {
	if y, ok := v.(Output); ok {
		return y
	}
	if x.unusable() {
		return x
	}
	t, err := operand(x.DType(), v)
	if err != nil {
		if about := aboutHandles([]Output{x}); about != "" {
			err = Errorf(CodeOf(err), "%s%s", AsError(err).Message(), about)
		}
		return Apply(x.Graph(), "Const", nil, optionFunc(func(s *Spec) { s.Err = err })).Output(0)
	}
	return constant(x.Graph(), t)
}

func operand(d DType, v any) (*core.Tensor, error) {
	if value, ok := v.(Value); ok && !isNil(v) {
		t, err := value.AsTensor()
		if err != nil {
			return nil, err
		}
		return t.engine().Enter(), nil
	}
	switch reflect.ValueOf(v).Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64,
		reflect.Complex64, reflect.Complex128:
		return core.NumberOf(d, v)
	}
	return nil, Errorf(InvalidArgument, "an operand must be an Output, a Value, or a Go number, bool or string, got %T", v)
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}
