package summary_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/summary"
)

// readEvents reads a file.
func readEvents(t *testing.T, name string) (out []*pb.Event) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := record.NewReader(f)
	for {
		b, err := r.Next()
		if err != nil {
			return out
		}
		e := &pb.Event{}
		if err := proto.Unmarshal(b, e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
}

// TestFileWriter: goroutines add more than the queue holds, and all of it is in
// the file when the writer is closed.
func TestFileWriter(t *testing.T) {
	w, err := summary.NewFileWriter(t.TempDir(), summary.FileWriterOptions{MaxQueue: 2, Suffix: ".x"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 100 {
				if err := w.Scalar(int64(i), "tag", float32(k)); err != nil {
					t.Error(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(readEvents(t, w.Name())); n != 401 || !strings.HasSuffix(w.Name(), ".x") {
		t.Errorf("%d events after a flush, want 401", n)
	}
	first := w.Name()
	if err := w.SessionLog(7, &pb.SessionLog{Status: pb.SessionLog_STOP}); err != nil {
		t.Error(err)
	}
	meta := &pb.RunMetadata{}
	if err := w.RunMetadata(7, "step", meta); err != nil {
		t.Error(err)
	}
	if err := w.RunMetadata(8, "step", meta); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "The provided tag was already used for this event type") {
		t.Error(err)
	}
	if err := w.HParams(map[string]any{"rate": 0.1, "layers": 3, "name": "x", "deep": true}, ""); err != nil {
		t.Error(err)
	}
	if err := w.HParams(map[string]any{"rate": []int{1}}, ""); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if err := w.EndHParams(true); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil || w.Close() != nil {
		t.Error(err)
	}
	if n := len(readEvents(t, first)); n != 405 {
		t.Errorf("%d events after the end, want 405", n)
	}
	if err := w.Scalar(1, "t", 1); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Error(err)
	}
	if err := w.Reopen(); err != nil || w.Name() == first {
		t.Error(w.Name(), err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestShared: the last user of a shared writer closes it.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	a, releaseA, err := summary.Shared(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, releaseB, err := summary.Shared(dir + "/")
	if err != nil || a != b {
		t.Fatal(err)
	}
	first, again := releaseA(), releaseA()
	if first != nil || again != nil || b.Scalar(1, "x", 1) != nil {
		t.Error("the writer must stay open")
	}
	if err := releaseB(); err != nil || b.Scalar(1, "x", 1) == nil {
		t.Error("the writer must be closed:", err)
	}
}

// TestSharedByAnyName: a directory has one writer, whichever way it is named.
func TestSharedByAnyName(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(filepath.Dir(dir))
	a, release, err := summary.Shared(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, name := range []string{"file://" + dir, "file://localhost" + dir, filepath.Base(dir), "./" + filepath.Base(dir)} {
		b, release, err := summary.Shared(name)
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Errorf("%s has a writer of its own", name)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
}

// TestProjector writes what TensorBoard reads.
func TestProjector(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	p := summary.Projector{Embeddings: []summary.Embedding{{TensorName: "e:0", MetadataPath: "labels.tsv", SpriteImagePath: "s.png", SpriteSize: [2]int{28, 28}}}}
	if err := p.Write(dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "projector_config.pbtxt"))
	want := "embeddings {\n  tensor_name: \"e:0\"\n  metadata_path: \"labels.tsv\"\n  sprite {\n    image_path: \"s.png\"\n    single_image_dim: 28\n    single_image_dim: 28\n  }\n}\n"
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}

// TestSharedAgain: who asks for a writer that another user has closed gets an open one.
func TestSharedAgain(t *testing.T) {
	dir := t.TempDir()
	a, releaseA, err := summary.Shared(dir)
	if err != nil || a.Close() != nil {
		t.Fatal(err)
	}
	b, releaseB, err := summary.Shared(dir)
	if err != nil || b.Scalar(1, "x", 1) != nil {
		t.Error("the writer must be open:", err)
	}
	if a, b := releaseA(), releaseB(); a != nil || b != nil {
		t.Error(a, b)
	}
	if n := len(readEvents(t, b.Name())); n != 2 {
		t.Errorf("%d events in the last file, want 2", n)
	}
}

// TestNothingIsRefused: a graph or an event that is missing is a mistake, no panic.
func TestNothingIsRefused(t *testing.T) {
	w, err := summary.NewFileWriter(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"graph": w.Graph(nil), "event": w.Event(nil)} {
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if events := readEvents(t, w.Name()); len(events) != 1 {
		t.Errorf("the file has %d events, want its version alone", len(events))
	}
}
