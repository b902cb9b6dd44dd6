package boosted_test

import (
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/boosted"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/pb"
)

// ensemblesJSON is what testdata/ensembles.py had TensorFlow 2.4 compute.
//
//go:embed testdata/ensembles.json
var ensemblesJSON []byte

// golden holds the signatures, which TensorFlow 2.21 has still.
//
//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func init() {
	for _, op := range []string{
		"BoostedTreesEnsembleResourceHandleOp", "BoostedTreesCreateEnsemble", "BoostedTreesDeserializeEnsemble", "BoostedTreesSerializeEnsemble",
		"IsBoostedTreesEnsembleInitialized", "BoostedTreesGetEnsembleStates", "BoostedTreesPredict", "BoostedTreesQuantileStreamResourceHandleOp",
		"BoostedTreesCreateQuantileStreamResource", "BoostedTreesQuantileStreamResourceDeserialize",
		"BoostedTreesQuantileStreamResourceGetBucketBoundaries", "IsBoostedTreesQuantileStreamResourceInitialized",
	} {
		optest.Unsampled(op, "TensorFlow 2.21 has no kernel of it, and it is of use to what follows only")
	}
	bucketize := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return boosted.BoostedTreesBucketize(in[:len(in)/2], in[len(in)/2:])
	}
	nan := float32(math.NaN())
	optest.Add(
		optest.Sample{Op: "BoostedTreesBucketize", F: bucketize, In: []*core.Tensor{optest.Vec[float32](-1, 0, 1, 2, 3, nan), optest.Vec[float32](0, 1, 2)},
			Want: []*core.Tensor{optest.Vec[int32](0, 0, 1, 2, 2, 0)}, NoGolden: "TensorFlow 2.21 has no kernel"},
		optest.Sample{Op: "BoostedTreesBucketize", Name: "two", F: bucketize, NoGolden: "TensorFlow 2.21 has no kernel",
			In:   []*core.Tensor{optest.Vec[float32](5), optest.Vec[float32](5, 6), optest.Vec[float32](0, 1, 2), optest.Vec[float32](0)},
			Want: []*core.Tensor{optest.Vec[int32](2), optest.Vec[int32](0, 0)}},
	)
}

// ensembleCase is one that TensorFlow has computed.
type ensembleCase struct {
	Ensemble string
	Features []struct {
		Shape  []int
		Values []int32
	}
	States    [][]int64
	Dimension int
	Logits    []float32
}

func (e *ensembleCase) features(t *testing.T, g *tf.Graph) []tf.Output {
	out := make([]tf.Output, len(e.Features))
	for i, f := range e.Features {
		v, err := tf.FromSlice(f.Values, f.Shape...)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = ops.Constant(g, v)
	}
	return out
}

func TestPredictsAsTensorFlow(t *testing.T) {
	var cases []ensembleCase
	if err := json.Unmarshal(ensemblesJSON, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 20 {
		t.Fatalf("%d cases", len(cases))
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) { c.check(t, int64(i)) })
	}
}

func (e *ensembleCase) check(t *testing.T, stamp int64) {
	wire, err := base64.StdEncoding.DecodeString(e.Ensemble)
	if err != nil {
		t.Fatal(err)
	}
	g := eager.New()
	h := ensemble(t, g, stamp, string(wire))
	equal(t, boosted.BoostedTreesPredict(h, e.features(t, g), e.Dimension), e.Logits)
	s := boosted.BoostedTreesGetEnsembleStates(h)
	for i, got := range []tf.Output{s.StampToken, s.NumTrees, s.NumFinalizedTrees, s.NumAttemptedLayers, s.LastLayerNodesRange} {
		equal(t, ops.Cast(ops.Reshape(got, []int{-1}), tf.Int64), e.States[i])
	}
	_, again := boosted.BoostedTreesSerializeEnsemble(h)
	equal(t, again, []string{string(wire)})
}

// ensemble makes an ensemble of serialized trees.
func ensemble(t *testing.T, g *tf.Graph, stamp int64, wire string) tf.Output {
	h := boosted.BoostedTreesEnsembleResourceHandleOp(g, boosted.HandleOpts{SharedName: "trees"})
	equal(t, boosted.IsBoostedTreesEnsembleInitialized(h), []bool{false})
	boosted.BoostedTreesCreateEnsemble(h, ops.Scalar(g, stamp), ops.Scalar(g, wire))
	equal(t, boosted.IsBoostedTreesEnsembleInitialized(h), []bool{true})
	return h
}

