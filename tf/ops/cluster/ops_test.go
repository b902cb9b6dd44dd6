package cluster_test

import (
	"embed"
	"fmt"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/cluster"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func i64(v int64) *core.Tensor { return core.Scalar(v) }

// far are points in three groups.
var far = optest.Mat[float32](2, 100, 0, 101, 2, 102, 0, -50, 1, -50, 2, 3, 400, 3, 402, 101, 1, 102, 0, -51, -1)

func init() {
	add := func(op, name string, fails bool, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: op, Name: name, In: in, F: optest.Applied(op), Fails: fails, Types: optest.OnlyOwn, Tol: 1e-4})
	}
	const nearest, chain, plus = "NearestNeighbors", "KMC2ChainInitialization", "KmeansPlusPlusInitialization"
	centers := optest.Mat[float32](2, 100, 0, 99, 1, 50, 50, 0, 0, 1, 1)
	for name, k := range map[string]int64{"": 1, "two": 2, "all": 5, "more": 7, "none": 0} {
		add(nearest, name, false, far, centers, i64(k))
	}
	add(nearest, "wide", false, optest.Seq(9, 17), optest.Positive(40, 17), i64(3))
	add(nearest, "vector", true, optest.Seq(3), centers, i64(1))
	add(nearest, "vector of centers", true, far, optest.Seq(3), i64(1))
	add(nearest, "width", true, far, optest.Seq(2, 3), i64(1))
	add(nearest, "no points", true, optest.Seq(0, 2), centers, i64(1))
	add(nearest, "vector of k", true, far, centers, optest.Vec[int64](1, 2))
	for _, seed := range []int64{0, 1, 12345, -7} {
		add(chain, fmt.Sprint(seed), false, optest.Vec[float32](1, 5, 0, 3, 2, 8, 1), i64(seed))
		for _, retries := range []int64{0, 2, -1} {
			add(plus, fmt.Sprint(seed, " ", retries), false, far, i64(3), i64(seed), i64(retries))
		}
	}
	add(plus, "all", false, optest.Mat[float32](1, 3, 3, 3, 3), i64(4), i64(1), i64(0))
	add(chain, "none", true, optest.Vec[float32](), i64(1))
	add(chain, "matrix", true, far, i64(1))
	add(chain, "seeds", true, optest.Vec[float32](1), optest.Vec[int64](1, 2))
	add(plus, "too many", true, far, i64(11), i64(1), i64(0))
	add(plus, "too few", true, far, i64(0), i64(1), i64(0))
	add(plus, "no points", true, optest.Seq(0, 2), i64(1), i64(1), i64(0))
	add(plus, "vector", true, optest.Seq(2), i64(1), i64(1), i64(0))
	add(plus, "counts", true, far, optest.Vec[int64](1), i64(1), i64(0))
}

// TestNearestIsNearest compares with distances that are computed one by one.
func TestNearestIsNearest(t *testing.T) {
	const rows, many, width, k = 50, 1500, 3, 4
	g := eager.New()
	points, centers := optest.Seq(rows, width), optest.Positive(many, width)
	for i := range core.Data[float32](centers) {
		core.Data[float32](centers)[i] = float32(math.Sin(float64(i*i))) * 3
	}
	indices, distances := cluster.NearestNeighbors(ops.ConstValue(g, points), ops.ConstValue(g, centers), ops.Scalar[int64](g, k))
	at, err := indices.Value()
	if err != nil {
		t.Fatal(err)
	}
	far, err := distances.Value()
	if err != nil {
		t.Fatal(err)
	}
	square := func(i, j int) (sum float64) {
		for d := range width {
			x := float64(core.Data[float32](points)[i*width+d]) - float64(core.Data[float32](centers)[j*width+d])
			sum += x * x
		}
		return sum
	}
	for i := range rows {
		for n := range k {
			j := int(tf.Data[int64](at)[i*k+n])
			if got, want := float64(tf.Data[float32](far)[i*k+n]), square(i, j); math.Abs(got-want) > 1e-4 {
				t.Fatalf("point %d is %v from center %d, want %v", i, got, j, want)
			}
			nearer := 0
			for other := range many {
				if square(i, other) < square(i, j)-1e-4 {
					nearer++
				}
			}
			if nearer > n {
				t.Errorf("center %d is number %d for point %d, but %d are nearer", j, n, i, nearer)
			}
		}
	}
}
