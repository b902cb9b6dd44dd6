package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/examples/internal/digits"
	"github.com/gorge-tf/gorge/internal/invariants"
)

// output runs the program with the given flags.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatalf("mnist %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

func accuracy(t *testing.T, out string) float64 {
	t.Helper()
	m := regexp.MustCompile(`test accuracy ([0-9.]+) %`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no accuracy in %q", out)
	}
	a, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// losses returns the lines of -losses.
func losses(t *testing.T, args ...string) string {
	t.Helper()
	out := output(t, append(args, "-losses", "-epochs", "1")...)
	lines := regexp.MustCompile(`(?m)^\d+ [-0-9.e+]+$`).FindAllString(out, -1)
	if len(lines) != 80 {
		t.Fatalf("got %d losses, want one for each of 80 steps", len(lines))
	}
	return strings.Join(lines, "\n")
}

func TestAccuracy(t *testing.T) {
	seeds := []string{"1", "2", "3", "4", "5"}
	if invariants.Enabled { // each run is many times slower then
		seeds = seeds[:1]
	}
	for _, seed := range seeds {
		out := output(t, "-seed", seed)
		if a := accuracy(t, out); a < 93 {
			t.Errorf("seed %s: accuracy %v %%, want at least 93", seed, a)
		}
	}
}

// TestConvolutions trains the larger network for half the time, with as many
// seeds as GORGE_SEEDS says.
func TestConvolutions(t *testing.T) {
	if invariants.Enabled {
		t.Skip("computes for minutes with invariants")
	}
	seeds := []string{"1", "2", "3", "4", "5"}
	if n, err := strconv.Atoi(os.Getenv("GORGE_SEEDS")); err != nil || n < len(seeds) {
		seeds = seeds[:max(n, 1)]
	}
	for _, seed := range seeds {
		if a := accuracy(t, output(t, "-model", "cnn", "-epochs", "4", "-seed", seed)); a < 96 {
			t.Errorf("seed %s: accuracy %v %% after four epochs, want at least 96", seed, a)
		}
	}
}

// TestRepeatable: a seed gives the same losses bit for bit, whatever the number
// of threads, and another seed gives others.
func TestRepeatable(t *testing.T) {
	want := losses(t, "-seed", "7")
	for _, n := range []int{1, 2, 4} {
		old := runtime.GOMAXPROCS(n)
		got := losses(t, "-seed", "7")
		runtime.GOMAXPROCS(old)
		if got != want {
			t.Errorf("with GOMAXPROCS %d the losses differ", n)
		}
	}
	if losses(t, "-seed", "8") == want {
		t.Error("another seed gives the same losses")
	}
}

func TestEagerEqualsGraph(t *testing.T) {
	if got, want := losses(t, "-eager"), losses(t); got != want {
		t.Errorf("losses differ: eager\n%s\ngraph\n%s", got, want)
	}
}

// TestFirstRate: the first line of the bar has the rate of the first step.
func TestFirstRate(t *testing.T) {
	var out strings.Builder
	b := newBatcher(&digits.Set{Size: 1, Pixels: make([]float32, 1000), Labels: make([]int32, 1000)}, 50, 1)
	bar(&settings{epochs: 8}, b, &out)(0, 50, 1.5)
	if got := out.String(); !strings.Contains(got, "epoch 1/8") || strings.Contains(got, "(0 examples") {
		t.Errorf("the first line is %q", got)
	}
}

func TestPicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wrong.png")
	out := output(t, "-epochs", "1", "-png", file)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(\d+) mistakes drawn`).FindStringSubmatch(out)
	if m == nil || img.Bounds().Dx() != columns*60 {
		t.Errorf("picture of %v, output %q", img.Bounds(), out)
	}
}

func TestRefusals(t *testing.T) {
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "train-images-idx3-ubyte"), []byte{0, 0, 8, 3, 0, 0, 0, 9}, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-model", "transformer"}, "the model must be mlp"},
		{[]string{"-epochs", "0"}, "must be positive"},
		{[]string{"-eager", "-target", "grpc://127.0.0.1:1"}, "exclude each other"},
		{[]string{"now"}, "only flags are taken"},
		{[]string{"-data", filepath.Join(broken, "nowhere")}, "training set"},
		{[]string{"-data", broken}, "the header ends early"},
		{[]string{"-target", "grpc://127.0.0.1:1", "-timeout", "1s"}, "has not answered in time"},
		{[]string{"-target", "127.0.0.1:1"}, "must be empty or have the form grpc://host:port"},
		{[]string{"-variables", "/job:ps/task"}, "Malformed device specification"},
		{[]string{"-variables", "/job:ps"}, "Cannot assign a device"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), c.args, &out)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("mnist %s: got error %v, want %q", strings.Join(c.args, " "), err, c.want)
		}
	}
}
