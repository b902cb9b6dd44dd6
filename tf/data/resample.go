package data

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A ResampleOptions adjusts RejectionResample.
type ResampleOptions struct {
	// Initial is the share that each class has of the dataset's elements. nil: it is
	// estimated from the elements as they come, 32 at a time.
	Initial []float64
	// Seed and Seed2 are as of [Random].
	Seed, Seed2 int64
}

// RejectionResample leaves out and repeats elements by chance, so that class i has
// the share target[i] of the result. Elements of the result have their class, an int32
// scalar, as a further component, which comes first. Which they are is TensorFlow's for
// the seeds. d is iterated over several times at once, and class is called more than
// once for an element. The result ends when one of these iterators does.
func (d *Dataset) RejectionResample(class func(in []*tf.Tensor) (int, error), target []float64, o ResampleOptions) *Dataset {
	if class == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		r, err := newResampler(target, o)
		if err != nil {
			return nil, err
		}
		return r.of(classified(in, class, len(target)))
	})
}

// A resampler mixes a dataset with one of which elements are rejected, each class with
// another probability. The probabilities come as a dataset, whose elements are those of
// acceptance of each class, and that of taking the next element unseen.
type resampler struct {
	target, initial []float32 // initial: nil if it is to be estimated
	seed, seed2     int64
}

func newResampler(target []float64, o ResampleOptions) (*resampler, error) {
	r := &resampler{seed: o.Seed, seed2: o.Seed2}
	if r.seed == 0 && r.seed2 == 0 {
		r.seed, r.seed2 = rand.Int64(), rand.Int64()
	}
	var err error
	if r.target, err = shares("target", target); err != nil || o.Initial == nil {
		return r, err
	}
	if len(o.Initial) != len(target) {
		return nil, tf.Errorf(tf.InvalidArgument, "the initial distribution must have as many classes as the target, got %d and %d", len(o.Initial), len(target))
	}
	r.initial, err = shares("initial", o.Initial)
	return r, err
}

// shares returns a distribution in the numbers in which TensorFlow computes.
func shares(which string, of []float64) ([]float32, error) {
	if len(of) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "the %s distribution must have a class, got none", which)
	}
	out := make([]float32, len(of))
	for i, x := range of {
		if !(x >= 0) || math.IsInf(x, 0) {
			return nil, tf.Errorf(tf.InvalidArgument, "the %s distribution must have shares from 0 on, that of class %d is %v", which, i, x)
		}
		out[i] = float32(x)
	}
	return out, nil
}

// classified puts the class of elements before their components.
func classified(in dataset.Dataset, class func(in []*tf.Tensor) (int, error), classes int) dataset.Dataset {
	spec := &dataset.Spec{
		Types:  slices.Concat([]tf.DType{tf.Int32}, in.Spec().Types),
		Shapes: slices.Concat([]tf.Shape{{}}, in.Spec().Shapes),
	}
	return dataset.Map(in, called(func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		c, err := class(leave(e))
		switch {
		case err != nil:
			return nil, err
		case c < 0 || c >= classes:
			return nil, tf.Errorf(tf.InvalidArgument, "the class of an element must be in [0, %d), got %d", classes, c)
		}
		return slices.Concat([]*core.Tensor{core.Scalar(int32(c))}, e), nil
	}), spec, true)
}

// of returns the mixture of elements that have their classes.
func (r *resampler) of(pairs dataset.Dataset) (dataset.Dataset, error) {
	if r.initial == nil {
		return r.mix(pairs, dataset.Map(r.estimates(pairs), r.probabilities, r.spec(), true))
	}
	accept, unseen := r.acceptance(r.initial)
	known := dataset.Repeat(dataset.Tensors(dataset.Element{vector(accept), core.Scalar(unseen)}), -1)
	switch r.least() {
	case 1:
		return pairs, nil
	case 0:
		return r.rejecting(pairs, known), nil
	}
	return r.mix(pairs, known)
}

// least returns the smallest ratio of shares. It is that of acceptance, but for
// classes without elements.
func (r *resampler) least() float32 {
	least := r.target[0] / r.initial[0]
	for i, t := range r.target {
		least = min(least, t/r.initial[i])
	}
	return least
}

// vector returns a tensor of x.
func vector[T core.Elem](x []T) *core.Tensor {
	t := core.NewTensor(core.TypeOf[T](), core.Shape{len(x)})
	copy(core.Data[T](t), x)
	return t
}

// spec is that of the dataset of probabilities.
func (r *resampler) spec() *dataset.Spec {
	return specOf([]tf.DType{tf.Float32, tf.Float32}, []tf.Shape{{len(r.target)}, {}})
}

