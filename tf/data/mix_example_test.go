package data_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// Two of three examples come from the first dataset, which begins again when it
// ends; the mixture ends with the second.
func ExampleSampleFrom() {
	o := data.MixOptions{Weights: []float64{2, 1}, Seed: 1, Seed2: 2, StopOnEmpty: true}
	d := data.SampleFrom(o, data.Range(0, 3).Repeat(-1), data.Range(100, 103))
	for e, err := range d.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(tf.Data[int64](e[0])[0], " ")
	}
	// Output:
	// 0 1 2 0 1 2 100 101 0 1 2 102 0 1
}

// Sequences below length 4 come in batches of 3, others in batches of 2.
func ExampleDataset_BucketByLength() {
	words := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		n := int(tf.Data[int64](in[0])[0])
		x, err := tf.FromSlice(make([]float32, n), n)
		return []*tf.Tensor{x}, err
	}
	d := data.Range(1, 9).Map(words, []tf.DType{tf.Float32}, []tf.Shape{{-1}})
	length := func(in []*tf.Tensor) (int, error) { return in[0].Len(), nil }
	o := data.BucketOptions{DropRemainder: true}
	for batch, err := range d.BucketByLength(length, []int{4}, []int{3, 2}, o).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch[0].Shape())
	}
	// Output:
	// [3,3]
	// [2,5]
	// [2,7]
}
