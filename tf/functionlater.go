package tf

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// callLater adds an operation that has functions in attributes, fs[i] in attrs[i].
// After the first inputs it gets what each of the functions captures, in their
// order, and then the last.
func callLater(op string, first []Output, attrs []string, fs []*Function, last []Output, opts ...Option) *Operation {
	in := slices.Clone(first)
	outer := NewGraph()
	for i, f := range fs {
		if f == nil {
			return Failed(outer, op, Errorf(InvalidArgument, "%s needs functions, got none for %s", op, attrs[i]))
		}
		outer = f.outer.current()
		if f.err != nil {
			return Failed(outer, op, f.err)
		}
		b, err := f.bind(f.captured, false)
		if err != nil {
			return Failed(outer, op, err)
		}
		in = append(in, f.captured...)
		opts = Join(opts, Attr(attrs[i], core.Func{Name: b.name}), After(f.control...))
	}
	return Apply(outer, op, append(in, last...), opts...)
}
