package main

import (
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/record"
)

const inputBatch, inputPixels = 100, 784

// input measures how fast examples come from a file of records: parsed as
// batches, and parsed one by one by a pipeline of datasets.
func input(b *bench) {
	dir := must(os.MkdirTemp("", "input"))
	defer os.RemoveAll(dir)
	n := b.steps(100) * inputBatch
	name := filepath.Join(dir, "examples")
	writeExamples(name, n)
	p := must(data.NewExampleParser(
		data.Feature{Key: "image", Type: tf.Float32, Shape: tf.Shape{inputPixels}}, data.Feature{Key: "label", Type: tf.Int64, Shape: tf.Shape{}}))
	defer p.Close()
	whole := data.TFRecord([]string{name}, "").Batch(inputBatch, true).ParseExample(p, 1)
	b.examples("read_parse", n, whole)

	g := tf.NewGraph()
	f := tf.NewFunction(g, "parse", []tf.ArgSpec{{DType: tf.String, Shape: tf.Shape{}}}, func(x []tf.Output) []tf.Output {
		none := []parsing.Dense{
			{Key: "image", Shape: tf.Shape{inputPixels}, Default: ops.Const(x[0].Graph(), []float32{})}, {Key: "label", Shape: tf.Shape{}, Default: ops.Const(x[0].Graph(), []int64{})},
		}
		return parsing.ParseSingleExample(x[0], none, nil).Dense
	})
	s := b.open(g, false)
	defer s.Close()
	one := must(data.NewGraphFunc(s, f))
	b.examples("map_batch_prefetch", n, data.TFRecord([]string{name}, "").MapGraph(one, b.threads).Batch(inputBatch, true).Prefetch(2))
}

// writeExamples writes n images with labels.
func writeExamples(name string, n int) {
	pixels, classes := positive(1001, n*inputPixels), labels(1002, n, 10)
	w := must(record.Create(name, record.None))
	for i, label := range classes {
		e := example.Example{"image": example.Floats(pixels[i*inputPixels : (i+1)*inputPixels]...), "label": example.Ints(int64(label))}
		if err := w.Write(e.Marshal()); err != nil {
			fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		fatal(err)
	}
}

// examples goes through d, batches of n examples in all, again and again.
func (b *bench) examples(name string, n int, d *data.Dataset) {
	var sum, mean float64
	once := func() {
		sum, mean = 0, 0
		for e, err := range d.All(ctx) {
			if err != nil {
				fatal(err)
			}
			sum += float64(tf.Data[int64](e[1])[0])
			mean += float64(tf.Data[float32](e[0])[1])
		}
	}
	once()
	b.emit(name+".examples_per_s", float64(n)/b.best(1, b.repeat, once), "ops/s")
	b.check(name+".labels", sum, nil)
	b.check(name+".pixels", mean, nil)
}
