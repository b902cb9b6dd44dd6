package data

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/session"
)

// A Feature is one that [ExampleParser] looks for: it has as many values in
// every example as its shape says, float32, int64 or string. Default, which may
// be nil, is what stands for them where they are missing.
type Feature struct {
	Key     string
	Type    tf.DType
	Shape   tf.Shape
	Default *tf.Tensor
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
	g := tf.NewGraph()
	f := tf.NewFunction(g, "parse", []tf.ArgSpec{{DType: tf.String, Shape: tf.Shape{-1}}}, func(x []tf.Output) []tf.Output {
		var dense []parsing.Dense
		for _, f := range features {
			def := core.NewTensor(f.Type, tf.Shape{0})
			if f.Default != nil {
				def = (*core.Tensor)(f.Default).Enter()
			}
			dense = append(dense, parsing.Dense{Key: f.Key, Shape: f.Shape, Default: ops.ConstValue(x[0].Graph(), def)})
		}
		return parsing.ParseExampleV2(x[0], ops.Const(x[0].Graph(), []string{}), dense, nil, nil).Dense
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

// Close ends the use of the parser.
func (p *ExampleParser) Close() error { return p.s.Close() }

// Parse parses a batch of serialized examples.
func (p *ExampleParser) Parse(ctx context.Context, examples *tf.Tensor) ([]*tf.Tensor, error) {
	return p.f.Call(ctx, []*tf.Tensor{examples})
}

// ParseExample parses the elements, vectors of serialized tf.Examples, with up to
// calls calls at once, as many as there are cores if calls is negative.
func (d *Dataset) ParseExample(p *ExampleParser, calls int) *Dataset { return d.MapGraph(p.f, calls) }
