package ops

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ShardedFilename", In: "basename: string; shard: int32; num_shards: int32", Out: "filename: string",
		Shape: scalarInputs, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(stateless(shardedFilename)),
	})
	core.Register(core.OpDef{
		Name: "ShardedFilespec", In: "basename: string; num_shards: int32", Out: "filename: string",
		Shape: scalarInputs, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(stateless(shardedFilespec)),
	})
}

// ShardedFilename returns the name of one of the files that something is
// spread over: "BASE-00001-of-00005". All inputs are scalars. base is a
// string, shard and shards are int32; numbers are written with five digits or
// more. Inputs of another rank are refused with INVALID_ARGUMENT, when the
// graph is built if it is known, else in the step. shard is not compared with
// shards.
func ShardedFilename(base, shard, shards tf.Output, opts ...tf.Option) tf.Output {
	return apply("ShardedFilename", opts, base, shard, shards)
}

// ShardedFilespec returns the pattern that the names of all files match that
// something is spread over: "BASE-?????-of-00005". base is a string and shards
// an int32, both scalars, which the result is too. Inputs of another rank are
// refused with INVALID_ARGUMENT, when the graph is built if it is known, else
// in the step.
func ShardedFilespec(base, shards tf.Output, opts ...tf.Option) tf.Output {
	return apply("ShardedFilespec", opts, base, shards)
}

// scalarInputs is the shape function of an op of scalars.
func scalarInputs(c *core.Infer) error {
	for i := range c.NumIn() {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	c.Set(0, tf.Shape{})
	return nil
}

// areScalars checks that all inputs are scalars.
func areScalars(c *core.OpContext) error {
	for i := range c.Inputs() {
		if s := c.Input(i).Shape(); len(s) != 0 {
			return tf.Errorf(tf.InvalidArgument, "%s must be a scalar, got shape %s", c.Node.Def.Inputs[i].Name, s.String())
		}
	}
	return nil
}

func shardedFilename(c *core.OpContext) error {
	if err := areScalars(c); err != nil {
		return err
	}
	base, shard, shards := core.Data[string](c.Input(0))[0], core.Data[int32](c.Input(1))[0], core.Data[int32](c.Input(2))[0]
	c.Set(0, core.Scalar(fmt.Sprintf("%s-%05d-of-%05d", base, shard, shards)))
	return nil
}

func shardedFilespec(c *core.OpContext) error {
	if err := areScalars(c); err != nil {
		return err
	}
	c.Set(0, core.Scalar(fmt.Sprintf("%s-?????-of-%05d", core.Data[string](c.Input(0))[0], core.Data[int32](c.Input(1))[0])))
	return nil
}
