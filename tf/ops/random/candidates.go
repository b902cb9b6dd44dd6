package random

import (
	"math"
	"sync"

	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const (
		in    = "true_classes: int64"
		out   = "sampled_candidates: int64; true_expected_count: float; sampled_expected_count: float"
		head  = "num_true: int >= 1; num_sampled: int >= 1; unique: bool; "
		seeds = "seed: int = 0; seed2: int = 0"
	)
	for name, of := range map[string]func(int) stream.CandidateDistribution{
		"UniformCandidateSampler":             func(n int) stream.CandidateDistribution { return stream.UniformCandidates(n) },
		"LogUniformCandidateSampler":          func(n int) stream.CandidateDistribution { return stream.LogUniformCandidates(n) },
		"LearnedUnigramCandidateSampler":      unigrams,
		"ThreadUnsafeUnigramCandidateSampler": unigrams,
	} {
		core.Register(core.OpDef{
			Name: name, In: in, Out: out, Attrs: head + "range_max: int >= 1; " + seeds, Stateful: true,
			Shape: candidateShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(candidates(func(n *core.Node) (stream.CandidateDistribution, error) {
				if n.Int("range_max") >= math.MaxInt32 {
					return nil, tf.Errorf(tf.InvalidArgument, "range_max must be less than %d, got %d", math.MaxInt32, n.Int("range_max"))
				}
				return of(n.Int("range_max")), nil
			})),
		})
	}
	core.Register(core.OpDef{
		Name: "FixedUnigramCandidateSampler", In: in, Out: out,
		Attrs: head + "range_max: int >= 1; vocab_file: string = ''; distortion: float = 1; num_reserved_ids: int = 0; num_shards: int >= 1 = 1; shard: int >= 0 = 0; unigrams: list(float) = []; " + seeds, Stateful: true,
		Shape: candidateShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(candidates(fixedUnigrams)),
	})
	core.Register(core.OpDef{
		Name: "AllCandidateSampler", In: in, Out: out, Attrs: head + seeds, Stateful: true,
		Shape: candidateShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(allCandidates),
	})
	core.Register(core.OpDef{
		Name: "ComputeAccidentalHits", In: in + "; sampled_candidates: int64", Out: "indices: int32; ids: int64; weights: float",
		Attrs: "num_true: int; " + seeds,
		Shape: hitsShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(accidentalHits),
	})
}

// Candidates are the results of a candidate sampler: classes, and how often the
// true ones and the sampled ones are expected among them.
type Candidates struct{ Sampled, TrueExpectedCount, SampledExpectedCount tf.Output }

func sampler3(op string, trueClasses tf.Output, own []tf.Option, opts []tf.Option) Candidates {
	o := tf.Apply(nil, op, []tf.Output{trueClasses}, tf.Join(seeded(trueClasses.Graph(), opts), own...)...)
	return Candidates{o.Output(0), o.Output(1), o.Output(2)}
}

func samplerAttrs(numTrue, n int, unique bool) []tf.Option {
	return []tf.Option{tf.Attr("num_true", numTrue), tf.Attr("num_sampled", n), tf.Attr("unique", unique)}
}

// UniformCandidateSampler draws n classes below classes, all with the same
// probability and different ones if unique is set. trueClasses has numTrue
// columns. trueClasses is an int64 matrix [batch numTrue]; the results are
// int64 [n], float32 [batch numTrue] and float32 [n]. Another rank, and an n
// or numTrue below 1, are refused with INVALID_ARGUMENT when the graph is
// built; another number of columns, a true class outside [0, classes), and
// unique with n greater than classes fail with it in the step.
func UniformCandidateSampler(trueClasses tf.Output, numTrue, n int, unique bool, classes int, opts ...tf.Option) Candidates {
	return sampler3("UniformCandidateSampler", trueClasses, append(samplerAttrs(numTrue, n, unique), tf.Attr("range_max", classes)), opts)
}

