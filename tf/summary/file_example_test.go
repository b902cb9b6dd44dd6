package summary_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/summary"
)

// A file writer adds to one file: scalars, the graph, what was tried.
func ExampleFileWriter() {
	dir, err := os.MkdirTemp("", "events")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var w *summary.FileWriter
	w, err = summary.NewFileWriter(dir, summary.FileWriterOptions{Suffix: ".train"})
	if err == nil {
		err = w.Graph(tf.NewGraph())
	}
	if err == nil {
		err = w.Scalar(1, "loss", 0.5)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(w.Dir() == dir, filepath.Ext(w.Name()))
	// Output: true .train
}

// TensorBoard's projector shows the rows of a variable, with their names.
func ExampleProjector() {
	dir, err := os.MkdirTemp("", "events")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	p := summary.Projector{Embeddings: []summary.Embedding{{TensorName: "words", MetadataPath: "words.tsv"}}}
	if err := p.Write(dir); err != nil {
		fmt.Println(err)
		return
	}
	files, err := os.ReadDir(dir)
	for _, f := range files {
		fmt.Println(f.Name(), err)
	}
	// Output: projector_config.pbtxt <nil>
}

// TensorBoard's tab of custom scalars shows both losses in one chart.
func ExampleFileWriter_Layout() {
	dir, err := os.MkdirTemp("", "events")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	w, err := summary.NewFileWriter(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	lines := summary.Chart{Title: "training and validation", Tags: []string{"loss/.*"}}
	bounds := summary.Chart{Title: "accuracy", Margins: []summary.Margin{{Value: "accuracy", Lower: "accuracy/low", Upper: "accuracy/high"}}}
	var category summary.ChartCategory
	category.Title, category.Charts = "quality", []summary.Chart{lines, bounds}
	fmt.Println(w.Layout(category), w.Scalar(1, "loss/training", 0.5), w.Scalar(1, "loss/validation", 0.75), w.Close())
	// Output: <nil> <nil> <nil> <nil>
}
