package data

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/session"
)

// A Feature is one that [ExampleParser] looks for, of float32, int64 or string. It
// has as many values in every example as its shape says. A first size of -1 is open:
// examples are padded to the longest of their batch.
type Feature struct {
	Key   string
	Type  tf.DType
	Shape tf.Shape // tf.Shape{} for one value; it must be set unless VarLen is
	// Default stands for the values of an example that lacks them, and has their
	// type and shape. An example without them is an error if Default is nil. Where
	// the first size is open, Default is the scalar that examples are padded with,
	// nil standing for zero or the empty string.
	Default *tf.Tensor
	// VarLen makes the feature one of any number of values, without Shape and
	// Default. It gives three components, those of a SparseTensor: indices, values
	// and shape.
	VarLen bool
}

// check returns what is wrong with f.
func (f *Feature) check() error {
	if f.Type != tf.Float32 && f.Type != tf.Int64 && f.Type != tf.String {
		return f.wrong("the type must be float32, int64 or string, got %s", f.Type)
	}
	if f.VarLen {
		if f.Shape != nil || f.Default != nil {
			return f.wrong("a feature of variable length has no shape and no default")
		}
		return nil
	}
	if f.Shape == nil {
		return f.wrong("the shape must be set: tf.Shape{} for one value")
	}
	for i, n := range f.Shape {
		switch {
		case n < -1:
			return f.wrong("sizes must not be negative, got the shape %v", []int(f.Shape))
		case i > 0 && n == -1:
			return f.wrong("only the first size may be open, got the shape %v", f.Shape)
		case i > 0 && n == 0 && f.open():
			return f.wrong("no size behind an open one may be 0, got the shape %v", f.Shape)
		}
	}
	return f.checkDefault()
}

func (f *Feature) checkDefault() error {
	if f.Default == nil {
		return nil
	}
	if f.Default.DType() != f.Type {
		return f.wrong("the default must have the type %s, got %s", f.Type, f.Default.DType())
	}
	switch got := f.Default.Shape(); {
	case f.open() && f.Default.Len() != 1:
		return f.wrong("the default, which pads the shape %v, must be a scalar, got %v", f.Shape, got)
	case !f.open() && !got.Equal(f.Shape):
		return f.wrong("the default must have the shape %v, got %v", f.Shape, got)
	}
	return nil
}

func (f *Feature) wrong(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, "feature %q: %s", f.Key, fmt.Sprintf(format, args...))
}

// open reports whether examples have different numbers of values.
func (f *Feature) open() bool { return len(f.Shape) > 0 && f.Shape[0] == -1 }

// byDefault returns what the operation takes for Default: no elements if there is
// none.
func (f *Feature) byDefault() *core.Tensor {
	switch {
	case f.Default != nil:
		return (*core.Tensor)(f.Default).Enter()
	case f.open():
		return core.NewTensor(f.Type, tf.Shape{})
	default:
		return core.NewTensor(f.Type, tf.Shape{0})
	}
}

// An ExampleParser parses batches of tf.Examples, see [Dataset.ParseExample]. It
// has to be closed.
type ExampleParser struct {
	s *session.Session
	f *GraphFunc
}

// NewExampleParser returns a parser of examples that gives the features' values,
// in this order.
func NewExampleParser(features ...Feature) (*ExampleParser, error) {
	if len(features) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "a parser of examples needs features to look for, got none")
	}
	for i := range features {
		if err := features[i].check(); err != nil {
			return nil, err
		}
	}
	g := tf.NewGraph()
	f := tf.NewFunction(g, "parse", []tf.ArgSpec{{DType: tf.String, Shape: tf.Shape{-1}}}, func(x []tf.Output) []tf.Output {
		return parse(x[0], features)
	})
	s, err := session.New(g)
	if err != nil {
		return nil, err
	}
	p := &ExampleParser{s: s}
	if p.f, err = NewGraphFunc(s, f); err != nil {
		_ = s.Close()
		return nil, err
	}
	return p, nil
}

// parse adds the operation that parses examples and returns the components.
func parse(examples tf.Output, features []Feature) (out []tf.Output) {
	var dense []parsing.Dense
	var sparse []parsing.Sparse
	g := examples.Graph()
	for _, f := range features {
		if f.VarLen {
			sparse = append(sparse, parsing.Sparse{Key: f.Key, Type: f.Type})
			continue
		}
		dense = append(dense, parsing.Dense{Key: f.Key, Shape: f.Shape, Default: ops.ConstValue(g, f.byDefault())})
	}
	parsed := parsing.ParseExampleV2(examples, ops.Const(g, []string{}), dense, sparse, nil)
	for _, f := range features {
		if f.VarLen {
			r := parsed.Sparse[0]
			out, parsed.Sparse = append(out, r.Indices, r.Values, r.Shape), parsed.Sparse[1:]
			continue
		}
		out, parsed.Dense = append(out, parsed.Dense[0]), parsed.Dense[1:]
	}
	return out
}

// Close ends the use of the parser.
func (p *ExampleParser) Close() error { return p.s.Close() }

// Parse parses a batch of serialized examples.
func (p *ExampleParser) Parse(ctx context.Context, examples *tf.Tensor) ([]*tf.Tensor, error) {
	return p.f.Call(ctx, []*tf.Tensor{examples})
}

// ParseExample parses the elements, vectors of serialized tf.Examples, with up to
// calls calls at once, as many as there are cores if calls is negative.
func (d *Dataset) ParseExample(p *ExampleParser, calls int) *Dataset {
	if p == nil {
		return result(nil, tf.Errorf(tf.InvalidArgument, "ParseExample needs a parser, got nil"))
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		s := in.Spec()
		if len(s.Types) != 1 || s.Types[0] != tf.String || !s.Shapes[0].Compatible(tf.Shape{-1}) {
			return nil, tf.Errorf(tf.InvalidArgument, "ParseExample takes vectors of serialized examples, as Batch makes them, got elements of types %v and shapes %v", s.Types, s.Shapes)
		}
		return d.MapGraph(p.f, calls).get()
	})
}
