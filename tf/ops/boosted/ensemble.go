package boosted

import (
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// An ensemble is the resource behind the handles of ensembles. Its trees are
// replaced as a whole, so that predictions need no lock.
type ensemble struct{ now atomic.Pointer[trees] }

// trees are an ensemble as it was read. They do not change.
type trees struct {
	stamp      int64
	serialized string
	trees      []tree
	finalized  int // how many trees are complete
	layers     int64
	last       [2]int32 // the range of nodes of the last layer
}

var _ = resource.Declare[*ensemble]("tensorflow::BoostedTreesEnsembleResource")

func init() {
	const of = "tree_ensemble_handle: resource"
	const read = of + "; stamp_token: int64; tree_ensemble_serialized: string"
	registerHandle[*ensemble]("BoostedTreesEnsembleResourceHandleOp")
	register("BoostedTreesCreateEnsemble", read, "", "", noShape, compute(createEnsemble))
	register("BoostedTreesDeserializeEnsemble", read, "", "", noShape, uses(deserialize))
	register("BoostedTreesSerializeEnsemble", of, "stamp_token: int64; tree_ensemble_serialized: string", "", core.ScalarShape, uses(serialize))
	register("IsBoostedTreesEnsembleInitialized", of, "is_initialized: bool", "", core.ScalarShape, exists[*ensemble]())
	register("BoostedTreesGetEnsembleStates", of,
		"stamp_token: int64; num_trees: int32; num_finalized_trees: int32; num_attempted_layers: int32; last_layer_nodes_range: int32", "", statesShape, uses(states))
}

// BoostedTreesEnsembleResourceHandleOp returns the handle of an ensemble, a
// scalar of type Resource. A container of characters other than letters,
// digits, dots, slashes and hyphens, and a shared name that begins with an
// underscore, are refused with INVALID_ARGUMENT in the step, a nil g when the
// graph is built. Its options are [HandleOpts].
func BoostedTreesEnsembleResourceHandleOp(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "BoostedTreesEnsembleResourceHandleOp", nil, opts...).Output(0)
}

// BoostedTreesCreateEnsemble makes the ensemble of a handle, unless there is
// one. stamp, a scalar of int64, is its version; serialized, a scalar of
// strings, holds TensorFlow's message TreeEnsemble, and may be empty. Inputs
// that have not one element and a message that does not parse or whose trees
// are not whole are refused with INVALID_ARGUMENT in the step.
func BoostedTreesCreateEnsemble(handle, stamp, serialized tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "BoostedTreesCreateEnsemble", []tf.Output{handle, stamp, serialized}, opts...)
}

// BoostedTreesDeserializeEnsemble replaces an ensemble, which must exist. The
// inputs are those of [BoostedTreesCreateEnsemble]. A handle without an
// ensemble is refused with NOT_FOUND in the step; other errors are those of
// BoostedTreesCreateEnsemble.
func BoostedTreesDeserializeEnsemble(handle, stamp, serialized tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "BoostedTreesDeserializeEnsemble", []tf.Output{handle, stamp, serialized}, opts...)
}

// BoostedTreesSerializeEnsemble returns the version and the message of an
// ensemble. Both are scalars. A handle without an ensemble is refused with
// NOT_FOUND in the step.
func BoostedTreesSerializeEnsemble(handle tf.Output, opts ...tf.Option) (stamp, serialized tf.Output) {
	op := tf.Apply(nil, "BoostedTreesSerializeEnsemble", []tf.Output{handle}, opts...)
	return op.Output(0), op.Output(1)
}

// IsBoostedTreesEnsembleInitialized tells whether a handle's ensemble exists,
// a scalar of bool. A handle without an ensemble is no error.
func IsBoostedTreesEnsembleInitialized(handle tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "IsBoostedTreesEnsembleInitialized", []tf.Output{handle}, opts...).Output(0)
}

