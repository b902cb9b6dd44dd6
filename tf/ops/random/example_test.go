package random_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/random"
)

// Classes that candidate samplers draw by given weights: never 0, which is
// reserved, nor 2, which has none.
func ExampleFixedUnigramCandidateSampler() {
	g := eager.New()
	labels := ops.Const(g, []int64{1}, 1, 1)
	o := random.FixedUnigramOpts{Unigrams: []float32{1, 0, 3}, ReservedIDs: 1} // of classes 1 to 3
	var c random.Candidates = random.FixedUnigramCandidateSampler(labels, 1, 2, true, 4, o, ops.Seed(1))
	v, err := ops.Sort(c.Sampled, -1, false).Value()
	fmt.Println(v, err)
	v, err = c.TrueExpectedCount.Value()
	fmt.Println(v, err)
	// Output:
	// int64[2]{1, 3} <nil>
	// float32[1,1]{0.68359375} <nil>
}

// Where sampled classes are true ones of an example: 3 of the second row.
func ExampleComputeAccidentalHits() {
	g := eager.New()
	labels, sampled := ops.Const(g, []int64{1, 3}, 2, 1), ops.Const(g, []int64{7, 3})
	var hits random.Hits = random.ComputeAccidentalHits(labels, sampled, 1)
	for _, y := range []tf.Output{hits.Indices, hits.IDs} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[1]{1} <nil>
	// int64[1]{1} <nil>
}

// Classes that are drawn by the logarithms of their probabilities; here all
// but one are improbable.
func ExampleMultinomial() {
	g := eager.New()
	logits := ops.Const(g, []float32{0, 100, 0}, 1, 3)
	v, err := random.Multinomial(logits, ops.Scalar[int32](g, 4), random.MultinomialOpts{OutputDType: tf.Int32}, ops.Seed(1)).Value()
	fmt.Println(v, err)
	// Output: int32[1,4]{1, 1, 1, 1} <nil>
}

// Where each index comes to lie when the numbers from 0 to 4 are shuffled.
func ExampleRandomIndexShuffle() {
	g := eager.New()
	index, seed := ops.Const(g, []int32{0, 1, 2, 3, 4}), ops.Const(g, []int32{1, 2, 3})
	y := random.RandomIndexShuffle(index, seed, ops.Scalar[int32](g, 4), random.RandomIndexShuffleOpts{Rounds: 8})
	v, err := y.Value()
	fmt.Println(v, err)
	// Output: int32[5]{0, 2, 4, 1, 3} <nil>
}

// The loss among all of four classes, given as candidates. The true one is a
// candidate too, which counts twice unless hits are removed.
func ExampleSampledSoftmaxLoss() {
	g := eager.New()
	weights, biases := ops.Const(g, []float32{0, 0, 0, 0}, 4, 1), ops.Const(g, []float32{0, 0, 0, 0})
	labels, inputs := ops.Const(g, []int64{2}, 1, 1), ops.Const(g, []float32{1}, 1, 1)
	all := random.AllCandidateSampler(labels, 1, 4, true)
	for _, hits := range []random.AccidentalHits{random.KeepHits, random.RemoveHits} {
		o := random.SampledOpts{NumTrue: 1, Candidates: &all, Hits: hits}
		v, err := random.SampledSoftmaxLoss(weights, biases, labels, inputs, 4, 4, o).Exp().Value() // of as many as are equally probable
		fmt.Println(v, err)
	}
	// Output:
	// float32[1]{5} <nil>
	// float32[1]{4} <nil>
}
