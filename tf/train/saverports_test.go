package train_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// The tests of this file have cases of TensorFlow's saver_test: docs/ported-tests.md says
// which.

// named makes float32 variables of those names and values.
func named(g *tf.Graph, values map[string]float32) map[string]*tf.Variable {
	out := map[string]*tf.Variable{}
	for name, v := range values {
		out[name] = tf.NewVariable(ops.Const(g, []float32{v, -v}), tf.VariableOptions{Name: name})
	}
	return out
}

func first(t *testing.T, s *session.Session, v *tf.Variable) float32 {
	t.Helper()
	out, err := session.Fetch[float32](t.Context(), s, nil, v.Value())
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestSaverNames saves and restores under other names than the variables'.
func TestSaverNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	g := tf.NewGraph()
	vs := named(g, map[string]float32{"v0": 10, "v1": 20})
	if _, err := newSaver(t, g, train.SaverOptions{Named: map[string]*tf.Variable{"save_prefix/v0": vs["v0"], "save_prefix/v1": vs["v1"]}}).Save(t.Context(), begin(t, g, true), path); err != nil {
		t.Fatal(err)
	}
	g = tf.NewGraph()
	named(g, map[string]float32{"v0": -1, "v1": -1})
	s := begin(t, g, true)
	if err := newSaver(t, g, train.SaverOptions{}).Restore(t.Context(), s, path); !says(err, tf.NotFound, "not found in checkpoint") {
		t.Error(err)
	}
	g = tf.NewGraph()
	vs = named(g, map[string]float32{"restore_prefix/v0": -1, "restore_prefix/v1": -1})
	saver := newSaver(t, g, train.SaverOptions{Named: map[string]*tf.Variable{"save_prefix/v0": vs["restore_prefix/v0"], "save_prefix/v1": vs["restore_prefix/v1"]}})
	s = begin(t, g, false)
	if err := saver.Restore(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
	if a, b := first(t, s, vs["restore_prefix/v0"]), first(t, s, vs["restore_prefix/v1"]); a != 10 || b != 20 {
		t.Error(a, b)
	}
}

// TestSaverReshapes restores as many elements in another shape, if that is asked for.
func TestSaverReshapes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	for _, reference := range []bool{false, true} {
		build := func(dims ...int) (*tf.Graph, *tf.Variable) {
			g := tf.NewGraph()
			return g, tf.NewVariable(ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, dims...), tf.VariableOptions{Name: "v", Reference: reference})
		}
		g, _ := build(2, 3)
		if _, err := newSaver(t, g, train.SaverOptions{}).Save(t.Context(), begin(t, g, true), path); err != nil {
			t.Fatal(err)
		}
		for _, reshape := range []bool{false, true} {
			g, v := build(3, 2)
			saver := newSaver(t, g, train.SaverOptions{Reshape: reshape})
			s := begin(t, g, false)
			if err := saver.Restore(t.Context(), s, path); (err == nil) != reshape {
				t.Error(reference, reshape, err)
			}
			if reshape && first(t, s, v) != 1 {
				t.Error("values")
			}
		}
	}
}

// TestSaverReshapesHuge: a size that has more than 32 bits reaches the reshape as it is, and a small one keeps TensorFlow's
// type.
func TestSaverReshapesHuge(t *testing.T) {
	for _, c := range []struct {
		shape tf.Shape
		dtype tf.DType
	}{{tf.Shape{1 << 33, 2}, tf.Int64}, {tf.Shape{math.MaxInt32 + 1}, tf.Int64}, {tf.Shape{math.MaxInt32}, tf.Int32}, {tf.Shape{3, 2}, tf.Int32}} {
		g := tf.NewGraph()
		tf.NewVariable(ops.Fill(ops.Const(g, toInt64(c.shape), len(c.shape)), ops.Scalar(g, int8(1))), tf.VariableOptions{Name: "v"})
		newSaver(t, g, train.SaverOptions{Reshape: true})
		op := g.Operation("save/Reshape")
		if op == nil {
			t.Fatalf("shape %v: there is no reshape", c.shape)
		}
		if got := op.Input(1).DType(); got != c.dtype || !slices.Equal(op.Output(0).Shape(), c.shape) {
			t.Errorf("shape %v: sizes of type %v make %v", c.shape, got, op.Output(0).Shape())
		}
	}
}

