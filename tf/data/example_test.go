package data_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A pipeline is described by calls of methods; a range loop runs it.
func Example() {
	d := data.Range(0, 10).Batch(4, false).Prefetch(1)
	for batch, err := range d.All(context.Background()) {
		fmt.Println(batch[0], err)
	}
	// Output:
	// int64[4]{0, 1, 2, 3} <nil>
	// int64[4]{4, 5, 6, 7} <nil>
	// int64[2]{8, 9} <nil>
}

// An element has one tensor for each component.
func ExampleFromTensorSlices() {
	images, err := tf.FromSlice([]float32{0, 0, 1, 1, 2, 2}, 3, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	labels, err := tf.FromSlice([]int32{7, 8, 9})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range data.FromTensorSlices(images, labels).All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output:
	// [float32[2]{0, 0} int32[]{7}] <nil>
	// [float32[2]{1, 1} int32[]{8}] <nil>
	// [float32[2]{2, 2} int32[]{9}] <nil>
}

// A generator is a Go iterator.
func ExampleFromGenerator() {
	squares := func() iter.Seq2[[]*tf.Tensor, error] {
		return func(yield func([]*tf.Tensor, error) bool) {
			for i := range int64(4) {
				if !yield([]*tf.Tensor{tf.Scalar(i * i)}, nil) {
					return
				}
			}
		}
	}
	d := data.FromGenerator([]tf.DType{tf.Int64}, []tf.Shape{{}}, squares)
	for e, err := range d.Batch(4, true).All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output: [int64[4]{0, 1, 4, 9}] <nil>
}

// A dataset tells what its elements are before it has any.
func ExampleDataset() {
	d := data.Range(0, 100).Shuffle(100, 1, 2).Repeat(2).Batch(32, true)
	fmt.Println(d.Types(), d.Shapes(), d.Cardinality(), d.Err())
	// Output: [int64] [[32]] 6 <nil>
}

// Map computes elements by a Go function.
func ExampleDataset_Map() {
	halve := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		return []*tf.Tensor{tf.Scalar(float32(tf.Data[int64](in[0])[0]) / 2)}, nil
	}
	d := data.Range(0, 3).Map(halve, []tf.DType{tf.Float32}, []tf.Shape{{}})
	for e, err := range d.All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output:
	// [float32[]{0}] <nil>
	// [float32[]{0.5}] <nil>
	// [float32[]{1}] <nil>
}

// ParallelMap calls the function from several goroutines. The order stays the
// same if the program asks for it.
func ExampleDataset_ParallelMap() {
	square := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		x := tf.Data[int64](in[0])[0]
		return []*tf.Tensor{tf.Scalar(x * x)}, nil
	}
	d := data.Range(0, 5).ParallelMap(square, []tf.DType{tf.Int64}, []tf.Shape{{}}, 4, true).Batch(5, true)
	for e, err := range d.All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output: [int64[5]{0, 1, 4, 9, 16}] <nil>
}

func ExampleDataset_Filter() {
	odd := func(_ context.Context, in []*tf.Tensor) (bool, error) { return tf.Data[int64](in[0])[0]%2 == 1, nil }
	for e, err := range data.Range(0, 6).Filter(odd).Batch(3, false).All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output: [int64[3]{1, 3, 5}] <nil>
}

// With seeds a dataset is shuffled in the same order in each run of a program,
// which is TensorFlow's.
func ExampleDataset_Shuffle() {
	order := func() (s string) {
		for e, err := range data.Range(0, 8).Shuffle(8, 1, 2).Batch(8, true).All(context.Background()) {
			s += fmt.Sprintln(e, err)
		}
		return s
	}
	first, again := order(), order()
	fmt.Println(first == again)
	// Output: true
}

// ShuffleOnce has one order for all epochs.
func ExampleDataset_ShuffleOnce() {
	for e, err := range data.Range(0, 4).ShuffleOnce(4, 1, 2).Repeat(2).Batch(4, true).All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output:
	// [int64[4]{3, 0, 2, 1}] <nil>
	// [int64[4]{3, 0, 2, 1}] <nil>
}

// PaddedBatch puts elements of different sizes into one batch.
func ExampleDataset_PaddedBatch() {
	count := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		row, err := tf.NewTensor(tf.Int64, tf.Shape{int(tf.Data[int64](in[0])[0])})
		return []*tf.Tensor{row}, err
	}
	d := data.Range(1, 4).Map(count, []tf.DType{tf.Int64}, []tf.Shape{{-1}})
	minus := []*tf.Tensor{tf.Scalar[int64](-1)}
	for e, err := range d.PaddedBatch(3, []tf.Shape{{-1}}, minus, false).All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output: [int64[3,3]{0, -1, -1, 0, 0, -1, 0, 0, 0}] <nil>
}