func equal[T tf.Elem](t *testing.T, got tf.Output, want []T) {
	t.Helper()
	v, err := got.Value()
	if err != nil {
		t.Fatal(err)
	}
	have := core.Data[T]((*core.Tensor)(v))
	if len(have) != len(want) {
		t.Fatalf("%v, not %v", have, want)
	}
	for i, w := range want {
		if have[i] != w {
			t.Fatalf("%v, not %v", have, want)
		}
	}
}

func TestSecondCreationChangesNothing(t *testing.T) {
	g := eager.New()
	h := ensemble(t, g, 3, "")
	boosted.BoostedTreesCreateEnsemble(h, ops.Scalar(g, int64(4)), ops.Scalar(g, ""))
	equal(t, boosted.BoostedTreesGetEnsembleStates(h).StampToken, []int64{3})
	boosted.BoostedTreesDeserializeEnsemble(h, ops.Scalar(g, int64(5)), ops.Scalar(g, ""))
	equal(t, boosted.BoostedTreesGetEnsembleStates(h).StampToken, []int64{5})
}

func TestBoundaries(t *testing.T) {
	g := eager.New()
	h := boosted.BoostedTreesQuantileStreamResourceHandleOp(g, boosted.HandleOpts{SharedName: "q"})
	equal(t, boosted.IsBoostedTreesQuantileStreamResourceInitialized(h), []bool{false})
	boosted.BoostedTreesCreateQuantileStreamResource(h, ops.Scalar(g, float32(0.1)), ops.Scalar(g, int64(2)))
	equal(t, boosted.IsBoostedTreesQuantileStreamResourceInitialized(h), []bool{true})
	for i := range 2 {
		equal(t, boosted.BoostedTreesQuantileStreamResourceGetBucketBoundaries(h, 2)[i], []float32{})
	}
	boosted.BoostedTreesQuantileStreamResourceDeserialize(h, []tf.Output{ops.Const(g, []float32{1, 2}), ops.Const(g, []float32{3})})
	equal(t, boosted.BoostedTreesQuantileStreamResourceGetBucketBoundaries(h, 2)[0], []float32{1, 2})
	equal(t, boosted.BoostedTreesQuantileStreamResourceGetBucketBoundaries(h, 2)[1], []float32{3})
	if _, err := boosted.BoostedTreesQuantileStreamResourceGetBucketBoundaries(h, 3)[0].Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("three of two boundaries: %v", err)
	}
}

// Checkpoints may be damaged, and graphs may not fit them.
func TestBadEnsembles(t *testing.T) {
	type (
		trees = pb.BoostedTrees_TreeEnsemble
		split = pb.BoostedTrees_BucketizedSplit
	)
	one := func(nodes ...*pb.BoostedTrees_Node) *trees {
		return &trees{Trees: []*pb.BoostedTrees_Tree{{Nodes: nodes}}, TreeWeights: []float32{1}}
	}
	decision := func(s *split) *pb.BoostedTrees_Node {
		return &pb.BoostedTrees_Node{Node: &pb.BoostedTrees_Node_BucketizedSplit{BucketizedSplit: s}}
	}
	for want, e := range map[string]*trees{
		"a weight for each tree":         {Trees: []*pb.BoostedTrees_Tree{{}}},
		"it must have a root":            one(),
		"it must be a leaf":              one(&pb.BoostedTrees_Node{}),
		"lead to nodes of its tree":      one(decision(&split{LeftId: 1, RightId: -1})),
		"a cycle":                        one(decision(&split{})),
		"dimension 1 of feature 0":       one(decision(&split{DimensionId: 1})),
		"dimension 0 of feature 7":       one(decision(&split{FeatureId: 7})),
		"must be at least 0, got -1":     one(decision(&split{FeatureId: -1})),
		"leaves must have a value for e": one(&pb.BoostedTrees_Node{Node: &pb.BoostedTrees_Node_Leaf{Leaf: &pb.BoostedTrees_Leaf{Vector: &pb.BoostedTrees_Vector{Value: []float32{1, 2}}}}}),
	} {
		wire, err := proto.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		g := eager.New()
		h := boosted.BoostedTreesEnsembleResourceHandleOp(g, boosted.HandleOpts{SharedName: "bad"})
		err = boosted.BoostedTreesCreateEnsemble(h, ops.Scalar(g, int64(0)), ops.Scalar(g, string(wire))).Err()
		if err == nil {
			_, err = boosted.BoostedTreesPredict(h, []tf.Output{ops.Const(g, []int32{1})}, 1).Value()
		}
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
