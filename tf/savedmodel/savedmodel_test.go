package savedmodel_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// look runs the model of words on two words.
func look(t *testing.T, m *savedmodel.Model, in map[string]any) []float32 {
	t.Helper()
	out, err := m.Signature("serving_default").Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	y, err := savedmodel.Values[float32](out, "y")
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// TestSaveAndLoad loads what was saved, and what was saved again.
func TestSaveAndLoad(t *testing.T) {
	dir := saved(t)
	m := load(t, dir)
	again := filepath.Join(t.TempDir(), "again")
	if err := m.Resave(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil { // what was saved again stands alone
		t.Fatal(err)
	}
	for _, m := range []*savedmodel.Model{m, load(t, again)} {
		if got, want := m.Signatures(), []string{"count", "serving_default"}; !slices.Equal(got, want) {
			t.Errorf("signatures %q, want %q", got, want)
		}
		if got, want := look(t, m, map[string]any{"x": []string{"one", "two"}}), []float32{6.5, 20.25, 40.5, 60.25}; !slices.Equal(got, want) {
			t.Errorf("with the default: %v, want %v", got, want)
		}
		if got, want := look(t, m, map[string]any{"x": []string{"none"}, "k": float32(1)}), []float32{1.5, 2.25}; !slices.Equal(got, want) {
			t.Errorf("without: %v, want %v", got, want)
		}
	}
}

// TestState counts the runs of a signature from many goroutines.
func TestState(t *testing.T) {
	m := load(t, saved(t))
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			for range 10 {
				if _, errs[i] = m.Signature("count").Run(t.Context(), nil); errs[i] != nil {
					return
				}
				if _, errs[i] = m.Signature("serving_default").Run(t.Context(), map[string]any{"x": []string{"one"}}, "ids"); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := m.Signature("count").Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := savedmodel.Values[int32](out, "count"); err != nil || n[0] != 81 {
		t.Errorf("count %v, %v, want 81", n, err)
	}
}

func TestRefusesCalls(t *testing.T) {
	m := load(t, saved(t))
	x := []string{"one"}
	for name, c := range map[string]struct {
		signature string
		in        map[string]any
		want      []string
		code      tf.Code
		text      string
	}{
		"signature":  {"other", nil, nil, tf.NotFound, `no signature "other"; it has count, serving_default`},
		"missing":    {"serving_default", map[string]any{"k": float32(1)}, nil, tf.InvalidArgument, `missing: {x}, unknown: {}`},
		"unknown":    {"serving_default", map[string]any{"x": x, "z": 1, "a": 1}, nil, tf.InvalidArgument, `missing: {}, unknown: {a,z}`},
		"type":       {"serving_default", map[string]any{"x": []float32{1}}, nil, tf.InvalidArgument, `signature "serving_default": input "x" must have type string, got float32[1]`},
		"shape":      {"serving_default", map[string]any{"x": [][]string{x}}, nil, tf.InvalidArgument, `input "x" must have shape [?], got [1,1]`},
		"nil":        {"serving_default", map[string]any{"x": nil}, nil, tf.InvalidArgument, `input "x" must have a value`},
		"nil tensor": {"serving_default", map[string]any{"x": (*tf.Tensor)(nil)}, nil, tf.InvalidArgument, `input "x" must have a value`},
		"no tensor":  {"serving_default", map[string]any{"x": struct{}{}}, nil, tf.InvalidArgument, `input "x"`},
		"output":     {"serving_default", map[string]any{"x": x}, []string{"z"}, tf.InvalidArgument, "output tensor alias not found in signature: z Outputs expected to be in the set {ids,y}."},
	} {
		if out, err := m.Signature(c.signature).Run(t.Context(), c.in, c.want...); tf.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, %v, want %v and %q", name, out, err, c.code, c.text)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := m.Signature("serving_default").Run(t.Context(), map[string]any{"x": x}); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("after Close: %v", err)
	}
}

// TestTags saves three MetaGraphs and finds each by its tags.
func TestTags(t *testing.T) {
	first := words(t)
	b := new(savedmodel.Builder).Add(first)
	for _, tags := range [][]string{{"serve", "gpu"}, {}} {
		other := first
		other.Session, other.Graph, other.Tags = nil, first.Session.Graph(), tags
		b.Add(other)
	}
	b.AsText = true
	dir := filepath.Join(t.TempDir(), "model")
	if err := b.Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, tags := range [][]string{nil, {"gpu", "serve"}, {}} {
		m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{Tags: tags})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := look(t, m, map[string]any{"x": []string{"zero"}}), []float32{2.5, 4.25}; !slices.Equal(got, want) {
			t.Errorf("tags %q: %v, want %v", tags, got, want)
		}
		m.Close()
	}
	_, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{Tags: []string{"train"}})
	if tf.CodeOf(err) != tf.NotFound || !strings.Contains(err.Error(), "Could not find meta graph def matching supplied tags: { train }") || !strings.Contains(err.Error(), "{ gpu serve }") {
		t.Errorf("other tags: %v", err)
	}
	assets, err := os.ReadDir(filepath.Join(dir, "assets"))
	if err != nil || len(assets) != 1 {
		t.Errorf("one asset is written once: %v, %v", assets, err)
	}
}

func TestFingerprint(t *testing.T) {
	dir := saved(t)
	f, err := savedmodel.Fingerprint(dir)
	if err != nil || f.GetSavedModelChecksum() == 0 || f.GetGraphDefProgramHash() == 0 || f.GetSignatureDefHash() == 0 || f.GetCheckpointHash() == 0 || f.GetUuid() == "" {
		t.Errorf("fingerprint: %v, %v", f, err)
	}
	if _, err := savedmodel.Fingerprint(t.TempDir()); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("without: %v", err)
	}
}