func ExampleZip() {
	d := data.Zip(data.Range(0, 2), data.Range(10, 20))
	for e, err := range d.All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output:
	// [int64[]{0} int64[]{10}] <nil>
	// [int64[]{1} int64[]{11}] <nil>
}

// An iterator gives one element at a time, and End after the last one.
func ExampleIterator() {
	it, err := data.Range(0, 2).Iterator()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer it.Close()
	for {
		e, err := it.Next(context.Background())
		if errors.Is(err, data.End) {
			fmt.Println("end")
			return
		}
		fmt.Println(e, err)
	}
	// Output:
	// [int64[]{0}] <nil>
	// [int64[]{1}] <nil>
	// end
}

// The state of an iterator brings another one, also in a later process, to the
// same place.
func ExampleIterator_Save() {
	ctx, d := context.Background(), data.Range(0, 10)
	it, err := d.Iterator()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer it.Close()
	for range 3 {
		if _, err := it.Next(ctx); err != nil {
			fmt.Println(err)
			return
		}
	}
	state, err := it.Save(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}

	later, err := d.Iterator()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer later.Close()
	if err := later.Restore(ctx, state); err != nil {
		fmt.Println(err)
		return
	}
	e, err := later.Next(ctx)
	fmt.Println(e, err)
	// Output: [int64[]{3}] <nil>
}

// A feed reads from one dataset or another: for training, then for a test.
func ExampleFeed() {
	ctx := context.Background()
	feed := data.NewFeed([]tf.DType{tf.Int64}, nil)
	for _, d := range []*data.Dataset{data.Range(0, 5), data.Range(100, 105)} {
		it, err := d.Iterator()
		if err != nil {
			fmt.Println(err)
			return
		}
		defer it.Close()
		if err := feed.Point(it); err != nil {
			fmt.Println(err)
			return
		}
		e, err := feed.Next(ctx)
		fmt.Println(e, err)
	}
	// Output:
	// [int64[]{0}] <nil>
	// [int64[]{100}] <nil>
}

// A function of a graph computes elements in a session.
func ExampleGraphFunc() {
	g := tf.NewGraph()
	f := tf.NewFunction(g, "scale", []tf.ArgSpec{{DType: tf.Int64, Shape: tf.Shape{}}}, func(args []tf.Output) []tf.Output {
		return []tf.Output{args[0].Mul(ops.Scalar[int64](g, 10))}
	})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	scale, err := data.NewGraphFunc(s, f)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range data.Range(0, 4).MapGraph(scale, 1).Batch(4, true).All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output: [int64[4]{0, 10, 20, 30}] <nil>
}

func ExampleTextLine() {
	dir, err := os.MkdirTemp("", "lines")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "poem.txt")
	if err := os.WriteFile(name, []byte("one\ntwo\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range data.TextLine([]string{name}, "").All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output:
	// [string[]{"one"}] <nil>
	// [string[]{"two"}] <nil>
}

func ExampleCSV() {
	dir, err := os.MkdirTemp("", "csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "table.csv")
	if err := os.WriteFile(name, []byte("size,name\n1.5,a\n,b\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	size, err := tf.FromSlice([]float32{-1}) // where there is no value
	if err != nil {
		fmt.Println(err)
		return
	}
	required, err := tf.FromSlice([]string{}) // there must be a value
	if err != nil {
		fmt.Println(err)
		return
	}
	d := data.CSV([]string{name}, []*tf.Tensor{size, required}, data.CSVOptions{Header: true})
	for e, err := range d.All(context.Background()) {
		fmt.Println(e, err)
	}
	// Output:
	// [float32[]{1.5} string[]{"a"}] <nil>
	// [float32[]{-1} string[]{"b"}] <nil>
}

// A parser makes tensors of tf.Examples.
func ExampleExampleParser() {
	p, err := data.NewExampleParser(
		data.Feature{Key: "label", Type: tf.Int64, Shape: tf.Shape{}},
		data.Feature{Key: "pixels", Type: tf.Float32, Shape: tf.Shape{2}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	record := func(label int64, pixels ...float32) string {
		return string(example.Example{"label": example.Ints(label), "pixels": example.Floats(pixels...)}.Marshal())
	}
	batch, err := tf.FromSlice([]string{record(7, 0.5, 1), record(8, 0.25, 0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := p.Parse(context.Background(), batch)
	fmt.Println(out, err)
	// Output: [int64[2]{7, 8} float32[2,2]{0.5, 1, 0.25, 0}] <nil>
}