func toInt64(s tf.Shape) (out []int64) {
	for _, d := range s {
		out = append(out, int64(d))
	}
	return out
}

// TestSaverRereads: a file that has been written over is read again.
func TestSaverRereads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	for _, x := range []float32{1, 2} {
		g := tf.NewGraph()
		vs := named(g, map[string]float32{"v": x})
		saver, s := newSaver(t, g, train.SaverOptions{}), begin(t, g, true)
		if _, err := saver.Save(t.Context(), s, path); err != nil {
			t.Fatal(err)
		}
		if err := saver.Restore(t.Context(), s, path); err != nil || first(t, s, vs["v"]) != x {
			t.Error(err)
		}
	}
}

// TestSaverPaths: nothing to save, steps with leading zeros, a directory that there is not
// yet, and a file:// name.
func TestSaverPaths(t *testing.T) {
	g := tf.NewGraph()
	empty := newSaver(t, g, train.SaverOptions{AllowEmpty: true})
	if path, err := empty.Save(t.Context(), begin(t, g, false), filepath.Join(t.TempDir(), "m"), train.SaveOptions{NoMetaGraph: true}); path != "" || err != nil {
		t.Error(path, err)
	}
	dir := t.TempDir()
	for name, c := range map[string]struct {
		o    train.SaverOptions
		path string
		want string
	}{
		"step":    {train.SaverOptions{}, filepath.Join(dir, "a"), "a-5"},
		"padded":  {train.SaverOptions{PadStepNumber: true}, filepath.Join(dir, "b"), "b-00000005"},
		"new dir": {train.SaverOptions{}, filepath.Join(dir, "new", "c"), "new/c-5"},
		"uri":     {train.SaverOptions{}, "file://" + filepath.Join(dir, "e"), "e-5"},
	} {
		g := tf.NewGraph()
		vs := named(g, map[string]float32{"v": 3})
		saver, s := newSaver(t, g, c.o), begin(t, g, true)
		path, err := saver.SaveStep(t.Context(), s, c.path, 5)
		if err != nil || !strings.HasSuffix(path, c.want) || !train.CheckpointExists(filepath.Join(dir, c.want)) {
			t.Error(name, path, err)
			continue
		}
		if err := saver.Restore(t.Context(), s, path); err != nil || first(t, s, vs["v"]) != 3 {
			t.Error(name, err)
		}
	}
	if path, err := train.LatestCheckpoint("file://" + dir); err != nil || path == "" {
		t.Error(path, err)
	}
	g = tf.NewGraph() // the parts of a sharded one have a directory below that
	named(g, map[string]float32{"v": 3})
	if _, err := newSaver(t, g, train.SaverOptions{Sharded: true}).Save(t.Context(), begin(t, g, true), filepath.Join(dir, "sharded", "d")); !says(err, tf.InvalidArgument, "doesn't exist, can't save.") {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := writeText(file, "no directory"); err != nil {
		t.Fatal(err)
	}
	g = tf.NewGraph()
	named(g, map[string]float32{"v": 3})
	if _, err := newSaver(t, g, train.SaverOptions{}).Save(t.Context(), begin(t, g, true), filepath.Join(file, "m")); err == nil {
		t.Error("a file is no directory")
	}
	if _, err := train.OpenCheckpoint(filepath.Join(dir, "none")); !says(err, tf.NotFound) {
		t.Error(err)
	}
}

// TestSaverMoves: with relative paths a directory can be copied elsewhere.
func TestSaverMoves(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	g := tf.NewGraph()
	named(g, map[string]float32{"v": 3})
	if _, err := newSaver(t, g, train.SaverOptions{SaveRelativePaths: true}).Save(t.Context(), begin(t, g, true), filepath.Join(from, "m")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(from); err != nil {
		t.Fatal(err)
	}
	if path, err := train.LatestCheckpoint(to); err != nil || path != filepath.Join(to, "m") {
		t.Error(path, err)
	}
}

// TestEagerAndGraph: what an eager saver writes a graph's reads, and back.
func TestEagerAndGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	e := eager.New()
	v := tf.NewVariable(ops.Const(e, []float32{9, 1}), tf.VariableOptions{})
	ofEager := newSaver(t, e, train.SaverOptions{Named: map[string]*tf.Variable{"v": v}, MaxToKeep: 3})
	for step := range int64(5) {
		if _, err := ofEager.SaveStep(t.Context(), nil, path, step); err != nil {
			t.Fatal(err)
		}
	}
	if got := ofEager.LastCheckpoints(); len(got) != 3 || train.CheckpointExists(path+"-1") || !train.CheckpointExists(path+"-2") {
		t.Error(got)
	}
	g := tf.NewGraph()
	vs := named(g, map[string]float32{"v": 2})
	saver, s := newSaver(t, g, train.SaverOptions{}), begin(t, g, true)
	if err := saver.Restore(t.Context(), s, path+"-4"); err != nil || first(t, s, vs["v"]) != 9 {
		t.Error(err)
	}
	if _, err := s.Run(t.Context(), nil, vs["v"].Assign(ops.Const(g, []float32{5, 5}))); err != nil {
		t.Fatal(err)
	}
	if _, err := saver.Save(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
	if err := ofEager.Restore(t.Context(), nil, path); err != nil {
		t.Fatal(err)
	}
	if x, err := v.Value().Value(); err != nil || x.At(0) != float32(5) {
		t.Error(x, err)
	}
}

// TestSaverLimits keeps as many as asked, sharded or not, with MetaGraphs or without.
func TestSaverLimits(t *testing.T) {
	for _, c := range []struct {
		o    train.SaverOptions
		want string
	}{
		{train.SaverOptions{MaxToKeep: 2}, "[2 3]"}, {train.SaverOptions{MaxToKeep: 2, Sharded: true}, "[2 3]"}, {train.SaverOptions{MaxToKeep: 2, V1: true}, "[2 3]"},
		{train.SaverOptions{MaxToKeep: -1}, "[]"}, {train.SaverOptions{}, "[0 1 2 3]"},
	} {
		for _, meta := range []bool{true, false} {
			g := tf.NewGraph()
			named(g, map[string]float32{"v": 2})
			saver, s, path := newSaver(t, g, c.o), begin(t, g, true), filepath.Join(t.TempDir(), "m")
			for step := range int64(4) {
				if _, err := saver.SaveStep(t.Context(), s, path, step, train.SaveOptions{NoMetaGraph: !meta}); err != nil {
					t.Fatal(err)
				}
			}
			steps := []string{}
			for _, p := range saver.LastCheckpoints() {
				steps = append(steps, strings.TrimPrefix(p, path+"-"))
			}
			if fmt.Sprint(steps) != c.want {
				t.Errorf("%+v: %v, want %s", c.o, steps, c.want)
			}
			for step := range 4 {
				at := fmt.Sprint(path, "-", step)
				kept := len(steps) == 0 || slices.Contains(steps, fmt.Sprint(step))
				_, err := os.Stat(at + ".meta")
				if train.CheckpointExists(at) != kept || (err == nil) != (kept && meta) {
					t.Errorf("%+v: %s, kept %v, MetaGraph %v", c.o, at, kept, err == nil)
				}
			}
		}
	}
}

// TestSaverLimitOutOfRange: a number that a SaverDef cannot hold is refused, as Python
// refuses it. The largest that it can hold is taken, and so is any that is negative.
func TestSaverLimitOutOfRange(t *testing.T) {
	for n, want := range map[int]int32{math.MaxInt32: math.MaxInt32, math.MaxInt32 + 1: -1, 1<<32 + 2: -1, -1: 0, -1<<32 + 1: 0} {
		g := tf.NewGraph()
		named(g, map[string]float32{"v": 2})
		saver, err := train.NewSaver(g, train.SaverOptions{MaxToKeep: n})
		if want < 0 {
			if tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("MaxToKeep %d: %v", n, err)
			}
			continue
		}
		if err != nil || saver.Proto().GetMaxToKeep() != want {
			t.Errorf("MaxToKeep %d: %v, %v", n, saver.Proto(), err)
		}
	}
}

// TestSaverDefs: what the program says is in the SaverDef, by which another program saves.
func TestSaverDefs(t *testing.T) {
	g := tf.NewGraph()
	named(g, map[string]float32{"v": 2})
	saver := newSaver(t, g, train.SaverOptions{Sharded: true, MaxToKeep: 7, KeepEveryHours: 2, Name: "mine"})
	p := saver.Proto()
	if !p.GetSharded() || p.GetMaxToKeep() != 7 || p.GetKeepCheckpointEveryNHours() != 2 || p.GetVersion() != pb.SaverDef_V2 ||
		p.GetFilenameTensorName() != "mine/Const:0" || p.GetRestoreOpName() != "mine/restore_all" {
		t.Error(prototext.Format(p))
	}
	again, err := train.SaverFrom(g, p)
	if err != nil || !proto.Equal(again.Proto(), p) {
		t.Error(err)
	}
	for _, lacks := range []func(*pb.SaverDef){func(p *pb.SaverDef) { p.SaveTensorName = "" }, func(p *pb.SaverDef) { p.RestoreOpName = "" }, func(p *pb.SaverDef) { p.RestoreOpName = "none" }} {
		bad := proto.CloneOf(p)
		lacks(bad)
		if _, err := train.SaverFrom(g, bad); err == nil {
			t.Error("this is no saver:", prototext.Format(bad))
		}
	}
}

// TestMetaGraphFiles: as text and binary, of several savers or one, without variables.
func TestMetaGraphFiles(t *testing.T) {
	dir := t.TempDir()
	g := tf.NewGraph()
	named(g, map[string]float32{"v": 2})
	a, b := newSaver(t, g, train.SaverOptions{Name: "a"}), newSaver(t, g, train.SaverOptions{Name: "b"})
	g.AddToCollection(train.Savers, a)
	g.AddToCollection(train.Savers, b)
	for name, c := range map[string]struct {
		o      train.ExportOptions
		savers int
	}{"binary": {train.ExportOptions{}, 2}, "text": {train.ExportOptions{AsText: true}, 2}, "one": {train.ExportOptions{OnlySaver: true}, 0}} {
		file := filepath.Join(dir, name)
		if err := a.ExportMetaGraph(file, c.o); err != nil {
			t.Fatal(err)
		}
		into := tf.NewGraph()
		saver, err := train.ImportMetaGraph(into, file, tf.ImportOptions{})
		if err != nil || len(into.Collection(train.Savers)) != c.savers || saver.Proto().GetRestoreOpName() != "a/restore_all" {
			t.Error(name, err, into.Collection(train.Savers))
		}
	}
	none := tf.NewGraph()
	ops.Const(none, []int32{1})
	if err := train.ExportMetaGraph(none, filepath.Join(dir, "none"), nil); err != nil {
		t.Fatal(err)
	}
	if saver, err := train.ImportMetaGraph(tf.NewGraph(), filepath.Join(dir, "none"), tf.ImportOptions{Prefix: "scope/"}); saver != nil || err != nil {
		t.Error(saver, err)
	}
	if _, err := train.ImportMetaGraph(tf.NewGraph(), filepath.Join(dir, "absent"), tf.ImportOptions{}); !says(err, tf.NotFound) {
		t.Error(err)
	}
	if err := writeText(filepath.Join(dir, "wrong"), "neither text nor binary"); err != nil {
		t.Fatal(err)
	}
	if _, err := train.ImportMetaGraph(tf.NewGraph(), filepath.Join(dir, "wrong"), tf.ImportOptions{}); !says(err, tf.InvalidArgument, "must be in binary or text format") {
		t.Error(err)
	}
}

// TestWriteGraph writes text, in directories that it makes.
func TestWriteGraph(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "l1", "l2", "l3")
	g := tf.NewGraph()
	named(g, map[string]float32{"v": 2})
	if err := train.WriteGraph(g, dir, "graph.pbtxt"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "graph.pbtxt"))
	def := &pb.GraphDef{}
	if err == nil {
		err = prototext.Unmarshal(text, def)
	}
	if err != nil || len(def.GetNode()) != len(g.Operations()) {
		t.Error(err, len(def.GetNode()))
	}
}