// acceptance returns the probability of acceptance of each class, and that of taking the
// next element unseen, for which the fewest elements are rejected: for ratios of shares
// q, the latter is min q, the former (q-min q)/(max q-min q).
func (r *resampler) acceptance(initial []float32) (accept []float32, unseen float32) {
	accept = make([]float32, len(initial))
	for i, p := range initial {
		accept[i] = r.target[i] / (p + 0x1p-126) // the least normal number: no division by zero
	}
	low, high := slices.Min(accept), slices.Max(accept)
	for i := range accept {
		accept[i] = (accept[i] - low) / (high - low)
	}
	return accept, low
}

// probabilities is acceptance for elements of a dataset of distributions.
func (r *resampler) probabilities(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
	accept, unseen := r.acceptance(core.Data[float32](in[0]))
	return []*core.Tensor{vector(accept), core.Scalar(unseen)}, nil
}

// How initial distributions are estimated.
const (
	estimateBatch = 32
	estimatePrior = 10 // elements that each class is taken to have had
)

// estimates returns for each element the distribution of classes up to the end of
// the batch that it is in.
func (r *resampler) estimates(pairs dataset.Dataset) dataset.Dataset {
	classes := dataset.Map(pairs, onlyFirst, specOf([]tf.DType{tf.Int32}, []tf.Shape{{}}), true)
	batches, err := dataset.Batch(classes, estimateBatch, false)
	if err != nil {
		panic(err) // the size is positive
	}
	seen := make([]int64, len(r.target))
	for i := range seen {
		seen[i] = estimatePrior
	}
	rows := specOf([]tf.DType{tf.Float32}, []tf.Shape{{estimateBatch, len(seen)}})
	return dataset.Unbatch(dataset.Scan(batches, dataset.Element{vector(seen)}, estimate, rows, true))
}

func onlyFirst(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) { return in[:1], nil }

// estimate adds a batch of classes to the numbers of elements seen. It returns these,
// and their distribution once for each element of a full batch.
func estimate(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
	seen, sum := slices.Clone(core.Data[int64](in[0])), int64(0)
	for _, c := range core.Data[int32](in[1]) {
		seen[c]++
	}
	for _, n := range seen {
		sum += n
	}
	rows := core.NewTensor(core.Float32, core.Shape{estimateBatch, len(seen)})
	out := core.Data[float32](rows)
	for i := range out {
		out[i] = float32(float64(seen[i%len(seen)]) / float64(sum))
	}
	return []*core.Tensor{vector(seen), rows}, nil
}

// rejecting returns the elements that chance accepts.
func (r *resampler) rejecting(pairs, probabilities dataset.Dataset) dataset.Dataset {
	numbers, err := dataset.Range(0, math.MaxInt64, 1, tf.Int64)
	if err != nil {
		panic(err) // the step is not 0
	}
	draws := dataset.Map(numbers, r.draw, specOf([]tf.DType{tf.Float32}, []tf.Shape{{}}), true)
	all := dataset.Zip([]dataset.Dataset{probabilities, draws, pairs})
	return dataset.Map(dataset.Filter(all, accepted), withoutDraw, pairs.Spec(), true)
}

// draw returns the number in [0, 1) that a random_uniform with the seeds gives when it
// is run for the i-th time.
func (r *resampler) draw(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
	const blocks = 256 // what an operation takes of its stream for each number
	var x [1]float32
	random.UniformFloat32(random.New(r.seed, r.seed2), blocks*uint64(core.Data[int64](in[0])[0]), x[:])
	return []*core.Tensor{core.Scalar(x[0])}, nil
}

// accepted judges elements of probabilities, a number that was drawn, and a class.
func accepted(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
	accept, drawn, class := core.Data[float32](in[0]), core.Data[float32](in[2])[0], core.Data[int32](in[3])[0]
	return []*core.Tensor{core.Scalar(drawn < accept[class])}, nil
}

func withoutDraw(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) { return in[3:], nil }

// mix takes the next element unseen, or the next one that is not rejected.
func (r *resampler) mix(pairs, probabilities dataset.Dataset) (dataset.Dataset, error) {
	words, err := dataset.Batch(dataset.Random(dataset.NewSeeds(r.seed, r.seed2, false)), 2, true)
	if err != nil {
		return nil, err
	}
	both := dataset.Zip([]dataset.Dataset{probabilities, words})
	selector := dataset.Map(both, pickUnseen, specOf([]tf.DType{tf.Int64}, []tf.Shape{{}}), true)
	return dataset.Choose(selector, []dataset.Dataset{pairs, r.rejecting(pairs, probabilities)}, true)
}

// pickUnseen returns 0 with the probability of taking the next element unseen, else 1.
func pickUnseen(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
	unseen, seed, out := core.Data[float32](in[1])[0], core.Data[int64](in[2]), make([]int64, 1)
	logits := []float32{float32(math.Log(float64(unseen))), float32(math.Log(float64(1 - unseen)))}
	random.Multinomial(random.FromSeed([2]int64(seed)), elementwise.Exp[float64], logits, len(logits), 1, out)
	return []*core.Tensor{core.Scalar(out[0])}, nil
}
