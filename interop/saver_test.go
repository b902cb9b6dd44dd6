package interop

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"

	_ "github.com/gorge-tf/gorge/tf/ops/all"
)

// savedTypes are the types of testdata/saver.py, and whether TensorFlow's older
// format has them.
var savedTypes = []tf.DType{tf.Float32, tf.Float64, tf.Int32, tf.Uint8, tf.Int16, tf.Int8, tf.Int64, tf.Bool, tf.Complex64, tf.Complex128,
	tf.Uint16, tf.Uint32, tf.Uint64, tf.Float16, tf.BFloat16, tf.String}

var saverWays = []struct {
	name string
	o    train.SaverOptions
}{{"plain", train.SaverOptions{}}, {"sharded", train.SaverOptions{Sharded: true}}, {"old", train.SaverOptions{V1: true}}}

// savedValues are three values of a type that begin with k.
func savedValues(t *testing.T, d tf.DType, k int) *tf.Tensor {
	t.Helper()
	var x *tf.Tensor
	var err error
	switch d {
	case tf.String:
		x, err = tf.FromSlice([]string{strings.Repeat("a", k), strings.Repeat("a", k+1), strings.Repeat("a", k+2)})
	case tf.Bool:
		x, err = tf.FromSlice([]bool{k%2 == 0, k%2 == 1, k%2 == 0})
	default:
		x, err = tf.NewTensor(d, tf.Shape{3})
		for i := range 3 {
			n := d.Size()
			at := (*core.Tensor)(x).Buffer().Bytes()[i*n : (i+1)*n]
			if v, e := core.ScalarOf(d, float64(k+i)); e == nil {
				copy(at, v.Buffer().Bytes())
			} else {
				at[0] = byte(k + i) // an integer, little endian
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// savedModel makes the variables of testdata/saver.py.
func savedModel(t *testing.T, k int, types []tf.DType) *tf.Graph {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	for i, d := range types {
		x := savedValues(t, d, k)
		name := strings.ToLower(d.String())
		g.Device(fmt.Sprintf("/device:CPU:%d", i%2), func() {
			c := ops.ConstValue(g, (*core.Tensor)(x))
			tf.NewVariable(c, tf.VariableOptions{Name: "v_" + name, Reference: i%2 == 0})
			first := ops.Reshape(ops.Slice(c, []int{0}, []int{1}), []int{})
			tf.NewVariable(first, tf.VariableOptions{Name: "s_" + name})
		})
	}
	tf.NewVariable(ops.Const(g, []float32{}, 0, 3), tf.VariableOptions{Name: "empty"})
	fill := func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		return ops.Fill(ops.Const(g, []int32{int32(s[0]), int32(s[1])}), ops.Scalar(g, float32(k)))
	}
	vars.Scope(g, "", vars.ScopeOptions{Partitioner: vars.FixedSize(2+k%2, k%2)}, func() {
		vars.GetPartitioned(g, "sliced", tf.Shape{5, 4}, vars.Options{Initializer: fill})
	})
	return g
}

func typesOf(way string) []tf.DType {
	if way == "old" {
		return slices.DeleteFunc(slices.Clone(savedTypes), func(d tf.DType) bool { return d == tf.Uint32 || d == tf.Uint64 || d == tf.BFloat16 })
	}
	return savedTypes
}

func newSavedSession(t *testing.T, g *tf.Graph) *session.Session {
	t.Helper()
	s, err := session.New(g, session.Devices("CPU", 2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestSavers restores here what TensorFlow's Saver saved and there what ours
// did, and lets Python drive the savers of our MetaGraphs.
func TestSavers(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	script(t, "saver.py", "save", dir)
	for _, way := range saverWays {
		restoreSaved(t, filepath.Join(dir, way.name+"-7"), way.o, 1, typesOf(way.name))
	}
	ours := t.TempDir()
	for _, way := range saverWays {
		g := savedModel(t, 2, typesOf(way.name))
		saver, err := train.NewSaver(g, way.o)
		if err != nil {
			t.Fatal(err)
		}
		init := tf.InitializeAll(g)
		s := newSavedSession(t, g)
		if _, err := s.Run(t.Context(), nil, init); err != nil {
			t.Fatal(err)
		}
		for range 2 { // over itself: under another number of shards
			if _, err := saver.SaveStep(t.Context(), s, filepath.Join(ours, way.name), 7); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := script(t, "saver.py", "restore", ours)
	if last := out[len(out)-1]; last != filepath.Join(ours, "old-7") {
		t.Errorf("TensorFlow's latest checkpoint is %q", last)
	}
	t.Log(out)
	script(t, "saver.py", "drive", ours)
	for _, way := range saverWays {
		restoreSaved(t, filepath.Join(ours, "again_"+way.name+"-8"), way.o, 2, typesOf(way.name))
	}
}

// restoreSaved restores a checkpoint of values that begin with k.
func restoreSaved(t *testing.T, path string, o train.SaverOptions, k int, types []tf.DType) {
	t.Helper()
	g := savedModel(t, k+5, types)
	saver, err := train.NewSaver(g, o)
	if err != nil {
		t.Fatal(err)
	}
	s := newSavedSession(t, g)
	if err := saver.Restore(t.Context(), s, path); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		got, err := s.Run(t.Context(), nil, v.Value())
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(v.Name(), "_")
		want := savedValues(t, v.DType(), k).String()
		switch {
		case kind == "v" && got[0].String() != want:
			t.Errorf("%s: %s is %v, want %s", path, v.Name(), got[0], want)
		case kind == "s" && fmt.Sprint(got[0].At(0)) != fmt.Sprint(savedValues(t, v.DType(), k).At(0)):
			t.Errorf("%s: %s is %v", path, v.Name(), got[0])
		case v.Slice() != nil && slices.ContainsFunc(tf.Data[float32](got[0]), func(x float32) bool { return x != float32(k) }):
			t.Errorf("%s: %s is %v", path, v.Name(), got[0])
		}
	}
}

// TestSaverNodes compares the operations of savers with TensorFlow's.
func TestSaverNodes(t *testing.T) {
	needTensorFlow(t)
	want := strings.Split(strings.Join(script(t, "saver.py", "nodes"), "\n"), "\n-")
	for i, o := range []train.SaverOptions{{}, {Sharded: true}} {
		g := tf.NewGraph(tf.Strict())
		g.Device("/job:ps/task:1", func() {
			tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "b"})
		})
		g.Device("/job:ps/task:0", func() {
			tf.NewVariable(ops.Const(g, make([]float32, 6), 2, 3), tf.VariableOptions{Name: "a", Reference: true})
		})
		before := len(g.Operations())
		saver, err := train.NewSaver(g, o)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, op := range g.Operations()[before:] {
			p, err := op.NodeProto()
			if err != nil {
				t.Fatal(err)
			}
			in := slices.Sorted(slices.Values(p.GetInput()))
			kind := op.OpName()
			if kind == "EnsureShape" {
				kind = "Identity" // ours checks the shape as well
			}
			for i := range in {
				in[i] = "'" + in[i] + "'"
			}
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s [%s] %s", op.Name, kind, strings.Join(in, ", "), op.Device)))
		}
		slices.Sort(lines)
		def := saver.Proto()
		got := append([]string{def.GetFilenameTensorName() + " " + def.GetSaveTensorName() + " " + def.GetRestoreOpName()}, lines...)
		theirs := strings.Split(strings.TrimSpace(want[i]), "\n")
		for j := range theirs {
			theirs[j] = strings.TrimSpace(theirs[j])
		}
		slices.Sort(theirs[1:])
		for j := range max(len(got), len(theirs)) {
			if j >= len(got) || j >= len(theirs) || got[j] != theirs[j] {
				t.Errorf("saver %d, line %d:\n got %s\nwant %s", i, j, strings.Join(got[min(j, len(got)):], "\n     "), strings.Join(theirs[min(j, len(theirs)):], "\n     "))
				break
			}
		}
	}
}
