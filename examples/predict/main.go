// Command predict reads handwritten digits with a model that TensorFlow has
// trained and saved; make.py is how.
//
//	go run ./examples/predict examples/predict/digit0.png
//
// The model in directory model was trained on the images of examples/internal/digits
// (MNIST, CC BY-SA 3.0, the same license holds for its weights).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/gorge-tf/gorge/tf/savedmodel"
)

func main() {
	dir := flag.String("model", "examples/predict/model", "`directory` of the model")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "predict:", err)
		os.Exit(1)
	}
}

// run loads the model and prints which digit each file shows.
func run(ctx context.Context, out io.Writer, dir string, files []string) error {
	if len(files) == 0 {
		return errors.New("the files of images must be given, examples/predict/digit0.png say; there are none")
	}
	m, err := savedmodel.Load(ctx, dir, savedmodel.Options{})
	if err != nil {
		return err
	}
	defer m.Close()
	for _, name := range files {
		image, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		got, err := m.Signature("serving_default").Run(ctx, map[string]any{"image": []string{string(image)}})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %v, probability %v\n", name, got["digit"].At(0), got["probability"].At(0))
	}
	return nil
}
