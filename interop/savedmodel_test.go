package interop

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense/npy"
)

// TestSavedModels runs models of many kinds, which TensorFlow has saved, with the
// program that users have, and compares what comes out with TensorFlow's results.
func TestSavedModels(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	names := script(t, "savedmodels.py", dir)
	if len(names) < 18 {
		t.Errorf("%d models only: %q", len(names), names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { runSaved(t, filepath.Join(dir, name)) })
	}
	t.Run("frozen", func(t *testing.T) {
		frozen(t, dir, "v1_simple", "tf2_words", "keras_text", "v1_loops", "tf2_control", "tf2_shards", "keras_cnn", "keras_transformer", "keras_mobilenet", "task_detector", "task_translator")
	})
	t.Run("again", func(t *testing.T) {
		again(t, dir, "v1_builder", "tf2_words", "tf2_state", "tf2_quantized", "keras_text", "keras_objects", "task_words")
	})
}

// frozen lets TensorFlow run graphs that Gorge has frozen.
func frozen(t *testing.T, dir string, names ...string) {
	for _, name := range names {
		d := filepath.Join(dir, name)
		if text, err := exec.CommandContext(t.Context(), gorge, "savedmodel", "freeze", filepath.Join(d, "model"), filepath.Join(d, "frozen.pb")).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, text)
		}
	}
	for i, line := range script(t, "runfrozen.py", append([]string{dir}, names...)...) {
		if off := number(t, line); !(off <= 1e-5) {
			t.Errorf("%s is off by %v", names[i], off)
		}
	}
}

// again runs models that Gorge has saved again, without the files of the first.
func again(t *testing.T, dir string, names ...string) {
	for _, name := range names {
		d := filepath.Join(dir, name)
		to := filepath.Join(d, "again")
		if text, err := exec.CommandContext(t.Context(), gorge, "savedmodel", "convert", tagsOf(t, d), filepath.Join(d, "model"), to).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, text)
		}
		if err := os.RemoveAll(filepath.Join(d, "model")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(to, filepath.Join(d, "model")); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { runSaved(t, d) })
	}
}

// tagsOf returns the flag that chooses the MetaGraph of a model.
func tagsOf(t *testing.T, dir string) string {
	t.Helper()
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(args))[0]
}

func runSaved(t *testing.T, dir string) {
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.npz")
	all := append([]string{"savedmodel", "run", filepath.Join(dir, "model")}, strings.Fields(string(args))...)
	all = append(all, "--inputs="+filepath.Join(dir, "in.npz"), "--outputs="+out)
	if text, err := exec.CommandContext(context.Background(), gorge, all...).CombinedOutput(); err != nil || len(text) > 0 {
		t.Fatalf("%v: %s", err, text)
	}
	compareArchives(t, readNPZ(t, out), readNPZ(t, filepath.Join(dir, "out.npz")))
}

func readNPZ(t *testing.T, name string) map[string]*tf.Tensor {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	m, err := npy.ReadArchive(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func compareArchives(t *testing.T, got, want map[string]*tf.Tensor) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d outputs, want %d", len(got), len(want))
	}
	for k, w := range want {
		if err := sameTensor(got[k], w); err != nil {
			t.Errorf("output %s: %v", k, err)
		}
	}
}

// sameTensor compares to 1e-5, absolute or relative, or to what two bytes can
// tell.
func sameTensor(got, want *tf.Tensor) error {
	if got == nil || got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	limit := 1e-5
	if d := want.DType(); d == tf.Float16 || d == tf.BFloat16 {
		limit = 1e-2
	}
	for i := range want.Len() {
		g, gok := floatValue(got.At(i))
		w, wok := floatValue(want.At(i))
		same := got.At(i) == want.At(i)
		if gok && wok && w == w {
			same = math.Abs(g-w) <= limit*max(1, math.Abs(w))
		}
		if !same {
			return fmt.Errorf("element %d is %v, want %v", i, got.At(i), want.At(i))
		}
	}
	return nil
}

func floatValue(v any) (float64, bool) {
	switch x := v.(type) {
	case float32:
		return float64(x), true
	case float64:
		return x, true
	case interface{ Float32() float32 }:
		return float64(x.Float32()), true
	}
	return 0, false
}
