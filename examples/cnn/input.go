package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/examples/internal/digits"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/record"
)

// input gives batches of images and labels without end.
type input struct {
	parser *data.ExampleParser
	it     *data.Iterator
}

func openInput(name string, size, batch int) (*input, error) {
	parser, err := data.NewExampleParser(data.Feature{Key: "image", Type: tf.Float32, Shape: tf.Shape{size * size}}, data.Feature{Key: "label", Type: tf.Int64, Shape: tf.Shape{}})
	if err != nil {
		return nil, err
	}
	d := data.TFRecord([]string{name}, "").Shuffle(1000, 1, 2).Repeat(-1).Batch(batch, true).ParseExample(parser, 1)
	it, err := d.Iterator()
	if err != nil {
		parser.Close()
		return nil, err
	}
	return &input{parser, it}, nil
}

func (in *input) next(ctx context.Context) ([]*tf.Tensor, error) { return in.it.NextShared(ctx) }

func (in *input) close() {
	in.it.Close()
	in.parser.Close()
}

// writeOnce makes a file of tf.Examples, unless it is there. It is written under
// another name first: a run that is killed leaves no half of it.
func writeOnce(name string, set *digits.Set) error {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	w, err := record.Create(name+".part", record.None)
	if err != nil {
		return err
	}
	pixels := set.Size * set.Size
	for i, label := range set.Labels {
		e := example.Example{"image": example.Floats(set.Pixels[i*pixels : (i+1)*pixels]...), "label": example.Ints(int64(label))}
		if err := w.Write(e.Marshal()); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.Rename(name+".part", name)
}