func TestRefusesToSave(t *testing.T) {
	ok := words(t)
	change := func(f func(mg *savedmodel.MetaGraph)) *savedmodel.Builder {
		mg := ok
		f(&mg)
		return new(savedmodel.Builder).Add(mg)
	}
	g := tf.NewGraph()
	foreign := tf.Group(g, "other")
	for text, b := range map[string]*savedmodel.Builder{
		"must have a MetaGraph":                                  {},
		"must have a session, which has":                         new(savedmodel.Builder).Add(savedmodel.MetaGraph{Graph: g}),
		"MetaGraph 1 must have a session":                        change(func(*savedmodel.MetaGraph) {}).Add(savedmodel.MetaGraph{}),
		"must belong to the graph that is saved, other does not": change(func(mg *savedmodel.MetaGraph) { mg.Init = foreign }),
		"No such file or directory": change(func(mg *savedmodel.MetaGraph) {
			mg.Assets = []savedmodel.Asset{{Tensor: ok.Assets[0].Tensor, File: "/no/such/file"}}
		}),
		"a signature must have an output": change(func(mg *savedmodel.MetaGraph) {
			mg.Signatures = map[string]savedmodel.SignatureSpec{"x": {}}
		}),
		`"outputs" of tensorflow/serving/regress must have type float32`: change(func(mg *savedmodel.MetaGraph) {
			a := ok.Assets[0].Tensor
			mg.Signatures = map[string]savedmodel.SignatureSpec{"x": savedmodel.Regress(a, a)}
		}),
		`the default of "x" must fit`: change(func(mg *savedmodel.MetaGraph) {
			s := ok.Signatures["serving_default"]
			s.Defaults = map[string]*tf.Tensor{"x": tf.Scalar("a")}
			mg.Signatures = map[string]savedmodel.SignatureSpec{"x": s}
		}),
	} {
		parent := t.TempDir()
		if err := b.Save(t.Context(), filepath.Join(parent, "m")); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("%s: %v is left", text, left)
		}
	}
	if err := change(func(*savedmodel.MetaGraph) {}).Save(t.Context(), "."); tf.CodeOf(err) != tf.AlreadyExists {
		t.Errorf("a directory with files: %v", err)
	}
}

