package data

import (
	"errors"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/record"
)

func init() {
	const saves, shards = input + "; path: string; shard_func_other_args: Tshard_func_args", "compression: string = ''; shard_func: func; use_shard_func: bool = true; Tshard_func_args: list(type) >= 0"
	ends := func(name, in, attrs string, f func(c *core.OpContext, d dataset.Dataset) error) {
		core.Register(core.OpDef{Name: name, In: in, Attrs: attrs, Stateful: true, Shape: noShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(consumes(f))})
	}
	ends("SaveDataset", saves, shards, saveAll)
	register("SaveDatasetV2", saves, shards+"; "+outputs, true, on(save))
	register("LoadDataset", "path: string; reader_func_other_args: Treader_func_args", outputs+"; compression: string = ''; reader_func: func; Treader_func_args: list(type) >= 0", true, load)
	for _, name := range []string{"DatasetToTFRecord", "ExperimentalDatasetToTFRecord"} {
		ends(name, input+"; filename: string; compression_type: string", "", toTFRecord)
	}
}

// consumes makes the kernel of what goes through a dataset and has no result, on
// a goroutine that ends with it.
func consumes(f func(c *core.OpContext, d dataset.Dataset) error) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
			d, err := dataset.Of(c.Input(0))
			if err != nil {
				done(err)
				return
			}
			c.Apart(func() error { return f(c, d) }, done)
		}), nil
	}
}

// each calls f with the elements of d.
func each(c *core.OpContext, d dataset.Dataset, f func(dataset.Element) error) error {
	it, err := d.Iterate()
	if err != nil {
		return err
	}
	defer it.Close()
	for {
		e, err := it.Next(c.StepContext())
		if errors.Is(err, dataset.End) {
			return nil
		}
		if err == nil {
			err = f(e)
		}
		if err != nil {
			return err
		}
	}
}

func save(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	path, err := scalar[string](c, 1, "path")
	if err != nil {
		return nil, err
	}
	var shard dataset.Func
	if c.Node.Bool("use_shard_func") {
		if shard, err = function(c, "shard_func", 2, c.Inputs()); err != nil {
			return nil, err
		}
	}
	return dataset.Save(in, path, c.Node.Str("compression"), shard)
}

func saveAll(c *core.OpContext, in dataset.Dataset) error {
	d, err := save(c, in)
	if err != nil {
		return err
	}
	return each(c, d, func(dataset.Element) error { return nil })
}

func load(c *core.OpContext) (dataset.Dataset, error) {
	path, err := scalar[string](c, 0, "path")
	if err != nil {
		return nil, err
	}
	read, err := function(c, "reader_func", 1, c.Inputs())
	if err != nil {
		return nil, err
	}
	return dataset.Load(path, c.Node.Str("compression"), spec(c), read)
}

func toTFRecord(c *core.OpContext, d dataset.Dataset) error {
	name, err := scalar[string](c, 1, "filename")
	if err != nil {
		return err
	}
	compression, err := scalar[string](c, 2, "compression_type")
	if err != nil {
		return err
	}
	if s := d.Spec(); len(s.Types) != 1 || s.Types[0] != tf.String {
		return tf.Errorf(tf.InvalidArgument, "Unsupported dtype: the elements of a dataset that is written to a file must be one string each")
	}
	w, err := record.CreateContext(c.StepContext(), name, record.Compression(compression))
	if err != nil {
		return err
	}
	err = each(c, d, func(e dataset.Element) error {
		if e[0].Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "the elements of a dataset that is written to a file must be scalars, got shape %s", e[0].Shape().String())
		}
		return w.Write([]byte(core.Data[string](e[0])[0]))
	})
	return errors.Join(err, w.Close())
}
