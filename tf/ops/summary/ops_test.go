package summary_test

import (
	"embed"
	"flag"
	"math"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/pb"
)

//go:embed testdata/golden
var golden embed.FS

// TestOps runs in a folder of its own: the files that samples write have
// relative names, which is how TensorFlow gave the same results elsewhere.
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

// serialized returns a message as ops take it.
func serialized(m proto.Message) string {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func init() {
	one := func(y tf.Output) []tf.Output { return []tf.Output{y} }
	withTag := func(f func(tag, x tf.Output, opts ...tf.Option) tf.Output, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output { return one(f(ops.Scalar(g, "a tag"), in[0], opts...)) }
	}
	spread := optest.Vec[float32](1, -2, 3.5, 0, 1e-13, -1e-13, 1e21, -3e38, 0.1, 0.11, 0.121, 5, 5, 5)
	optest.Add(
		optest.Sample{Op: "ScalarSummary", In: []*core.Tensor{core.Scalar[float32](2.75)}, F: withTag(summary.ScalarSummary)},
		optest.Sample{Op: "ScalarSummary", Name: "many", In: []*core.Tensor{optest.Vec("a", "b", "c"), optest.Vec[float64](1, math.Inf(1), 0.1)}, F: optest.Binary(summary.ScalarSummary)},
		optest.Sample{Op: "ScalarSummary", Name: "large", In: []*core.Tensor{optest.Vec("a", "b"), optest.Vec[int64](1<<60+1<<36+1, -1)}, F: optest.Binary(summary.ScalarSummary)},
		optest.Failing("ScalarSummary", "shapes", optest.Binary(summary.ScalarSummary), optest.Vec("a", "b"), optest.Vec[float32](1)),
		optest.Failing("ScalarSummary", "shape", optest.Binary(summary.ScalarSummary), optest.Vec("a"), core.Scalar[float32](1)),
		optest.Sample{Op: "HistogramSummary", In: []*core.Tensor{optest.Vec[float32](1, 2, 3, 3, 100, 7)}, F: withTag(summary.HistogramSummary)},
		optest.Sample{Op: "HistogramSummary", Name: "spread", In: []*core.Tensor{spread}, F: withTag(summary.HistogramSummary)},
		optest.Sample{Op: "HistogramSummary", Name: "empty", In: []*core.Tensor{core.NewTensor(tf.Float32, tf.Shape{0})}, F: withTag(summary.HistogramSummary)},
		optest.Failing("HistogramSummary", "nan", withTag(summary.HistogramSummary, tf.Name("h")), optest.Vec[float32](1, float32(math.NaN()))),
		optest.Failing("HistogramSummary", "inf", withTag(summary.HistogramSummary, tf.Name("h")), optest.Vec[float32](1, float32(math.Inf(-1)))),
		optest.Failing("HistogramSummary", "tag", optest.Binary(summary.HistogramSummary), optest.Vec("a"), optest.Vec[float32](1)),
	)
	value := func(tag string, x float32) string {
		return serialized(&pb.Summary{Value: []*pb.Summary_Value{{Tag: tag, Value: &pb.Summary_Value_SimpleValue{SimpleValue: x}}}})
	}
	merge := func(_ *tf.Graph, in []tf.Output) []tf.Output { return one(summary.MergeSummary(in)) }
	optest.Add(
		optest.Sample{Op: "MergeSummary", In: []*core.Tensor{core.Scalar(value("a", 1)), optest.Vec(value("b", 2), value("", 3), value("", 4))}, F: merge},
		optest.Failing("MergeSummary", "tags", merge, core.Scalar(value("a", 1)), core.Scalar(value("a", 2))),
		optest.Failing("MergeSummary", "bytes", merge, core.Scalar("\xff")),
	)
	meta := core.Scalar(serialized(&pb.SummaryMetadata{DisplayName: "name", PluginData: &pb.SummaryMetadata_PluginData{PluginName: "p", Content: []byte("c")}}))
	tagged := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return one(summary.TensorSummaryV2(in[1], in[0], in[2]))
	}
	optest.Add(
		optest.Sample{Op: "TensorSummaryV2", In: []*core.Tensor{optest.Mat[int32](2, 1, 2, 3, 4), core.Scalar("t"), meta}, F: tagged},
		optest.Sample{Op: "TensorSummaryV2", Name: "strings", In: []*core.Tensor{optest.Vec("a", ""), core.Scalar("t"), core.Scalar("")}, F: tagged},
		optest.Failing("TensorSummaryV2", "tag", tagged, optest.Vec("a"), optest.Vec("t"), meta),
		optest.Failing("TensorSummaryV2", "metadata", tagged, optest.Vec("a"), core.Scalar("t"), optest.Vec("")),
		optest.Sample{Op: "TensorSummary", In: []*core.Tensor{optest.Vec[int32](1, 2)}, NoGolden: "the name of the node is in it", GraphOnly: "the name of the node is in it",
			F: optest.Unary(summary.TensorSummary, summary.TensorSummaryOpts{Description: "d"})},
	)
}

