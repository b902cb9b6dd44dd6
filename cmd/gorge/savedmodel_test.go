package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense/npy"
)

const digitsModel = "../../examples/predict/model"

// archive writes tensors to an npz file.
func archive(t *testing.T, tensors map[string]*tf.Tensor) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in.npz")
	if err := writeArchive(name, tensors); err != nil {
		t.Fatal(err)
	}
	return name
}

func digit(t *testing.T) *tf.Tensor {
	t.Helper()
	png, err := os.ReadFile("../../examples/predict/digit0.png")
	if err != nil {
		t.Fatal(err)
	}
	image, err := tf.FromSlice([]string{string(png)})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestSavedModelRun(t *testing.T) {
	in, out := archive(t, map[string]*tf.Tensor{"image": digit(t)}), filepath.Join(t.TempDir(), "out.npz")
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"savedmodel", "run", digitsModel, "--inputs=" + in, "--outputs=" + out}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("status %d: %s", code, stderr.String())
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := npy.ReadArchive(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(got) != 2 || got["digit"].At(0) != int64(6) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestSavedModelRefuses: each mistake is one line and a status.
func TestSavedModelRefuses(t *testing.T) {
	good := archive(t, map[string]*tf.Tensor{"image": digit(t)})
	out := "--outputs=" + filepath.Join(t.TempDir(), "out.npz")
	for want, args := range map[string][]string{
		`missing: {image}, unknown: {x}`:                                             {digitsModel, "--inputs=" + archive(t, map[string]*tf.Tensor{"x": digit(t)}), out},
		`run takes --inputs=FILE.npz, with an array for each input: image string[?]`: {digitsModel, out},
		`input "image" must have type string, got float32[]`:                         {digitsModel, "--inputs=" + archive(t, map[string]*tf.Tensor{"image": tf.Scalar[float32](1)}), out},
		`no signature "other"; it has serving_default`:                               {digitsModel, "--signature_def=other", "--inputs=" + good, out},
		`matching supplied tags: { gpu serve }`:                                      {"--tag_set=serve,gpu", digitsModel, "--inputs=" + good, out},
		`Could not find SavedModel .pb or .pbtxt`:                                    {t.TempDir(), "--inputs=" + good, out},
		`/nowhere; No such file or directory`:                                        {"/nowhere"},
		`takes --outputs=FILE.npz`:                                                   {digitsModel, "--inputs=" + good},
		`takes one directory, got []`:                                                {"--inputs=" + good, out},
		`takes one directory, got ["a" "b"]`:                                         {"a", "b", "--inputs=" + good, out},
		`flag provided but not defined: -inptus`:                                     {digitsModel, "--inptus=" + good, out},
		`/none.npz; No such file or directory`:                                       {digitsModel, "--inputs=/none.npz", out},
		`an npz file must be a zip archive`:                                          {digitsModel, "--inputs=savedmodel.go", out},
		`/none/out.npz`:                                                              {digitsModel, "--inputs=" + good, "--outputs=/none/out.npz"},
		`image`:                                                                      {digitsModel, "--inputs=" + archive(t, map[string]*tf.Tensor{"image": words(t)}), out},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"savedmodel", "run"}, args...), &stdout, &stderr)
		if text := stderr.String(); code == 0 || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("status %d, %q, want one line with %q", code, text, want)
		}
	}
}

// TestBenchWithoutInputs: bench names the flag that is missing, too.
func TestBenchWithoutInputs(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"savedmodel", "bench", digitsModel}, &stdout, &stderr)
	if text := stderr.String(); code == 0 || !strings.Contains(text, "bench takes --inputs=FILE.npz, with an array for each input: image string") {
		t.Errorf("status %d, %q", code, text)
	}
}

func words(t *testing.T) *tf.Tensor {
	x, err := tf.FromSlice([]string{"no image"})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSavedModelShow(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"savedmodel", "show", digitsModel}, &stdout, &stderr); code != 0 {
		t.Fatalf("status %d: %s", code, stderr.String())
	}
	for _, want := range []string{"tag_set serve  TensorFlow 2.21.0", "signature_def serving_default", "input image ", "string[?]", "output probability "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
}

// TestSavedModelConverts saves a model again, freezes it, and makes a model of the
// frozen graph: all read the digit.
func TestSavedModelConverts(t *testing.T) {
	dir := t.TempDir()
	in := archive(t, map[string]*tf.Tensor{"image": digit(t)})
	again, graph, thawed := filepath.Join(dir, "again"), filepath.Join(dir, "graph.pb"), filepath.Join(dir, "thawed")
	for _, args := range [][]string{
		{"convert", digitsModel, again},
		{"freeze", again, graph},
		{"convert", graph, thawed, "--inputs=image=serving_default_image:0", "--outputs=digit=StatefulPartitionedCall:0"},
		{"bench", thawed, "--inputs=" + in, "--runs=3", "--clients=2"},
		{"bench", thawed, "--inputs=" + in, "--runs=3", "--clients=2", "--batching"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), append([]string{"savedmodel"}, args...), &stdout, &stderr); code != 0 {
			t.Fatalf("%q: status %d: %s", args, code, stderr.String())
		}
		if args[0] == "bench" && !strings.Contains(stdout.String(), "3 runs by 2: p50 ") {
			t.Errorf("bench prints %q", stdout.String())
		}
	}
	for _, m := range []string{again, thawed} {
		out := filepath.Join(dir, "out.npz")
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), []string{"savedmodel", "run", m, "--inputs=" + in, "--outputs=" + out}, &stdout, &stderr); code != 0 {
			t.Fatalf("%s: status %d: %s", m, code, stderr.String())
		}
		got, err := readArchive(out)
		if err != nil || got["digit"].At(0) != int64(6) {
			t.Errorf("%s: %v, %v", m, got, err)
		}
	}
}

func TestSavedModelRefusesToConvert(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"takes what to read and what to write": {"convert", digitsModel},
		"must be new or empty":                 {"convert", digitsModel, "."},
		"takes --outputs=KEY=TENSOR":           {"convert", digitsModel + "/saved_model.pb", filepath.Join(dir, "a")},
		"must be a GraphDef":                   {"convert", "main.go", filepath.Join(dir, "a"), "--outputs=y=y:0"},
		"must have the form KEY=TENSOR":        {"convert", digitsModel + "/fingerprint.pb", filepath.Join(dir, "a"), "--outputs=a"},
		`must have each key once, got "a"`:     {"convert", digitsModel + "/fingerprint.pb", filepath.Join(dir, "a"), "--outputs=a=a:0,a=b:0"},
		"are for a frozen graph":               {"convert", digitsModel, filepath.Join(dir, "a"), "--outputs=a=a:0"},
		"No such file or directory":            {"convert", "none", filepath.Join(dir, "a")},
		`no signature "x"`:                     {"freeze", digitsModel, filepath.Join(dir, "a"), "--signature_def=x"},
		"runs and clients must be positive":    {"bench", digitsModel, "--runs=0"},
		"must be show, run, convert, freeze":   {"frob"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), append([]string{"savedmodel"}, args...), &stdout, &stderr); code == 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: status %d, %q, want %q", args, code, stderr.String(), want)
		}
	}
}
