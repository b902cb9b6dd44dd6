// Package cluster has the ops of clustering: where the first centers are, and
// which centers points are near to.
package cluster

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("NearestNeighbors", "points: float; centers: float; k: int64", "nearest_center_indices: int64; nearest_center_distances: float", unknown, nearest)
	register("KMC2ChainInitialization", "distances: float; seed: int64", "index: int64", core.ScalarShape, chain)
	register("KmeansPlusPlusInitialization", "points: float; num_to_sample: int64; seed: int64; num_retries_per_sample: int64", "samples: float", unknown, plusPlus)
}

func register(name, in, out string, shape func(*core.Infer) error, k core.Compute) {
	core.Register(core.OpDef{
		Name: name, In: in, Out: out, Shape: shape, NoGrad: core.NoGradientDefined,
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) { return k, nil }),
	})
}

func unknown(*core.Infer) error { return nil }

// NearestNeighbors returns for each of points, the rows of a float32 matrix,
// the k nearest rows of centers, or all if there are fewer, and the squares of
// their distances, in ascending order. indices, int64, and distances, float32,
// have a row for each point and k columns, k being an int64 scalar. Points or
// centers that are no matrices or differ in width, no points, and a k that is
// negative or no scalar are refused with INVALID_ARGUMENT in the step.
func NearestNeighbors(points, centers, k tf.Output, opts ...tf.Option) (indices, distances tf.Output) {
	op := tf.Apply(nil, "NearestNeighbors", []tf.Output{points, centers, k}, opts...)
	return op.Output(0), op.Output(1)
}

// KMC2ChainInitialization returns the number of the last state of a Markov
// chain over candidates, which are the likelier the larger their distances, a
// vector. The method is that of Bachem et al. (AAAI 2016). distances is
// float32, seed an int64 scalar, and the result an int64 scalar. Distances
// that are no vector or empty, and a seed that is no scalar, are refused with
// INVALID_ARGUMENT in the step.
func KMC2ChainInitialization(distances, seed tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "KMC2ChainInitialization", []tf.Output{distances, seed}, opts...).Output(0)
}

// KmeansPlusPlusInitialization returns n of points, the rows of a float32
// matrix, that lie far apart: the farther a point is from those chosen
// before, the likelier it is chosen. The method is k-means++ (Arthur and
// Vassilvitskii, SODA 2007). Each time the best of 1 + retries candidates is
// taken; a negative retries stands for a number that fits n. n, seed and
// retries are int64 scalars. Points that are no matrix, no points, an n that
// is not from 1 to their number, more than 65536 retries, and numbers that
// are no scalars are refused with INVALID_ARGUMENT in the step.
func KmeansPlusPlusInitialization(points, n, seed, retries tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "KmeansPlusPlusInitialization", []tf.Output{points, n, seed, retries}, opts...).Output(0)
}

// matrix returns the elements of input i and its width.
func matrix(c *core.OpContext, i int, name string) (v []float32, rows, width int, err error) {
	t := c.Input(i)
	if t.Rank() != 2 {
		return nil, 0, 0, tf.Errorf(tf.InvalidArgument, "Input %s should be a matrix.", name)
	}
	return core.Data[float32](t), t.Dim(0), t.Dim(1), nil
}

func scalar(c *core.OpContext, i int, name string) (int64, error) {
	if c.Input(i).Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "Input %s should be a scalar.", name)
	}
	return core.Data[int64](c.Input(i))[0], nil
}

// halfSquares returns half the squared length of each row.
func halfSquares(v []float32, rows, width int) []float32 {
	out := core.Make[float32](rows)
	for i := range out {
		out[i] = 0.5 * dot(v[i*width:(i+1)*width], v[i*width:(i+1)*width])
	}
	return out
}

func dot(x, y []float32) (sum float32) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// blockSize bounds how many products of points and centers there are at once.
const blockSize = 1 << 18

