package boosted

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A tree has its root first.
type tree struct {
	weight float32
	nodes  []node
}

// A node is a leaf, if it has values, or a decision: the example goes left if a
// feature's dimension is at most the limit (of categories: equals it).
type node struct {
	values             []float32
	category           bool
	feature, dimension int
	limit              int32
	left, right        int
}

// newTree reads a tree and checks that its nodes lead to nodes.
func newTree(t *pb.BoostedTrees_Tree, weight float32) (tree, error) {
	out := tree{weight: weight, nodes: make([]node, len(t.GetNodes()))}
	if len(out.nodes) == 0 {
		return out, fmt.Errorf("it must have a root")
	}
	for i, n := range t.GetNodes() {
		m, err := newNode(n)
		if err != nil {
			return out, fmt.Errorf("node %d: %w", i, err)
		}
		if m.values == nil && (uint(m.left) >= uint(len(out.nodes)) || uint(m.right) >= uint(len(out.nodes))) {
			return out, fmt.Errorf("node %d must lead to nodes of its tree, got %d and %d of %d", i, m.left, m.right, len(out.nodes))
		}
		out.nodes[i] = m
	}
	return out, nil
}

func newNode(n *pb.BoostedTrees_Node) (node, error) {
	var m node
	switch {
	case n.GetLeaf() != nil:
		return node{values: leafValues(n.GetLeaf())}, nil
	case n.GetBucketizedSplit() != nil:
		s := n.GetBucketizedSplit()
		m = node{feature: int(s.GetFeatureId()), dimension: int(s.GetDimensionId()), limit: s.GetThreshold(), left: int(s.GetLeftId()), right: int(s.GetRightId())}
	case n.GetCategoricalSplit() != nil:
		s := n.GetCategoricalSplit()
		m = node{feature: int(s.GetFeatureId()), dimension: int(s.GetDimensionId()), limit: s.GetValue(), left: int(s.GetLeftId()), right: int(s.GetRightId()), category: true}
	default:
		return m, fmt.Errorf("it must be a leaf, a bucketized or a categorical split")
	}
	if m.feature < 0 || m.dimension < 0 {
		return m, fmt.Errorf("a feature and its dimension must be at least 0, got %d and %d", m.feature, m.dimension)
	}
	return m, nil
}

// leafValues are never nil, which marks decisions.
func leafValues(l *pb.BoostedTrees_Leaf) []float32 {
	if l.GetVector() == nil {
		return []float32{l.GetScalar()}
	}
	return append([]float32{}, l.GetVector().GetValue()...)
}

// A feature has the buckets of all examples, dimensions of them each.
type feature struct {
	buckets    []int32
	dimensions int
}

// leaf returns the values for an example.
func (t *tree) leaf(features []feature, example int) ([]float32, error) {
	at := 0
	for range t.nodes {
		n := &t.nodes[at]
		if n.values != nil {
			return n.values, nil
		}
		if n.feature >= len(features) || n.dimension >= features[n.feature].dimensions {
			return nil, invalid("a tree asks for dimension %d of feature %d, which the %d features do not have", n.dimension, n.feature, len(features))
		}
		f := features[n.feature]
		at = n.next(f.buckets[example*f.dimensions+n.dimension])
	}
	return nil, invalid("a tree must lead to a leaf, got a cycle of nodes")
}

func (n *node) next(bucket int32) int {
	if bucket == n.limit || (!n.category && bucket < n.limit) {
		return n.left
	}
	return n.right
}
