package data

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	ask := func(name, attrs string) {
		core.Register(core.OpDef{Name: name, In: input, Out: "cardinality: int64", Attrs: attrs, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(cardinality)})
	}
	ask("DatasetCardinality", "cardinality_options: string = ''")
	ask("ExperimentalDatasetCardinality", "")
	run := func(name, in, attrs string, f func(c *core.OpContext, d dataset.Dataset) (dataset.Element, error)) {
		through := func(c *core.OpContext, _ dataset.Dataset) (dataset.Element, error) {
			t, err := optimized(c.Input(0))
			if err != nil {
				return nil, err
			}
			if err := asserted(t, name); err != nil {
				return nil, err
			}
			d, err := dataset.Of(t)
			if err != nil {
				return nil, err
			}
			return f(c, d)
		}
		core.Register(core.OpDef{Name: name, In: in, Out: "components: output_types", Attrs: attrs, Stateful: true, Shape: declaredShapes, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(whole(through))})
	}
	run("DatasetToSingleElement", "dataset: variant", plain, func(c *core.OpContext, d dataset.Dataset) (dataset.Element, error) {
		return dataset.Single(c.StepContext(), d)
	})
	core.Register(core.OpDef{
		Name: "GetElementAtIndex", In: "dataset: variant; index: int64", Out: "components: output_types", Attrs: outputs,
		Shape: declaredShapes, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(whole(elementAt)),
	})
	run("ReduceDataset", input+"; initial_state: Tstate; other_arguments: Targuments",
		"f: func; Tstate: list(type) >= 1; "+captures+outputs+"; use_inter_op_parallelism: bool = true"+metadata, reduce)
}

func elementAt(c *core.OpContext, _ dataset.Dataset) (dataset.Element, error) {
	i, err := scalar[int64](c, 1, "index")
	if err != nil {
		return nil, err
	}
	t, err := withoutIdle(c.Input(0))
	if err != nil {
		return nil, err
	}
	d, err := dataset.Of(t)
	if err != nil {
		return nil, err
	}
	return dataset.At(c.StepContext(), d, i)
}

// computeModerate is how much may be done to learn how many elements there are, in
// the options of the op: datasets that functions return may be made.
const computeModerate = 2

func cardinality(n *core.Node) (core.Kernel, error) {
	level, _ := numberIn([]byte(n.Str("cardinality_options")), []protowire.Number{1})
	if level >= computeModerate {
		return count, nil
	}
	return core.Compute(func(c *core.OpContext) error {
		d, err := dataset.Of(c.Input(0))
		if err == nil {
			c.Set(0, core.Scalar(d.Cardinality()))
		}
		return err
	}), nil
}

// count counts on a goroutine that ends with it. What cannot be counted is of
// unknown size.
var count = core.AsyncCompute(func(c *core.OpContext, done func(error)) {
	d, err := dataset.Of(c.Input(0))
	if err != nil {
		done(err)
		return
	}
	c.Apart(func() error {
		n, err := dataset.Count(c.StepContext(), d)
		if err != nil {
			n = dataset.Unknown
		}
		c.Set(0, core.Scalar(n))
		return c.StepContext().Err()
	}, done)
})

// whole makes the kernel of what goes through a dataset, on a goroutine that
// ends with it.
func whole(f func(c *core.OpContext, d dataset.Dataset) (dataset.Element, error)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		want := declared(n)
		return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
			d, err := dataset.Of(c.Input(0))
			if err != nil {
				done(err)
				return
			}
			c.Apart(func() error {
				e, err := f(c, d)
				if err == nil {
					err = want.Check(e)
				}
				if err == nil {
					err = give(c, e)
				}
				return err
			}, done)
		}), nil
	}
}

func reduce(c *core.OpContext, d dataset.Dataset) (dataset.Element, error) {
	end := 1 + len(c.Node.TypesAttr("Tstate"))
	f, err := function(c, "f", end, c.Inputs())
	if err != nil {
		return nil, err
	}
	return dataset.Reduce(c.StepContext(), d, kept(c, 1, end), f)
}
