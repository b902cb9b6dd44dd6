package data_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// Only the first pass over the dataset computes its elements.
func ExampleDataset_Snapshot() {
	dir, err := os.MkdirTemp("", "snapshot")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	slow := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		fmt.Print("computed ")
		return in, nil
	}
	d := data.Range(0, 3).Map(slow, []tf.DType{tf.Int64}, []tf.Shape{{}})
	for e, err := range d.Snapshot(dir, data.SnapshotOptions{Compression: "GZIP"}).Repeat(2).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e[0])
	}
	// Output:
	// computed int64[]{0}
	// computed int64[]{1}
	// computed int64[]{2}
	// int64[]{0}
	// int64[]{1}
	// int64[]{2}
}

// One of ten elements is of class 1. In the result it is every second one.
func ExampleDataset_RejectionResample() {
	class := func(in []*tf.Tensor) (int, error) {
		if tf.Data[int64](in[0])[0]%10 == 0 {
			return 1, nil
		}
		return 0, nil
	}
	o := data.ResampleOptions{Initial: []float64{0.9, 0.1}, Seed: 1, Seed2: 2}
	d := data.Range(0, 10000).RejectionResample(class, []float64{0.5, 0.5}, o)
	var counts [2]int
	for e, err := range d.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		counts[tf.Data[int32](e[0])[0]]++
	}
	fmt.Printf("%.1f\n", float64(counts[1])/float64(counts[0]))
	// Output: 1.0
}