func nearest(c *core.OpContext) error {
	points, rows, width, err := matrix(c, 0, "points")
	if err != nil {
		return err
	}
	centers, many, wide, err := matrix(c, 1, "centers")
	if err != nil {
		return err
	}
	wanted, err := scalar(c, 2, "k")
	switch {
	case err != nil:
		return err
	case rows == 0:
		return tf.Errorf(tf.InvalidArgument, "Expected points.rows() > 0.")
	case width != wide:
		return tf.Errorf(tf.InvalidArgument, "Expected point_dimensions == center_dimensions: %d vs %d.", width, wide)
	case wanted < 0:
		return tf.Errorf(tf.InvalidArgument, "k must not be negative, got %d", wanted)
	}
	k := int(min(wanted, int64(many)))
	indices, err := c.Alloc(0, tf.Int64, tf.Shape{rows, k})
	if err != nil {
		return err
	}
	distances, err := c.Alloc(1, tf.Float32, tf.Shape{rows, k})
	if err != nil || k == 0 {
		return err
	}
	f := finder{centers: centers, half: halfSquares(centers, many, width), width: width, k: k}
	step := max(blockSize/many, 1)
	for at := 0; at < rows; at += step {
		n := min(step, rows-at)
		f.find(c, points[at*width:(at+n)*width], core.Data[int64](indices)[at*k:(at+n)*k], core.Data[float32](distances)[at*k:(at+n)*k])
	}
	return nil
}

// A finder finds the k nearest centers. Squared distances are |x|² - 2xy + |y|².
type finder struct {
	centers, half []float32
	width, k      int
}

func (f *finder) find(c *core.OpContext, points []float32, indices []int64, distances []float32) {
	rows, many := len(indices)/f.k, len(f.half)
	near := core.Make[float32](rows * many) // half of 2xy - |y|²
	gemm.MatMul(c.ParallelFor, gemm.NewGemm(rows, many, f.width, false, true), near, points, f.centers, gemm.Epilogue[float32]{})
	for i := range near {
		near[i] -= f.half[i%many]
	}
	reduction.TopK(c.ParallelFor, distances, indices, near, many, f.k)
	for i, half := range halfSquares(points, rows, f.width) {
		for j := i * f.k; j < (i+1)*f.k; j++ {
			distances[j] = 2 * (half - distances[j])
		}
	}
}

func chain(c *core.OpContext) error {
	t := c.Input(0)
	if t.Rank() != 1 {
		return tf.Errorf(tf.InvalidArgument, "Input distances should be a vector.")
	}
	seed, err := scalar(c, 1, "seed")
	switch {
	case err != nil:
		return err
	case t.Len() == 0:
		return tf.Errorf(tf.InvalidArgument, "Expected distances_tensor.size() > 0.")
	}
	words, distances, at := stream.NewWords(stream.New(seed, 0)), core.Data[float32](t), 0
	for i := 1; i < len(distances); i++ {
		if distances[i] > words.Float32()*distances[at] {
			at = i
		}
	}
	c.Set(0, core.Scalar(int64(at)))
	return nil
}

// mostRetries bounds what one point may cost.
const mostRetries = 1 << 16

func plusPlus(c *core.OpContext) error {
	points, rows, width, err := matrix(c, 0, "points")
	if err != nil {
		return err
	}
	var in [3]int64
	for i, name := range []string{"num_to_sample", "seed", "num_retries_per_sample"} {
		if in[i], err = scalar(c, i+1, name); err != nil {
			return err
		}
	}
	n, seed, retries := in[0], in[1], in[2]
	if retries < 0 {
		retries = 2 + int64(math.Log(float64(max(n, 1))))
	}
	switch {
	case rows == 0:
		return tf.Errorf(tf.InvalidArgument, "Expected points.rows() > 0.")
	case n <= 0:
		return tf.Errorf(tf.InvalidArgument, "Expected num_to_sample > 0.")
	case n > int64(rows):
		return tf.Errorf(tf.InvalidArgument, "Expected num_to_sample <= points.rows(). %d vs %d.", n, rows)
	case retries > mostRetries:
		return tf.Errorf(tf.InvalidArgument, "num_retries_per_sample must be at most %d, got %d", mostRetries, retries)
	}
	out, err := c.Alloc(0, tf.Float32, tf.Shape{int(n), width})
	if err != nil {
		return err
	}
	s := newSeeder(points, rows, width, seed)
	for i := range int(n) {
		if err := c.StepContext().Err(); err != nil {
			return tf.Errorf(tf.Canceled, "%v", err)
		}
		at := s.next(int(retries))
		copy(core.Data[float32](out)[i*width:], points[at*width:(at+1)*width])
	}
	return nil
}
