package data

import (
	"maps"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf/core"
)

// Fields of the message in which programs say how a dataset is to be computed.
const (
	optionDeterministic protowire.Number = 1
	optionDistribute    protowire.Number = 2
	optionExternalState protowire.Number = 6

	distributeAutoShard protowire.Number = 1

	optionAutotune  protowire.Number = 7
	autotuneEnabled protowire.Number = 1

	optionOptimization       protowire.Number = 3
	optimizationDefault      protowire.Number = 1
	optimizationFilterFusion protowire.Number = 6
	optimizationMapBatch     protowire.Number = 9
	optimizationMapFilter    protowire.Number = 10
	optimizationMapFusion    protowire.Number = 11
	optimizationMaps         protowire.Number = 12
	optimizationNothings     protowire.Number = 14
	optimizationRepeats      protowire.Number = 17
	optimizationFilters      protowire.Number = 18
)

func init() {
	core.Register(core.OpDef{
		Name: "GetOptions", In: input, Out: "serialized_options: string", Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(getOptions),
	})
}

func getOptions(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if _, err := dataset.Of(c.Input(0)); err != nil {
			return err
		}
		c.Set(0, core.Scalar(string(optionsOf(c.Input(0)))))
		return nil
	}), nil
}

// optionsOf returns the options of a dataset in their form of a message: those of
// its inputs, and then what it sets itself. Of a field that comes twice the last
// counts.
func optionsOf(t *core.Tensor) []byte { return appendOptions(nil, t, map[*dataset.Origin]bool{}) }

func appendOptions(b []byte, t *core.Tensor, seen map[*dataset.Origin]bool) []byte {
	o := dataset.OriginOf(t)
	if o == nil || seen[o] {
		return b
	}
	seen[o] = true
	for _, x := range o.In {
		b = appendOptions(b, x, seen)
	}
	return append(b, o.Node.Str("serialized_options")...)
}

// option returns a number in the options of a dataset: the field at the end of a
// path of messages.
func option(t *core.Tensor, path ...protowire.Number) (int64, bool) {
	return numberIn(optionsOf(t), path)
}

// eliminated reports whether TensorFlow takes datasets out that do nothing.
func eliminated(t *core.Tensor) bool {
	if v, ok := option(t, optionOptimization, optimizationNothings); ok {
		return v != 0
	}
	return defaults(t)
}

// defaults reports whether TensorFlow's default optimizations are on.
func defaults(t *core.Tensor) bool {
	v, ok := option(t, optionOptimization, optimizationDefault)
	return !ok || v != 0
}

// withoutIdle makes a dataset anew without those before it that do nothing, unless
// its options say that they stay.
func withoutIdle(t *core.Tensor) (*core.Tensor, error) {
	if !eliminated(t) {
		return t, nil
	}
	return rewrite(t, func(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
		if idle(o) {
			return in[0], nil
		}
		return nil, nil
	})
}

// optimized makes a dataset anew as its options ask for: without order where nodes
// leave that open, with fewer datasets that do more, and nothing in two places.
func optimized(t *core.Tensor) (_ *core.Tensor, err error) {
	if v, ok := option(t, optionDeterministic); ok && v == 0 {
		if t, err = unordered(t); err != nil {
			return nil, err
		}
	}
	if t, err = rewritten(t); err != nil {
		return nil, err
	}
	return separated(t)
}

// unordered makes a dataset anew without order where nodes leave that open.
func unordered(t *core.Tensor) (*core.Tensor, error) {
	return rewrite(t, func(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
		attrs := maps.Clone(o.Node.Attrs)
		switch {
		case o.Node.Str("deterministic") == "default":
			attrs["deterministic"] = "false"
		case attrs["sloppy"] == false:
			attrs["sloppy"] = true
		default:
			return nil, nil
		}
		n, err := core.NewNodeOf(o.Node.Name, o.Node.Def, attrs)
		if err != nil {
			return nil, err
		}
		changed := *o
		changed.Node = n
		return remade(&changed, in)
	})
}

// numberIn finds the number at the end of a path in a message.
func numberIn(b []byte, path []protowire.Number) (v int64, found bool) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return v, found
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if size < 0 {
			return v, found
		}
		switch {
		case num != path[0]:
		case len(path) == 1 && typ == protowire.VarintType:
			x, _ := protowire.ConsumeVarint(b[n:])
			v, found = int64(x), true
		case len(path) > 1 && typ == protowire.BytesType:
			inner, _ := protowire.ConsumeBytes(b[n:])
			if x, ok := numberIn(inner, path[1:]); ok {
				v, found = x, true
			}
		}
		b = b[n+size:]
	}
	return v, found
}
