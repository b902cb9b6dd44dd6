package random_test

import (
	"testing"

	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/random"
)

func init() {
	const op = "RandomIndexShuffle"
	f, key := nary(op), vec[int32](7, -3, 11)
	eight := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{random.RandomIndexShuffle(in[0], in[1], in[2], random.RandomIndexShuffleOpts{Rounds: 8})}
	}
	addSamples(
		sample{Op: op, In: []*core.Tensor{vec[int32](0, 1, 2, 3, 4, 5, 6), key, scalar[int32](6)}, F: f, Types: onlyOwn},
		sample{Op: op, Name: "eight", In: []*core.Tensor{vec[int64](0, 1, 999), vec[uint64](1<<40, 2, 3), scalar[int64](999)}, F: eight, Types: onlyOwn},
		sample{Op: op, Name: "rows", In: []*core.Tensor{scalar[uint32](3), mat[uint32](3, 1, 2, 3, 4, 5, 6), vec[uint32](9, 99)}, F: f, Types: onlyOwn},
		sample{Op: op, Name: "large", In: []*core.Tensor{vec[uint64](1, 2, 1<<40), vec[int64](1, 2, 3), vec[uint64](1<<62, 1<<33+1, 1<<63+12345)}, F: f, Types: onlyOwn},
		sample{Op: op, Name: "scalar", In: []*core.Tensor{scalar[int32](65536), key, scalar[int32](65536)}, F: f, Types: onlyOwn},
		sample{Op: op, Name: "nothing", In: []*core.Tensor{scalar[int32](0), key, scalar[int32](0)}, F: f, Types: onlyOwn},
		failing(op, "matrix of seeds", f, scalar[int32](0), mat[int32](3, 1, 2, 3, 4, 5, 6), vec[int32](1, 2, 3)),
		failing(op, "index", f, vec[int32](5), key, scalar[int32](4)),
		failing(op, "negative index", f, vec[int32](-5), key, scalar[int32](4)),
		failing(op, "negative last", f, vec[int32](0), key, scalar[int32](-4)),
	)
}

// TestPermutationIsOne: every number comes exactly once.
func TestPermutationIsOne(t *testing.T) {
	for _, last := range []uint64{1, 2, 100, 70_000} {
		p, seen := stream.NewPermutation([3]uint32{1, 2, 3}, last, 4), make([]bool, last+1)
		for i := range seen {
			if at := p.At(uint64(i)); at > last || seen[at] {
				t.Fatalf("0 to %d: position %d has %d again or out of range", last, i, at)
			} else {
				seen[at] = true
			}
		}
	}
}

// TestManyRounds: what is kept for each round counts as memory.
func TestManyRounds(t *testing.T) {
	g := eager.New()
	tf.SetMemoryLimit(1 << 30)
	defer tf.SetMemoryLimit(0)
	many := random.RandomIndexShuffleOpts{Rounds: 1 << 40}
	y := random.RandomIndexShuffle(ops.Scalar(g, int32(1)), ops.Const(g, []int32{1, 2, 3}, 3), ops.Scalar(g, int32(4)), many)
	if _, err := y.Value(); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
	}
}