func init() {
	const bytes = "libpng compresses differently: see TestImages"
	image := func(op tf.Option) func(g *tf.Graph, in []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{summary.ImageSummary(ops.Scalar(g, "tag"), in[0], op)}
		}
	}
	fails := func(name string, o summary.ImageOpts, t *core.Tensor) optest.Sample {
		return optest.Failing("ImageSummary", name, image(o), t)
	}
	sound := optest.Arr(tf.Shape{2, 3, 2}, float32(0), 0.5, -0.5, 1, -1, 2, -2, 1e-5, 0.999, 0.3, float32(math.NaN()), float32(math.Inf(1)))
	audio := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{summary.AudioSummaryV2(in[1], in[0], in[2])}
	}
	bad := func(name string, sound, tag, rate *core.Tensor) optest.Sample {
		return optest.Failing("AudioSummaryV2", name, audio, sound, tag, rate)
	}
	tag, rate := core.Scalar("t"), core.Scalar[float32](8000.5)
	optest.Add(
		optest.Sample{Op: "ImageSummary", In: []*core.Tensor{optest.Seq(2, 3, 2, 1)}, NoGolden: bytes, F: image(summary.ImageOpts{MaxImages: 1}), Types: []tf.DType{tf.Uint8, tf.Float16, tf.Float64}},
		fails("rank", summary.ImageOpts{}, optest.Seq(2, 3, 2)),
		fails("channels", summary.ImageOpts{}, optest.Seq(2, 3, 2, 2)),
		fails("color", summary.ImageOpts{BadColor: (*tf.Tensor)(optest.Vec[uint8](1, 2))}, optest.Seq(2, 3, 2, 3)),
		optest.Sample{Op: "AudioSummary", In: []*core.Tensor{sound}, NoGolden: "TensorFlow has removed it from graphs of version 15 on", F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{summary.AudioSummary(ops.Scalar(g, "tag"), in[0], 44100, summary.AudioOpts{MaxOutputs: 1})}
		}},
		optest.Sample{Op: "AudioSummaryV2", In: []*core.Tensor{sound, tag, rate}, F: audio, Types: optest.OnlyOwn},
		optest.Sample{Op: "AudioSummaryV2", Name: "mono", In: []*core.Tensor{optest.Seq(4, 3), tag, core.Scalar[float32](0.1)}, F: audio, Types: optest.OnlyOwn},
		bad("rank", optest.Seq(3), tag, rate),
		bad("tag", sound, optest.Vec("a", "b"), rate),
		bad("rate", sound, tag, core.Scalar[float32](0)),
		bad("high rate", sound, tag, core.Scalar[float32](1e10)),
		optest.Sample{Op: "AudioSummaryV2", Name: "no frames", In: []*core.Tensor{optest.Seq(2, 0), tag, rate}, F: audio, Types: optest.OnlyOwn},
		bad("neither", optest.Seq(2, 0, 0), tag, rate),
		bad("no channels", optest.Seq(2, 3, 0), tag, rate),
	)
}

// The ops on writers have no results: their samples show that they can be run,
// TestEvents shows what they write.
func init() {
	optest.Add(optest.Sample{Op: "SummaryWriter", In: []*core.Tensor{core.Scalar("x")}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Identity(in[0], tf.After(summary.SummaryWriter(g).Operation()))}
	}})
	fails := func(op, name string, f writing, in ...*core.Tensor) {
		optest.Add(optest.Failing(op, name, written(f), in...))
	}
	for op, w := range writings {
		optest.Add(optest.Sample{Op: op, In: w.in, F: written(w.f), Types: optest.OnlyOwn})
	}
	image, audio := writings["WriteImageSummary"].f, writings["WriteAudioSummary"].f
	fails("WriteHistogramSummary", "nan", writings["WriteHistogramSummary"].f, core.Scalar("h"), optest.Vec(math.NaN()))
	fails("WriteHistogramSummary", "inf", writings["WriteHistogramSummary"].f, core.Scalar("h"), optest.Vec(math.Inf(1)))
	fails("WriteImageSummary", "rank", image, core.Scalar("i"), optest.Seq(2, 3), optest.Vec[uint8](1))
	fails("WriteImageSummary", "color", image, core.Scalar("i"), optest.Seq(2, 3, 2, 3), optest.Vec[uint8](1))
	fails("WriteImageSummary", "color rank", image, core.Scalar("i"), optest.Seq(2, 3, 2, 3), core.Scalar[uint8](1))
	fails("WriteAudioSummary", "rate", audio, core.Scalar("a"), optest.Seq(2, 3), core.Scalar[float32](0))
	fails("ImportEvent", "bytes", writings["ImportEvent"].f, core.Scalar("\xff"))
	fails("WriteRawProtoSummary", "bytes", writings["WriteRawProtoSummary"].f, optest.Vec("", "\xff"))
	fails("WriteScalarSummary", "bfloat16", writings["WriteScalarSummary"].f, core.Scalar("s"), core.Scalar[tf.BF16](0))
	optest.Add(optest.Failing("CreateSummaryFileWriter", "directory", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Identity(in[0], tf.After(create(g, summary.SummaryWriter(g), in[0])))}
	}, core.Scalar("/proc/none")))
}

