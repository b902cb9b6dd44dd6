package tf

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Callee is a function that an operation has in an attribute, to call it
// later: for elements of a dataset.
type Callee struct {
	Attr string
	F    *Function
}

// CallLater adds an operation that has functions in attributes. After the first
// inputs it gets what each of the functions captures, in their order, and then
// the last.
func CallLater(op string, first []Output, fs []Callee, last []Output, opts ...Option) *Operation {
	in := slices.Clone(first)
	outer := NewGraph()
	for _, c := range fs {
		if c.F == nil {
			return Failed(outer, op, Errorf(InvalidArgument, "%s needs functions, got none for %s", op, c.Attr))
		}
		outer = c.F.outer.current()
		if c.F.err != nil {
			return Failed(outer, op, c.F.err)
		}
		b, err := c.F.bind(c.F.captured, false)
		if err != nil {
			return Failed(outer, op, err)
		}
		in = append(in, c.F.captured...)
		opts = Join(opts, Attr(c.Attr, core.Func{Name: b.name}), After(c.F.control...))
	}
	return Apply(outer, op, append(in, last...), opts...)
}