// LogUniformCandidateSampler draws n classes below classes, low ones more
// often. trueClasses is an int64 matrix [batch numTrue]; the results are
// int64 [n], float32 [batch numTrue] and float32 [n]. Another rank, and an n
// or numTrue below 1, are refused with INVALID_ARGUMENT when the graph is
// built; another number of columns, a true class outside [0, classes), and
// unique with n greater than classes fail with it in the step.
func LogUniformCandidateSampler(trueClasses tf.Output, numTrue, n int, unique bool, classes int, opts ...tf.Option) Candidates {
	return sampler3("LogUniformCandidateSampler", trueClasses, append(samplerAttrs(numTrue, n, unique), tf.Attr("range_max", classes)), opts)
}

// AllCandidateSampler returns all n classes. trueClasses is an int64 matrix
// [batch numTrue]; the results are int64 [n], float32 [batch numTrue] and
// float32 [n]. All expected counts are 1. Another rank is refused with
// INVALID_ARGUMENT when the graph is built; another number of columns, and a
// true class outside [0, n), fail with it in the step.
func AllCandidateSampler(trueClasses tf.Output, numTrue, n int, unique bool, opts ...tf.Option) Candidates {
	return sampler3("AllCandidateSampler", trueClasses, samplerAttrs(numTrue, n, unique), opts)
}

// Hits are the places where sampled classes are true ones: the row, the number
// of the sample, and the weight that makes its logit count for nothing.
type Hits struct{ Indices, IDs, Weights tf.Output }

// ComputeAccidentalHits finds the sampled classes that are among the numTrue
// true classes of each row. trueClasses is an int64 matrix [batch numTrue],
// sampled an int64 vector; the results are int32, int64 and float32 vectors
// of one length. Of equal samples the last one counts. Another shape is
// refused with INVALID_ARGUMENT, that of trueClasses when the graph is built
// if it is known, else in the step.
func ComputeAccidentalHits(trueClasses, sampled tf.Output, numTrue int, opts ...tf.Option) Hits {
	o := tf.Apply(nil, "ComputeAccidentalHits", []tf.Output{trueClasses, sampled}, tf.Join(opts, tf.Attr("num_true", numTrue))...)
	return Hits{o.Output(0), o.Output(1), o.Output(2)}
}

func candidateShape(c *core.Infer) error {
	if c.Int("num_sampled") < 1 || c.Int("num_true") < 1 {
		return tf.Errorf(tf.InvalidArgument, "num_sampled and num_true must be at least 1")
	}
	s, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	n := tf.Shape{c.Int("num_sampled")}
	c.Set(0, n)
	c.Set(1, tf.Shape{s[0], c.Int("num_true")})
	c.Set(2, n)
	return nil
}

func hitsShape(c *core.Infer) error {
	s, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	if n := c.Int("num_true"); s[1] >= 0 && s[1] != n {
		return tf.Errorf(tf.InvalidArgument, "true_classes must have num_true columns: got %v for %d", s, n)
	}
	for i := range 3 {
		c.Set(i, tf.Shape{-1})
	}
	return nil
}

// trueClasses checks input 0.
func trueClasses(c *core.OpContext, numTrue int) ([]int64, error) {
	t := c.Input(0)
	if t.Rank() != 2 {
		return nil, tf.Errorf(tf.InvalidArgument, "true_classes must be a matrix")
	}
	if t.Dim(1) != numTrue {
		return nil, tf.Errorf(tf.InvalidArgument, "true_classes must have num_true columns, expected: %d was: %d", t.Dim(1), numTrue)
	}
	return core.Data[int64](t), nil
}

// A learner is a distribution that the true classes change.
type learner interface{ Learn(classes []int64) }

func candidates(of func(*core.Node) (stream.CandidateDistribution, error)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		g := generator(n)
		d, err := of(n)
		if err != nil {
			return nil, err
		}
		var mu sync.Mutex // of a learner
		learns, _ := d.(learner)
		numTrue, unique, num := n.Int("num_true"), n.Bool("unique"), n.Int("num_sampled")
		return core.Compute(func(c *core.OpContext) error {
			classes, err := trueClasses(c, numTrue)
			if err != nil {
				return err
			}
			if unique && int64(num) > d.Range() {
				return tf.Errorf(tf.InvalidArgument, "Sampler's range is too small.")
			}
			out, err := candidateOutputs(c, num)
			if err != nil {
				return err
			}
			if err := inRange(classes, d.Range()); err != nil {
				return err
			}
			if learns != nil {
				mu.Lock()
				defer mu.Unlock()
			}
			tries, err := stream.SampleCandidates(g.ReserveBlocks(stream.SamplerBlocks(num)), d, unique, out.sampled)
			if err != nil {
				return tf.Errorf(tf.InvalidArgument, "%v", err)
			}
			expected := func(v int64) float32 { return stream.ExpectedCount(d.Probability(v), num, tries) }
			out.count(classes, expected)
			if learns != nil {
				learns.Learn(classes)
			}
			return nil
		}), nil
	}
}

