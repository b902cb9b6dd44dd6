package data

import (
	"cmp"
	"context"
	"slices"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/parsing" // the op that parses
	"github.com/gorge-tf/gorge/tf/ops/ragged"
)

func init() {
	const in = input + "; num_parallel_calls: int64; dense_defaults: Tdense"
	const values = "{float, int64, string}"
	const keys = "sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list(" + values + ") >= 0; Tdense: list(" + values + ") >= 0; dense_shapes: list(shape) >= 0; " + outputs
	const raggeds = "; ragged_keys: list(string) >= 0 = []; ragged_value_types: list(" + values + ") >= 0 = []; ragged_split_types: list({int32, int64}) >= 0 = []"
	register("ParseExampleDataset", in, keys+"; sloppy: bool = false"+raggeds, false, on(parseExamples))
	register("ParseExampleDatasetV2", in, keys+"; deterministic: string = 'default'"+raggeds, false, on(parseExamples))
	register("ExperimentalParseExampleDataset", in, keys+"; sloppy: bool = false", false, on(parseExamples))
}

// A parser is the function of a dataset that parses batches of tf.Examples.
type parser struct {
	kernel core.Compute
	node   *core.Node
	in     []*core.Tensor // what the op has besides the batch
	// Numbers of features, and where each component is to be found: the
	// components are in the order of their keys.
	sparse, dense, ragged int
	order                 []int
}

func parseExamples(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	n, err := calls(c, 1)
	if err != nil {
		return nil, err
	}
	p, err := newParser(c.Node, kept(c, 2, c.Inputs()))
	if err != nil {
		return nil, err
	}
	return dataset.ParallelMap(in, p.parse, spec(c), true, n, inOrder(c)), nil
}

// newParser makes the op that parses out of the attributes of n.
func newParser(n *core.Node, defaults []*core.Tensor) (*parser, error) {
	list := func(attr string) []string { v, _ := n.Attr(attr).([]string); return v }
	types := func(attr string) []tf.DType { v, _ := n.Attr(attr).([]tf.DType); return append([]tf.DType{}, v...) }
	sparse, dense, rag := list("sparse_keys"), list("dense_keys"), list("ragged_keys")
	shapes, _ := n.Attr("dense_shapes").([]tf.Shape)
	node, err := core.NewNode(n.Name, "ParseExampleV2", core.Attrs{
		"Tdense": types("Tdense"), "num_sparse": int64(len(sparse)), "sparse_types": types("sparse_types"), "dense_shapes": append([]tf.Shape{}, shapes...),
		"ragged_value_types": types("ragged_value_types"), "ragged_split_types": types("ragged_split_types"),
	})
	if err != nil {
		return nil, err
	}
	kernel, err := kernelOf(node)
	if err != nil {
		return nil, err
	}
	p := &parser{kernel: kernel, node: node, sparse: len(sparse), dense: len(dense), ragged: len(rag)}
	p.in = append([]*core.Tensor{core.NewTensor(tf.String, tf.Shape{0}), texts(sparse), texts(dense), texts(rag)}, defaults...)
	all := slices.Concat(sparse, dense, rag)
	for i := range all {
		p.order = append(p.order, i)
	}
	slices.SortFunc(p.order, func(i, k int) int { return cmp.Compare(all[i], all[k]) })
	return p, nil
}

func texts(v []string) *core.Tensor {
	t := core.NewTensor(tf.String, tf.Shape{len(v)})
	copy(core.Data[string](t), v)
	return t
}

// parse makes the components of a batch. Sparse and ragged tensors are variants.
func (p *parser) parse(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
	if len(in) != 1 || in[0].DType() != tf.String || in[0].Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected input dataset to have elements of one string vector each.")
	}
	c := &core.OpContext{Step: &core.Step{}, Node: p.node, Out: make([]core.Slot, len(p.node.OutTypes))}
	for _, t := range append([]*core.Tensor{in[0]}, p.in...) {
		c.In = append(c.In, core.Slot{T: t})
	}
	if err := p.kernel(c); err != nil {
		return nil, err
	}
	out := make([]*core.Tensor, len(p.order))
	for i, k := range p.order {
		out[i] = p.component(c.Out, k)
	}
	return out, nil
}

// component returns feature k, counted through sparse, dense and ragged ones.
func (p *parser) component(out []core.Slot, k int) *core.Tensor {
	if k < p.sparse {
		v := core.NewTensor(tf.Variant, tf.Shape{3})
		for i := range v.Variants() {
			v.Variants()[i].Value = out[k+i*p.sparse].T
		}
		return v
	}
	dense := 3 * p.sparse
	if k -= p.sparse; k < p.dense {
		return out[dense+k].T
	}
	rag := dense + p.dense + k - p.dense
	return ragged.VariantOf(out[rag].T, out[rag+p.ragged].T)
}
