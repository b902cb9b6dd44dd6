package savedmodel

import (
	"context"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// The keys of collections and signatures by which MetaGraphs name their operations.
const (
	initKey          = "__saved_model_init_op"
	trainKey         = "__saved_model_train_op"
	mainOpCollection = "saved_model_main_op"
	legacyInitOp     = "legacy_init_op"
	trainCollection  = "saved_model_train_op"
	assetsCollection = "saved_model_assets"
)

// initialize runs the initialization operation, if the model has one.
func (l *loader) initialize(ctx context.Context) error {
	name, err := initOp(l.mg)
	if err != nil || name == "" {
		return err
	}
	op := l.m.graph.Operation(name)
	if op == nil {
		return tf.Errorf(tf.InvalidArgument, "the graph must have the initialization operation %q", name)
	}
	_, err = l.m.s.Run(ctx, l.feeds, op)
	return err
}

// initOp returns the name of the initialization operation: of the signature that
// TensorFlow 2 writes, or else of the collections that others have written. It is
// "" if there is none.
func initOp(mg *pb.MetaGraphDef) (string, error) {
	if s := mg.GetSignatureDef()[initKey]; s != nil {
		info := s.GetOutputs()[initKey]
		if info == nil {
			return "", tf.Errorf(tf.FailedPrecondition, "Could not find output %s", initKey)
		}
		return nodeOf(info.GetName()), nil
	}
	for _, key := range []string{mainOpCollection, legacyInitOp} {
		c := mg.GetCollectionDef()[key]
		if c == nil {
			continue
		}
		if n := c.GetNodeList().GetValue(); len(n) != 1 {
			return "", tf.Errorf(tf.FailedPrecondition, "Expected exactly one main op in : %s", key)
		}
		return nodeOf(c.GetNodeList().GetValue()[0]), nil
	}
	return "", nil
}

// nodeOf returns the node of a tensor's name.
func nodeOf(tensor string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(tensor, "^"), ":")
	return name
}

// TrainOp returns the operation that does a step of training, nil if the model has
// none: that of a MetaGraph that was exported for training. A program runs it in
// [Model.Session], and feeds what the signature "train" takes.
func (m *Model) TrainOp() *tf.Operation {
	if info := m.meta.def.GetSignatureDef()[trainKey].GetOutputs()[trainKey]; info != nil {
		return m.graph.Operation(nodeOf(info.GetName()))
	}
	c := m.meta.def.GetCollectionDef()[trainCollection]
	if n := c.GetNodeList().GetValue(); len(n) == 1 {
		return m.graph.Operation(nodeOf(n[0]))
	}
	return nil
}