// inRange wants classes from 0 to below n.
func inRange(classes []int64, n int64) error {
	for _, v := range classes {
		if v < 0 || v >= n {
			return tf.Errorf(tf.InvalidArgument, "`true_candidate` out of range [0, %d), received %d", n, v)
		}
	}
	return nil
}

// candidateResults is the memory of a sampler's outputs.
type candidateResults struct {
	sampled                       []int64
	trueExpected, sampledExpected []float32
}

func candidateOutputs(c *core.OpContext, n int) (*candidateResults, error) {
	sampled, err := c.Alloc(0, tf.Int64, tf.Shape{n})
	if err != nil {
		return nil, err
	}
	ofTrue, err := c.Alloc(1, tf.Float32, c.Input(0).Shape())
	if err != nil {
		return nil, err
	}
	ofSampled, err := c.Alloc(2, tf.Float32, tf.Shape{n})
	if err != nil {
		return nil, err
	}
	return &candidateResults{core.Data[int64](sampled), core.Data[float32](ofTrue), core.Data[float32](ofSampled)}, nil
}

func (r *candidateResults) count(classes []int64, expected func(int64) float32) {
	for i, v := range classes {
		r.trueExpected[i] = expected(v)
	}
	for i, v := range r.sampled {
		r.sampledExpected[i] = expected(v)
	}
}

func allCandidates(n *core.Node) (core.Kernel, error) {
	numTrue, num := n.Int("num_true"), n.Int("num_sampled")
	return core.Compute(func(c *core.OpContext) error {
		classes, err := trueClasses(c, numTrue)
		if err != nil {
			return err
		}
		out, err := candidateOutputs(c, num)
		if err != nil {
			return err
		}
		if err := inRange(classes, int64(num)); err != nil {
			return err
		}
		for i := range out.sampled {
			out.sampled[i] = int64(i)
		}
		out.count(classes, func(int64) float32 { return 1 })
		return nil
	}), nil
}

func accidentalHits(n *core.Node) (core.Kernel, error) {
	numTrue := n.Int("num_true")
	return core.Compute(func(c *core.OpContext) error {
		classes, err := trueClasses(c, numTrue)
		if err != nil {
			return err
		}
		if c.Input(1).Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "sampled_candidates must be a vector, which is typically an output from CandidateSampler")
		}
		rows, ids := hits(classes, core.Data[int64](c.Input(1)), numTrue)
		indices, err := c.Alloc(0, tf.Int32, tf.Shape{len(rows)})
		if err != nil {
			return err
		}
		copy(core.Data[int32](indices), rows)
		samples, err := c.Alloc(1, tf.Int64, tf.Shape{len(ids)})
		if err != nil {
			return err
		}
		copy(core.Data[int64](samples), ids)
		weights, err := c.Alloc(2, tf.Float32, tf.Shape{len(ids)})
		if err != nil {
			return err
		}
		const none = -3.4028234663852886e38 // makes e^logit 0
		for i := range ids {
			core.Data[float32](weights)[i] = none
		}
		return nil
	}), nil
}

// hits returns row and number of sample for every true class that was sampled.
func hits(classes, sampled []int64, numTrue int) (rows []int32, ids []int64) {
	at := make(map[int64]int64, len(sampled))
	for i, v := range sampled {
		at[v] = int64(i)
	}
	for i, v := range classes {
		if id, ok := at[v]; ok {
			rows, ids = append(rows, int32(i/numTrue)), append(ids, id)
		}
	}
	return rows, ids
}