// A writing adds an op that writes with the writer w.
type writing func(w, step tf.Output, in []tf.Output, after tf.Option) *tf.Operation

func create(g *tf.Graph, w, dir tf.Output) *tf.Operation {
	return summary.CreateSummaryFileWriter(w, dir, ops.Scalar(g, int32(10)), ops.Scalar(g, int32(100000)), ops.Scalar(g, ".end"))
}

// written makes a writer, writes with it and ends it.
func written(f writing) func(g *tf.Graph, in []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		w := summary.SummaryWriter(g, summary.WriterOpts{SharedName: "writer"})
		did := f(w, ops.Scalar(g, int64(7)), in, tf.After(create(g, w, ops.Scalar(g, "logs"))))
		closed := summary.CloseSummaryWriter(w, tf.After(summary.FlushSummaryWriter(w, tf.After(did))))
		return []tf.Output{ops.Identity(in[0], tf.After(closed))}
	}
}

var writings = map[string]struct {
	f  writing
	in []*core.Tensor
}{
	"WriteScalarSummary": {func(w, step tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		return summary.WriteScalarSummary(w, step, in[0], in[1], after)
	}, []*core.Tensor{core.Scalar("s"), core.Scalar[float32](2.5)}},
	"WriteHistogramSummary": {func(w, step tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		return summary.WriteHistogramSummary(w, step, in[0], in[1], after)
	}, []*core.Tensor{core.Scalar("h"), optest.Vec(true, false, true)}},
	"WriteSummary": {func(w, step tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		return summary.WriteSummary(w, step, in[1], in[0], in[2], after)
	}, []*core.Tensor{core.Scalar("t"), optest.Vec("a", "b"), core.Scalar(serialized(&pb.SummaryMetadata{DisplayName: "d"}))}},
	"WriteImageSummary": {func(w, step tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		return summary.WriteImageSummary(w, step, in[0], in[1], in[2], summary.MaxImages(1), after)
	}, []*core.Tensor{core.Scalar("i"), optest.Seq(2, 3, 2, 3), optest.Vec[uint8](1, 2, 3)}},
	"WriteAudioSummary": {func(w, step tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		return summary.WriteAudioSummary(w, step, in[0], in[1], in[2], summary.AudioOpts{MaxOutputs: 1}, after)
	}, []*core.Tensor{core.Scalar("a"), optest.Seq(2, 3), core.Scalar[float32](10)}},
	"WriteGraphSummary": {func(w, step tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		return summary.WriteGraphSummary(w, step, in[0], after)
	}, []*core.Tensor{core.Scalar(serialized(&pb.GraphDef{Node: []*pb.NodeDef{{Name: "n"}}}))}},
	"WriteRawProtoSummary": {func(w, step tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		return summary.WriteRawProtoSummary(w, step, in[0], after)
	}, []*core.Tensor{optest.Vec(serialized(&pb.Summary{Value: []*pb.Summary_Value{{Tag: "r1"}}}), serialized(&pb.Summary{Value: []*pb.Summary_Value{{Tag: "r2"}}}))}},
	"ImportEvent": {func(w, _ tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		return summary.ImportEvent(w, in[0], after)
	}, []*core.Tensor{core.Scalar(serialized(&pb.Event{Step: 12, WallTime: 3}))}},
	"FlushSummaryWriter": {func(w, _ tf.Output, _ []tf.Output, after tf.Option) *tf.Operation {
		return summary.FlushSummaryWriter(w, after)
	}, []*core.Tensor{core.Scalar[float32](0)}},
	"CreateSummaryFileWriter": {func(w, _ tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		return create(in[0].Graph(), w, in[0])
	}, []*core.Tensor{core.Scalar("logs")}},
	"CloseSummaryWriter": {func(w, _ tf.Output, in []tf.Output, after tf.Option) *tf.Operation {
		g := in[0].Graph()
		other := summary.SummaryWriter(g)
		return summary.CloseSummaryWriter(other, tf.After(create(g, other, in[0])), after)
	}, []*core.Tensor{core.Scalar("logs")}},
}
