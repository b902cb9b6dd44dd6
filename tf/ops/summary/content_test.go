package summary_test

import (
	"bytes"
	"context"
	"errors"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// parsed computes a summary.
func parsed(t *testing.T, y tf.Output) *pb.Summary {
	t.Helper()
	v, err := y.Value()
	if err != nil {
		t.Fatal(err)
	}
	s := &pb.Summary{}
	if err := proto.Unmarshal([]byte(tf.Data[string](v)[0]), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// colors decodes a picture, as many channels as its color space says.
func colors(t *testing.T, im *pb.Summary_Image) (out []uint8) {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(im.GetEncodedImageString()))
	if err != nil {
		t.Fatal(err)
	}
	if b := m.Bounds(); b.Dx() != int(im.GetWidth()) || b.Dy() != int(im.GetHeight()) {
		t.Errorf("the image is %v, the summary says %dx%d", b, im.GetWidth(), im.GetHeight())
	}
	for y := range int(im.GetHeight()) {
		for x := range int(im.GetWidth()) {
			c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			out = append(out, []uint8{c.R, c.G, c.B, c.A}[:im.GetColorspace()]...)
		}
	}
	return out
}

// TestImages has the pixels that TensorFlow 2.21 makes of the same numbers.
func TestImages(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name string
		in   *core.Tensor
		want []uint8
	}{
		{"bytes", optest.Arr(tf.Shape{1, 2, 1, 3}, uint8(0), 1, 2, 253, 254, 255), []uint8{0, 1, 2, 253, 254, 255}},
		{"positive", optest.Arr(tf.Shape{1, 1, 4, 1}, float32(0), 1, 2, 3), []uint8{0, 85, 170, 255}},
		{"negative", optest.Arr(tf.Shape{1, 2, 2, 1}, float32(-2), -1, 0.3, 1), []uint8{1, 64, 147, 191}},
		{"transparent", optest.Arr(tf.Shape{1, 1, 1, 4}, float32(1), 2, 3, 4), []uint8{63, 127, 191, 255}},
		{"bad", optest.Arr(tf.Shape{1, 1, 3, 3}, float32(1), 2, nan, 0, 4, 2, float32(math.Inf(1)), 0, 0), []uint8{255, 0, 0, 0, 255, 127, 255, 0, 0}},
		{"tiny", optest.Arr(tf.Shape{1, 1, 2, 1}, float32(1e-8), 1e-7), []uint8{0, 0}},
		{"double", optest.Arr(tf.Shape{1, 1, 3, 1}, 0.1, 0.2, 0.3), []uint8{84, 169, 254}},
		{"half", optest.Convert(optest.Arr(tf.Shape{1, 1, 4, 1}, float32(-0.1), 0.2, 0.7, 3), tf.Float16), []uint8{123, 136, 157, 255}},
	} {
		g := eager.New()
		s := parsed(t, summary.ImageSummary(ops.Scalar(g, "t"), ops.ConstValue(g, c.in)))
		if len(s.GetValue()) != 1 || s.GetValue()[0].GetTag() != "t/image/0" {
			t.Fatal(c.name, s)
		}
		if got := colors(t, s.GetValue()[0].GetImage()); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestImageTags(t *testing.T) {
	g := eager.New()
	in := ops.ConstValue(g, optest.Seq(5, 1, 1, 1))
	for limit, want := range map[int][]string{1: {"t/image"}, 2: {"t/image/0", "t/image/1"}, 9: {"t/image/0", "t/image/1", "t/image/2", "t/image/3", "t/image/4"}} {
		var got []string
		for _, v := range parsed(t, summary.ImageSummary(ops.Scalar(g, "t"), in, summary.ImageOpts{MaxImages: limit})).GetValue() {
			got = append(got, v.GetTag())
		}
		if !slices.Equal(got, want) {
			t.Errorf("at most %d: %q, want %q", limit, got, want)
		}
	}
}

func TestTensorSummaryNamesNode(t *testing.T) {
	g := tf.NewGraph()
	y := summary.TensorSummary(ops.Const(g, []int32{1, 2}), tf.Name("the/node"))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, y)
	if err != nil {
		t.Fatal(err)
	}
	got := &pb.Summary{}
	if err := proto.Unmarshal([]byte(tf.Data[string](out[0])[0]), got); err != nil || got.GetValue()[0].GetNodeName() != "the/node" || got.GetValue()[0].GetTag() != "" {
		t.Error(got, err)
	}
}

// TestEvents writes with every op and reads the file.
func TestEvents(t *testing.T) {
	dir := t.TempDir()
	g := eager.New()
	w := summary.SummaryWriter(g, summary.WriterOpts{SharedName: "w"})
	if err := create(g, w, ops.Scalar(g, dir)).Err(); err != nil {
		t.Fatal(err)
	}
	order := []string{"WriteScalarSummary", "WriteHistogramSummary", "WriteSummary", "WriteImageSummary", "WriteAudioSummary", "WriteGraphSummary", "WriteRawProtoSummary", "ImportEvent"}
	for _, name := range order {
		var in []tf.Output
		for _, x := range writings[name].in {
			in = append(in, ops.ConstValue(g, x))
		}
		if err := writings[name].f(w, ops.Scalar(g, int64(7)), in, tf.After()).Err(); err != nil {
			t.Fatal(name, err)
		}
	}
	if err := summary.CloseSummaryWriter(w).Err(); err != nil {
		t.Fatal(err)
	}
	if err := summary.FlushSummaryWriter(w).Err(); tf.CodeOf(err) != tf.NotFound || !strings.Contains(err.Error(), "Resource localhost/w/N10tensorflow22SummaryWriterInterfaceE does not exist.") {
		t.Error(err)
	}
	all := events(t, dir)
	if len(all) != len(order)+1 {
		t.Fatal(all)
	}
	checkEvents(t, all[1:])
}

func checkEvents(t *testing.T, all []*pb.Event) {
	value := func(i int) *pb.Summary_Value { return all[i].GetSummary().GetValue()[0] }
	for i, ok := range []bool{
		value(0).GetTag() == "s" && value(0).GetSimpleValue() == 2.5,
		value(1).GetHisto().GetNum() == 3 && value(1).GetHisto().GetSum() == 2,
		string(value(2).GetTensor().GetStringVal()[1]) == "b" && value(2).GetMetadata().GetDisplayName() == "d",
		value(3).GetTag() == "i/image" && value(3).GetImage().GetHeight() == 3 && value(3).GetImage().GetWidth() == 2,
		value(4).GetTag() == "a/audio" && len(value(4).GetAudio().GetEncodedAudioString()) == 44+6,
		string(all[5].GetGraphDef()) == core.Data[string](writings["WriteGraphSummary"].in[0])[0],
		value(6).GetTag() == "r1" && all[6].GetSummary().GetValue()[1].GetTag() == "r2",
		all[7].GetStep() == 12 && all[7].GetWallTime() == 3,
	} {
		if !ok || i < 7 && (all[i].GetStep() != 7 || all[i].GetWallTime() < 1e9) {
			t.Errorf("event %d: %v", i, all[i])
		}
	}
}

// events reads the only file of a directory.
func events(t *testing.T, dir string) (all []*pb.Event) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*.end"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for r := record.NewReader(bytes.NewReader(b)); ; {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		e := &pb.Event{}
		if err != nil || proto.Unmarshal(rec, e) != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
}

// TestTensorSummariesDiffer: two of one tensor have names of their own, as nodes
// of a graph, which optimizations could join, and as operations of an eager graph.
func TestTensorSummariesDiffer(t *testing.T) {
	nodeName := func(x *tf.Tensor) string {
		got := &pb.Summary{}
		if err := proto.Unmarshal([]byte(tf.Data[string](x)[0]), got); err != nil {
			t.Fatal(err)
		}
		return got.GetValue()[0].GetNodeName()
	}
	names := []string{"first", "second"}
	e, g := eager.New(), tf.NewGraph()
	var nodes []tf.Output
	for _, name := range names {
		x, err := summary.TensorSummary(ops.Const(e, []int32{1, 2}), tf.Name(name)).Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := nodeName(x); got != name {
			t.Errorf("eagerly: node name %q, want %q", got, name)
		}
		nodes = append(nodes, summary.TensorSummary(ops.Const(g, []int32{1, 2}), tf.Name(name)))
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), nil, ops.Identity(nodes[0]), ops.Identity(nodes[1]))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if got := nodeName(out[i]); got != name {
			t.Errorf("in a session: node name %q, want %q", got, name)
		}
	}
}
