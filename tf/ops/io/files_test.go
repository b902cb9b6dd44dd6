package io_test

import (
	"bytes"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/optest"
)

// records returns a TFRecord file.
func records(data ...string) []byte {
	var b bytes.Buffer
	w := record.NewWriter(&b)
	for _, d := range data {
		if err := w.Write([]byte(d)); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func init() {
	const name = "samples/dir/file"
	path := []*core.Tensor{core.Scalar(name)}
	// The ops depend on the disk: their kernels are not for the tests that call
	// kernels by themselves.
	same := func(y tf.Output) []tf.Output { return []tf.Output{ops.Identity(y)} }
	optest.Add(
		optest.Sample{Op: "ReadFile", In: path, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return same(io.ReadFile(in[0], tf.After(write(g, name, "contents"))))
		}},
		optest.Sample{Op: "WriteFile", In: []*core.Tensor{core.Scalar(name + "-written")}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return same(io.ReadFile(in[0], tf.After(io.WriteFile(in[0], ops.Scalar(g, "other")))))
		}},
		optest.Sample{Op: "MatchingFiles", In: []*core.Tensor{optest.Vec("samples/d*/fil?", "none/*")}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return same(io.MatchingFiles(in[0], tf.After(write(g, name, "contents"))))
		}},
		optest.Failing("ReadFile", "missing", func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return same(io.ReadFile(in[0]))
		}, core.Scalar("none/file")),
	)
}
