package serving

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/serving/versions"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestMemoryLimit: requests whose tensors do not fit the memory are refused before
// that is taken, by gRPC and by REST, alone and in batches. Others go on.
func TestMemoryLimit(t *testing.T) {
	for _, batching := range []*Batching{nil, {}} {
		s := serve(t, Config{Batching: batching}, models(t, 1))
		before := tf.SetMemoryLimit(usedWithoutGarbage() + 64<<20)
		defer tf.SetMemoryLimit(before)
		// A message of some bytes stands for a tensor of a gibibyte: its last value
		// is repeated.
		small := predict(1)
		small.Inputs["x"].TensorShape.Dim = []*pb.TensorShapeProto_Dim{{Size: 1 << 28}}
		if _, err := s.Predict(t.Context(), small); tf.CodeOf(err) != tf.ResourceExhausted {
			t.Errorf("a tensor that is too large: %v", err)
		}
		body := append(append([]byte(`{"instances": [`), bytes.Repeat([]byte("1,"), 8<<20)...), "1]}"...)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/v1/models/m:predict", bytes.NewReader(body)))
		if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "error") {
			t.Errorf("a body that is too large: %d %.200s", w.Code, w.Body)
		}
		if _, err := s.Predict(t.Context(), predict(1)); err != nil {
			t.Errorf("a small one after them: %v", err)
		}
		tf.SetMemoryLimit(before)
	}
}

// usedWithoutGarbage returns how much memory is used when the garbage of other tests has
// been collected.
func usedWithoutGarbage() int64 {
	used, _ := tf.MemoryUsage()
	for same := 0; same < 3; {
		runtime.GC()
		time.Sleep(5 * time.Millisecond) // what is done with garbage follows its collection
		now, _ := tf.MemoryUsage()
		if same++; now < used {
			used, same = now, 0
		}
	}
	return used
}

// TestDataComeLast copies the files of a version in an order in which each of them makes
// the version look complete before it is. It is loaded when the last one is there.
func TestDataComeLast(t *testing.T) {
	dir := t.TempDir()
	s, err := New(Config{Models: []Model{{Name: "m", BasePath: dir}}, Poll: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.MkdirAll(filepath.Join(dir, "1", "variables"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"} {
		b, err := os.ReadFile(filepath.Join("testdata/half/1", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "1", name), b, 0o644); err != nil {
			t.Fatal(err)
		}
		s.look()
		settle(t, s)
	}
	if p, err := s.Predict(t.Context(), predict(2)); err != nil {
		t.Errorf("%v, %v", p, err)
	}
}

// settle waits until nothing of model m is being loaded or unloaded.
func settle(t *testing.T, s *Server) {
	t.Helper()
	if err := s.m.Wait(t.Context(), func() bool { return s.m.Idle("m") }); err != nil {
		t.Fatal(err)
	}
}

// TestReplacedWhileLoading replaces the files of a version one by one while it is
// loaded again and again. In the end the server has one of the models, whole.
func TestReplacedWhileLoading(t *testing.T) {
	dir := t.TempDir()
	version := filepath.Join(dir, "1")
	s, err := New(Config{Models: []Model{{Name: "m", BasePath: dir}}, Poll: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 40 {
		if err := os.RemoveAll(version); err != nil {
			t.Fatal(err)
		}
		s.look()
		from := os.DirFS(filepath.Join("testdata/half", []string{"1", "2"}[i%2]))
		copied := make(chan error, 1)
		go func() { copied <- os.CopyFS(version, from) }()
		for more := true; more; {
			select {
			case err := <-copied:
				if err != nil {
					t.Fatal(err)
				}
				more = false
			default:
			}
			s.look()
		}
	}
	for range 2 { // what was being loaded may lack variables that are there now
		settle(t, s)
		s.look()
	}
	settle(t, s)
	if v := s.m.Status("m"); v[0].State != versions.Available {
		t.Fatal(v)
	}
	p, err := s.Predict(t.Context(), predict(2))
	if y := p.GetOutputs()["y"].GetFloatVal(); err != nil || y[0] != 2 && y[0] != 3 {
		t.Errorf("%v, %v", p, err)
	}
}
