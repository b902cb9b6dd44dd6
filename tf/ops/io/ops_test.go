package io_test

import (
	"embed"
	"flag"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

// TestOps runs in a folder of its own: the files that samples write and read
// have relative names, which is how TensorFlow gave the same results elsewhere.
func TestOps(t *testing.T) {
	folder := t.TempDir()
	if export := flag.Lookup("export").Value; export.String() != "" {
		abs, err := filepath.Abs(export.String())
		if err != nil || export.Set(abs) != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	optest.Run(t, golden)
}

func TestMain(m *testing.M) { leaktest.Main(m) }

// The files that samples read are written by the graphs themselves.
const (
	lines   = "samples/lines.txt"
	content = "one\r\ntwo\n\nthree"
)

// write writes a file before anything else is done.
func write(g *tf.Graph, name, contents string) *tf.Operation {
	return io.WriteFile(ops.Scalar(g, name), ops.Scalar(g, contents))
}

// work is a queue that holds the names of in.
func work(g *tf.Graph, in tf.Output, after ...*tf.Operation) (tf.Output, *tf.Operation) {
	q := queue.NewFIFO(g, []tf.DType{tf.String}, queue.Opts{Capacity: 10, Shapes: []tf.Shape{{}}})
	return q.Handle, q.EnqueueMany([]tf.Output{in}, tf.After(after...))
}

// reads is a sample that reads n records at once.
func reads(op, file, contents string, n int64, reader func(g *tf.Graph) tf.Output) optest.Sample {
	return optest.Sample{Op: op, In: []*core.Tensor{optest.Vec(file)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
		r := reader(g)
		q, put := work(g, in[0], write(g, file, contents))
		keys, values := io.ReaderReadUpToV2(r, q, ops.Scalar(g, n), tf.After(put))
		return []tf.Output{keys, values}
	}}
}

func init() {
	fixed := io.FixedLengthOpts{HeaderBytes: 2, FooterBytes: 1, HopBytes: 2}
	optest.Add(
		reads("WholeFileReaderV2", lines, content, 5, func(g *tf.Graph) tf.Output { return io.WholeFileReaderV2(g) }),
		reads("IdentityReaderV2", lines, content, 5, func(g *tf.Graph) tf.Output { return io.IdentityReaderV2(g) }),
		reads("TextLineReaderV2", lines, content, 5, func(g *tf.Graph) tf.Output { return io.TextLineReaderV2(g, 1) }),
		reads("FixedLengthRecordReaderV2", "samples/fixed", "hhabcdefgf", 5, func(g *tf.Graph) tf.Output {
			return io.FixedLengthRecordReaderV2(g, 3, fixed)
		}),
		reads("TFRecordReaderV2", "samples/records", string(records("first", "", "third")), 2, func(g *tf.Graph) tf.Output {
			return io.TFRecordReaderV2(g, "")
		}),
		reads("ReaderReadUpToV2", lines, content, 2, func(g *tf.Graph) tf.Output { return io.TextLineReaderV2(g, 0) }),
	)
	identity := func(op string, f func(g *tf.Graph, r, q tf.Output, after *tf.Operation) []tf.Output) {
		optest.Add(optest.Sample{Op: op, In: []*core.Tensor{optest.Vec("a", "b", "c")}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			r := io.IdentityReaderV2(g)
			q, put := work(g, in[0])
			_, value := io.ReaderReadV2(r, q, tf.After(put))
			return f(g, r, q, value.Operation())
		}})
	}
	identity("ReaderReadV2", func(_ *tf.Graph, r, q tf.Output, after *tf.Operation) []tf.Output {
		key, value := io.ReaderReadV2(r, q, tf.After(after))
		return []tf.Output{key, value}
	})
	identity("ReaderNumRecordsProducedV2", func(_ *tf.Graph, r, _ tf.Output, after *tf.Operation) []tf.Output {
		return []tf.Output{io.ReaderNumRecordsProducedV2(r, tf.After(after))}
	})
	identity("ReaderNumWorkUnitsCompletedV2", func(_ *tf.Graph, r, _ tf.Output, after *tf.Operation) []tf.Output {
		return []tf.Output{io.ReaderNumWorkUnitsCompletedV2(r, tf.After(after))}
	})
	identity("ReaderSerializeStateV2", func(_ *tf.Graph, r, _ tf.Output, after *tf.Operation) []tf.Output {
		return []tf.Output{io.ReaderSerializeStateV2(r, tf.After(after))}
	})
	identity("ReaderResetV2", func(_ *tf.Graph, r, _ tf.Output, after *tf.Operation) []tf.Output {
		return []tf.Output{io.ReaderNumRecordsProducedV2(r, tf.After(io.ReaderResetV2(r, tf.After(after))))}
	})
	identity("ReaderRestoreStateV2", func(g *tf.Graph, r, q tf.Output, after *tf.Operation) []tf.Output {
		state := io.ReaderSerializeStateV2(r, tf.After(after))
		other := io.IdentityReaderV2(g)
		return []tf.Output{io.ReaderNumRecordsProducedV2(other, tf.After(io.ReaderRestoreStateV2(other, state)))}
	})
}
