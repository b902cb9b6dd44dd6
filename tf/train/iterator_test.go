package train_test

import (
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/data"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// counter is a graph with an iterator over the numbers from 0 to 9, shuffled.
func counter() (g *tf.Graph, start *tf.Operation, next tf.Output, saveable *train.Saveable) {
	g = tf.NewGraph(tf.Strict())
	of := []tf.Option{tf.Attr("output_types", []tf.DType{tf.Int64}), tf.Attr("output_shapes", []tf.Shape{{}})}
	n := func(v int64) tf.Output { return ops.Scalar(g, v) }
	d := tf.Apply(g, "RangeDataset", []tf.Output{n(0), n(10), n(1)}, of...).Output(0)
	d = tf.Apply(g, "ShuffleDataset", []tf.Output{d, n(6), n(1), n(2)}, of...).Output(0)
	it := tf.Apply(g, "IteratorV2", nil, append(of, tf.Attr("shared_name", "it"), tf.Attr("container", ""), tf.Name("it"))...).Output(0)
	start = tf.Apply(g, "MakeIterator", []tf.Output{d, it})
	next = tf.Apply(g, "IteratorGetNext", []tf.Output{it}, of...).Output(0)
	saveable = train.IteratorSaveable(it, 0)
	g.AddToCollection(train.SaveableObjects, saveable)
	return g, start, next, saveable
}

// TestIteratorInCheckpoint: an iterator of a graph goes on where the checkpoint has
// it.
func TestIteratorInCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	take := func(s *session.Session, next tf.Output, n int) (out []int64) {
		for range n {
			got, err := s.Run(t.Context(), nil, next)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, got[0].At(0).(int64))
		}
		return out
	}
	g, start, next, _ := counter()
	saver := newSaver(t, g, train.SaverOptions{})
	s := begin(t, g, false)
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		t.Fatal(err)
	}
	take(s, next, 4)
	if _, err := saver.Save(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
	want := take(s, next, 6)

	g, start, next, _ = counter()
	saver = newSaver(t, g, train.SaverOptions{Sharded: true})
	s = begin(t, g, false)
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		t.Fatal(err)
	}
	if err := saver.Restore(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
	got := take(s, next, 6)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	list, err := train.ListVariables(path)
	if err != nil || len(list) != 1 || list[0].Name != "it_STATE" || list[0].DType != tf.Variant {
		t.Error(list, err)
	}
}

// FuzzCheckpointState: whatever a state file has, it is read or refused.
func FuzzCheckpointState(f *testing.F) {
	f.Add("model_checkpoint_path: \"a\"\nall_model_checkpoint_paths: \"b\"\nall_model_checkpoint_timestamps: 1e300")
	f.Add("model_checkpoint_path: 'x")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		if err := writeText(filepath.Join(dir, "checkpoint"), text); err != nil {
			t.Fatal(err)
		}
		s, err := train.ReadCheckpointState(dir)
		if err != nil && tf.CodeOf(err) != tf.InvalidArgument {
			t.Fatal(err)
		}
		if s == nil || s.Times != nil && len(s.Times) != len(s.All) {
			return
		}
		if err := s.Write(dir, "again"); err != nil {
			if tf.CodeOf(err) == tf.InvalidArgument {
				return
			}
			t.Fatal(err)
		}
		again, err := train.ReadCheckpointState(dir, "again")
		if err != nil || again == nil || again.Latest != s.Latest {
			t.Fatalf("%+v became %+v, %v", s, again, err)
		}
	})
}
