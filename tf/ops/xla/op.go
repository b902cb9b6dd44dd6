package xla

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "XlaCallModule", In: "args: Tin", Out: "output: Tout", Stateful: true,
		Attrs: "version: int; module: string; Sout: list(shape) >= 0; Tout: list(type) >= 0; Tin: list(type) >= 0; dim_args_spec: list(string) = []; platforms: list(string) = []; " +
			"function_list: list(func) = []; has_token_input_output: bool = false; disabled_checks: list(string) = []; use_shardy_partitioner: bool = false",
		Shape: shape, NoGrad: core.NoGradientDefined, Body: body, Kernels: core.AnyType(newModuleKernel),
	})
}

// shape takes what the node says of its results.
func shape(c *core.Infer) error {
	shapes, _ := c.Attr("Sout").([]tf.Shape)
	if len(shapes) != c.NumOut() {
		return tf.Errorf(tf.InvalidArgument, "The size of Sout (%d) must match the size of Tout (%d)", len(shapes), c.NumOut())
	}
	for i, s := range shapes {
		c.Set(i, s)
	}
	return nil
}

// The versions of calls that are served, as in TensorFlow.
const (
	oldest = 4
	newest = 10
)

// platformOf checks the attributes of a node. It returns the index of ours among the
// platforms that the module is for, -1 if there is one only.
func platformOf(n *core.Node) (int, error) {
	version, platforms := n.Int("version"), n.Strs("platforms")
	i := slices.Index(platforms, "CPU")
	switch {
	case version < oldest:
		return 0, tf.Errorf(tf.InvalidArgument, "XlaCallModuleOp with version %d is not supported anymore. Must be >= %d", version, oldest)
	case version > newest:
		return 0, tf.Errorf(tf.InvalidArgument, "XlaCallModuleOp with version %d is not supported by this build. Must be <= %d", version, newest)
	case len(n.Strs("dim_args_spec")) > 0:
		return 0, tf.Errorf(tf.Unimplemented, "dim_args_spec attribute is no longer supported")
	case len(platforms) == 0:
		return 0, tf.Errorf(tf.InvalidArgument, "XlaCallModuleOp with version %d must have non-empty platforms.", version)
	case i < 0 && !slices.Contains(n.Strs("disabled_checks"), "platform"):
		return 0, tf.Errorf(tf.NotFound, "The current platform CPU is not among the platforms required by the module: [%s]", strings.Join(platforms, ", "))
	case len(platforms) == 1:
		return -1, nil
	}
	return max(i, 0), nil
}