// EnsembleStates are what [BoostedTreesGetEnsembleStates] returns: scalars, and the
// range of the nodes of the last layer, two numbers.
type EnsembleStates struct {
	StampToken, NumTrees, NumFinalizedTrees, NumAttemptedLayers, LastLayerNodesRange tf.Output
}

// BoostedTreesGetEnsembleStates returns the version of an ensemble, an int64,
// and how far it has grown, in int32. A handle without an ensemble is refused
// with NOT_FOUND in the step.
func BoostedTreesGetEnsembleStates(handle tf.Output, opts ...tf.Option) EnsembleStates {
	op := tf.Apply(nil, "BoostedTreesGetEnsembleStates", []tf.Output{handle}, opts...)
	return EnsembleStates{op.Output(0), op.Output(1), op.Output(2), op.Output(3), op.Output(4)}
}

func statesShape(c *core.Infer) error {
	for i := range 4 {
		c.Set(i, tf.Shape{})
	}
	c.Set(4, tf.Shape{2})
	return nil
}

// parse reads inputs 1 and 2, the version and the message.
func parse(c *core.OpContext) (*trees, error) {
	for i := 1; i <= 2; i++ {
		if err := single(c, i); err != nil {
			return nil, err
		}
	}
	return newTrees(core.Data[int64](c.Input(1))[0], core.Data[string](c.Input(2))[0])
}

func newTrees(stamp int64, serialized string) (*trees, error) {
	var m pb.BoostedTrees_TreeEnsemble
	if err := proto.Unmarshal([]byte(serialized), &m); err != nil {
		return nil, invalid("Unable to parse tree ensemble proto.")
	}
	if len(m.GetTreeWeights()) < len(m.GetTrees()) {
		return nil, invalid("an ensemble must have a weight for each tree, got %d for %d trees", len(m.GetTreeWeights()), len(m.GetTrees()))
	}
	grown := m.GetGrowingMetadata()
	e := &trees{stamp: stamp, serialized: serialized, layers: grown.GetNumLayersAttempted(), finalized: finalized(&m)}
	e.last = [2]int32{grown.GetLastLayerNodeStart(), max(1, grown.GetLastLayerNodeEnd())}
	for i, t := range m.GetTrees() {
		nodes, err := newTree(t, m.GetTreeWeights()[i])
		if err != nil {
			return nil, invalid("tree %d: %v", i, err)
		}
		e.trees = append(e.trees, nodes)
	}
	return e, nil
}

// finalized counts the trees that are complete: all but, perhaps, the last.
func finalized(m *pb.BoostedTrees_TreeEnsemble) int {
	n := len(m.GetTrees())
	if n == 0 || (len(m.GetTreeMetadata()) >= n && m.GetTreeMetadata()[n-1].GetIsFinalized()) {
		return n
	}
	return n - 1
}

func createEnsemble(c *core.OpContext) error {
	t, err := parse(c)
	if err != nil {
		return err
	}
	_, err = handle.FindOrCreate(c, 0, func() (*ensemble, error) {
		e := &ensemble{}
		e.now.Store(t)
		return e, nil
	})
	return err
}

func deserialize(c *core.OpContext, e *ensemble) error {
	t, err := parse(c)
	if err != nil {
		return err
	}
	e.now.Store(t)
	return nil
}

func serialize(c *core.OpContext, e *ensemble) error {
	t := e.now.Load()
	c.Set(0, core.Scalar(t.stamp))
	c.Set(1, core.Scalar(t.serialized))
	return nil
}

func states(c *core.OpContext, e *ensemble) error {
	t := e.now.Load()
	c.Set(0, core.Scalar(t.stamp))
	for i, n := range []int{len(t.trees), t.finalized, int(t.layers)} {
		c.Set(i+1, core.Scalar(int32(n)))
	}
	last, err := core.FromSlice(t.last[:])
	if err != nil {
		return err
	}
	c.Set(4, last)
	return nil
}