// TestDamage cuts and changes each file of a model: that is an error, or it has no
// effect on what is computed; it is never a panic.
func TestDamage(t *testing.T) {
	dir := saved(t)
	want := look(t, load(t, dir), map[string]any{"x": []string{"one"}})
	for _, name := range []string{"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001", "assets/words.txt"} {
		file := filepath.Join(dir, name)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			at := i * len(data) / 40
			flipped := slices.Clone(data)
			flipped[at] ^= 1 << (i % 8)
			for what, bad := range map[string][]byte{"cut": data[:at], "flipped": flipped} {
				if err := os.WriteFile(file, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				damaged(t, dir, fmt.Sprintf("%s %s at %d", name, what, at), want)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if _, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{}); tf.CodeOf(err) != tf.NotFound {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoIndexBesideData: values without the index that says where they are make no model without
// variables, whatever characters the directory's name has.
func TestNoIndexBesideData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "model[1]")
	if err := os.Rename(saved(t), dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "variables/variables.index")); err != nil {
		t.Fatal(err)
	}
	if _, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{}); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("got %v", err)
	}
}

func damaged(t *testing.T, dir, what string, want []float32) {
	t.Helper()
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		if strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	defer m.Close()
	out, err := m.Signature("serving_default").Run(t.Context(), map[string]any{"x": []string{"one"}})
	if err != nil {
		return
	}
	y, err := savedmodel.Values[float32](out, "y")
	if strings.HasPrefix(what, "variables") && (err != nil || !slices.Equal(y, want)) {
		t.Errorf("%s: %v, %v, want an error or %v", what, y, err, want)
	}
}

// TestCancel loads with a context that has ended.
func TestCancel(t *testing.T) {
	dir := saved(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := savedmodel.Load(ctx, dir, savedmodel.Options{}); tf.CodeOf(err) != tf.Canceled {
		t.Errorf("%v, %v", m, err)
	}
}

// TestSpecs looks at what a model says of its inputs.
func TestSpecs(t *testing.T) {
	s := load(t, saved(t)).Signature("serving_default")
	got := map[string]string{}
	for _, spec := range append(s.Inputs(), s.Outputs()...) {
		got[spec.Key] = fmt.Sprint(spec.Name, " ", spec.DType, spec.Shape, " ", spec.Default)
	}
	want := map[string]string{"k": "k:0 float32 [] float32[]{2}", "x": "x:0 string [?] <nil>", "ids": got["ids"], "y": got["y"]}
	if d := cmp.Diff(want, got); d != "" || s.Method() != savedmodel.PredictMethod {
		t.Errorf("%s %s", s.Method(), d)
	}
	if keys := slices.Sorted(maps.Keys(got)); len(keys) != 4 || !strings.HasSuffix(got["y"], "float32 [?,2] <nil>") {
		t.Errorf("%v", got)
	}
}

// TestLargeConstants: constants whose memory is the file's are as they were
// written, also when the graph has to be imported without some of its nodes.
func TestLargeConstants(t *testing.T) {
	const n = 1 << 15
	g := tf.NewGraph()
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i)
	}
	x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	y := ops.Mul(ops.Const(g, data), x)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "m")
	if err := savedmodel.SimpleSave(t.Context(), s, dir, map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y}); err != nil {
		t.Fatal(err)
	}
	for _, odd := range []bool{false, true} {
		mg := renamed(t, dir, func(*pb.NodeDef) {})
		if odd {
			mg.GraphDef.Node = append(mg.GraphDef.Node, &pb.NodeDef{Name: "odd", Op: "MatMul", Input: []string{"x"}})
		}
		m, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			out, err := m.Signature("serving_default").Run(t.Context(), map[string]any{"x": float32(k)})
			if err != nil {
				t.Fatal(err)
			}
			y, err := savedmodel.Values[float32](out, "y")
			if err != nil || len(y) != n || y[n-1] != float32(k*(n-1)) || y[1] != float32(k) {
				t.Errorf("times %d: %v, %v", k, len(y), err)
			}
		}
		m.Close()
	}
}

// TestFromFileSystem loads a model with a table out of a file system that is none of
// the machine's, and leaves no files behind.
func TestFromFileSystem(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	files := fstest.MapFS{}
	dir := saved(t)
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.LoadFS(t.Context(), files, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Signature("serving_default").Run(t.Context(), map[string]any{"x": []string{"two"}})
	if err != nil || out["ids"].At(0) != int64(2) {
		t.Errorf("%v, %v", out, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	delete(files, "saved_model.pb")
	if _, err := savedmodel.LoadFS(t.Context(), files, savedmodel.Options{}); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("without saved_model.pb: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "savedmodel*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
