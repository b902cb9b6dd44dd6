package eager

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
)

// An argType is what a trace depends on of an argument that is a tensor.
type argType struct {
	dtype  tf.DType
	shape  tf.Shape
	handle string // types and shapes of the variables behind handles
}

func typesOf(args []tf.Output) []argType {
	out := make([]argType, len(args))
	for i, x := range args {
		out[i] = argType{dtype: x.DType(), shape: x.Shape()}
		if t, err := author.Computed(x); err == nil && x.DType() == tf.Resource {
			for _, h := range t.Handles() {
				out[i].handle += fmt.Sprintf("%v%v;", h.DType, h.Shape)
			}
		}
	}
	return out
}

// signature is a key of arguments.
func signature(args []argType) string {
	var b strings.Builder
	for _, a := range args {
		fmt.Fprintf(&b, "%v%v;%s", a.dtype, a.shape, a.handle)
	}
	return b.String()
}

// specs returns the arguments of a trace, of which args are an example.
func specs(args []tf.Output, types []argType) []tf.ArgSpec {
	out := tf.SpecOf(args...)
	for i := range out {
		out[i].Shape = types[i].shape
	}
	return out
}

// fits reports why args are none of the function's signature, if it has one.
func (f *Func) fits(args []tf.Output) error {
	if f.o.Signature == nil {
		return nil
	}
	const rule = "the arguments of a function must be as its signature says: "
	if len(args) != len(f.o.Signature) {
		return tf.Errorf(tf.InvalidArgument, rule+"that of %s has %d, got %d", f.name, len(f.o.Signature), len(args))
	}
	for i, x := range args {
		s := f.o.Signature[i]
		if x.DType().Base() != s.DType || !s.Shape.Compatible(x.Shape()) {
			return tf.Errorf(tf.InvalidArgument, rule+"argument %d of %s is %v%v, got %v%v", i, f.name, s.DType, s.Shape, x.DType(), x.Shape())
		}
	}
	return nil
}

// declared returns the types that the function is traced for.
func (f *Func) declared(args []argType) []argType {
	for i := range f.o.Signature {
		args[i].shape = f.o.Signature[i].Shape
	}
	return args
}

// covers reports whether all tensors of shape s are of the less certain shape open.
func covers(open, s tf.Shape) bool {
	if open == nil {
		return true
	}
	return s != nil && slices.EqualFunc(open, s, func(a, b int) bool { return a < 0 || a == b })
}

// like reports whether a and b differ in their shapes at most.
func (a argType) like(b argType) bool { return a.dtype == b.dtype && a.handle == b.handle }

// takes reports whether a trace serves arguments.
func (t trace) takes(args []argType, static []any) bool {
	return t.resembles(args, static) && slices.EqualFunc(t.args, args, func(a, b argType) bool { return covers(a.shape, b.shape) })
}

// resembles reports whether the arguments of a trace differ from args in their shapes at most.
func (t trace) resembles(args []argType, static []any) bool {
	return slices.EqualFunc(t.args, args, argType.like) && slices.EqualFunc(t.static, static, alike)
}

// relaxed returns args with shapes that are also those of the traces there are.
func (f *Func) relaxed(args []argType, static []any) []argType {
	args = slices.Clone(args)
	for _, t := range f.traces {
		if !t.resembles(args, static) {
			continue
		}
		for i := range args {
			args[i].shape = common(args[i].shape, t.args[i].shape)
		}
	}
	return args
}

// common returns the most certain shape of all tensors of shape a or b.
func common(a, b tf.Shape) tf.Shape {
	if a == nil || b == nil || len(a) != len(b) {
		return nil
	}
	out := slices.Clone(a)
	for i := range out {
		if out[i] != b[i] {
			out[i] = -1
		}
	}
	return out
}
