package boosted_test

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/boosted"
	"github.com/gorge-tf/gorge/tf/pb"
)

// leaf returns a node that adds v to the logit.
func leaf(v float32) *pb.BoostedTrees_Node {
	return &pb.BoostedTrees_Node{Node: &pb.BoostedTrees_Node_Leaf{Leaf: &pb.BoostedTrees_Leaf{Scalar: v}}}
}

// An ensemble of one tree, which asks one question: is the value in bucket 0?
func ExampleBoostedTreesPredict() {
	question := &pb.BoostedTrees_Node_BucketizedSplit{BucketizedSplit: &pb.BoostedTrees_BucketizedSplit{Threshold: 0, LeftId: 1, RightId: 2}}
	tree := &pb.BoostedTrees_Tree{Nodes: []*pb.BoostedTrees_Node{{Node: question}, leaf(-1), leaf(2)}}
	wire, err := proto.Marshal(&pb.BoostedTrees_TreeEnsemble{Trees: []*pb.BoostedTrees_Tree{tree}, TreeWeights: []float32{0.5}})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := eager.New()
	trees := boosted.BoostedTreesEnsembleResourceHandleOp(g, boosted.HandleOpts{SharedName: "trees"})
	boosted.BoostedTreesCreateEnsemble(trees, ops.Scalar(g, int64(1)), ops.Scalar(g, string(wire)))
	var grown boosted.EnsembleStates = boosted.BoostedTreesGetEnsembleStates(trees)
	fmt.Println(grown.NumTrees.Value())

	values, boundaries := ops.Const(g, []float32{0.1, 0.9, 0.5}), ops.Const(g, []float32{0.5, 1})
	buckets := boosted.BoostedTreesBucketize([]tf.Output{values}, []tf.Output{boundaries})
	fmt.Println(boosted.BoostedTreesPredict(trees, buckets, 1).Value())
	// Output:
	// int32[]{1} <nil>
	// float32[3,1]{-0.5, 1, -0.5} <nil>
}
