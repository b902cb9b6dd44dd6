package random_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/random"
	"github.com/gorge-tf/gorge/tf/optest"
)

func sobolInputs(dim, n, skip int32) []*core.Tensor {
	return []*core.Tensor{scalar(dim), scalar(n), scalar(skip)}
}

func sobolSample(opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{random.SobolSample(in[0], in[1], in[2], opts...)}
	}
}

func init() {
	for name, in := range map[string][]*core.Tensor{
		"":     sobolInputs(5, 31, 0),
		"skip": sobolInputs(10, 20, 17),
		"far":  sobolInputs(3, 5, 1<<29),
		"wide": sobolInputs(21200, 2, 1<<20-1),
		"one":  sobolInputs(1, 1, 0),
	} {
		addSamples(sample{Op: "SobolSample", Name: name, In: in, F: sobolSample(), Types: onlyOwn})
		if name != "wide" {
			addSamples(sample{Op: "SobolSample", Name: name + " double", In: in, F: sobolSample(tf.Attr("dtype", tf.Float64)), Types: onlyOwn})
		}
	}
	for name, in := range map[string][]*core.Tensor{
		"dim": sobolInputs(0, 1, 0), "dims": sobolInputs(1<<20, 1, 0), "number": sobolInputs(1, 0, 0), "skip": sobolInputs(1, 1, -1),
		"end": sobolInputs(1, 1<<30, 1<<30), "size": sobolInputs(1000, 1<<30, 0), "vector": {scalar[int32](1), i32(1), scalar[int32](0)},
	} {
		addSamples(failing("SobolSample", name, sobolSample(), in...))
	}
}

// TestSobolThreads: sequences that begin anywhere are the same.
func TestSobolThreads(t *testing.T) {
	optest.Threads(t, sample{Op: "SobolSample", In: sobolInputs(40, 5000, 3), F: sobolSample()})
}

// TestSobolFills: each of 2ⁿ equal slices of a side gets one of 2ⁿ points in a
// row, in every dimension.
func TestSobolFills(t *testing.T) {
	const n, dims = 1 << 7, 200
	g := eager.New()
	x := random.SobolSample(ops.Scalar[int32](g, dims), ops.Scalar[int32](g, n-1), ops.Scalar[int32](g, 0))
	v, err := x.Value()
	if err != nil {
		t.Fatal(err)
	}
	points := tf.Data[float32](v)
	for j := range dims {
		seen := [n]bool{0: true} // the origin is left out
		for i := range n - 1 {
			slice := int(points[i*dims+j] * n)
			if seen[slice] {
				t.Fatalf("dimension %d: two points in slice %d", j, slice)
			}
			seen[slice] = true
		}
	}
}
