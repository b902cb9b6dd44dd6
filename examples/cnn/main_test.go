package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/train"
)

// TestMain lets the test's own binary be the runs that are killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-dir=") {
		main()
		return
	}
	os.Exit(m.Run())
}

// printed returns what a run printed of each step; of what is printed twice, the
// last.
func printed(lines []string) map[string]string {
	out := map[string]string{}
	for _, line := range lines {
		if f := strings.Fields(line); len(f) == 4 && f[0] == "step" {
			out[f[1]] = f[3]
		}
	}
	return out
}

// TestKilled kills runs at random steps, some of which write checkpoints beside
// training. Each goes on where the last checkpoint is,
// and all steps together are those of a run that was not killed.
func TestKilled(t *testing.T) {
	const steps, kills = 60, 10
	args := []string{"-steps=60", "-save=7", "-batch=20", "-quiet"}
	var whole strings.Builder
	if err := run(t.Context(), append([]string{"-dir=" + t.TempDir()}, args...), &whole); err != nil {
		t.Fatal(err)
	}
	want := printed(strings.Split(whole.String(), "\n"))
	if len(want) != steps {
		t.Fatalf("%d steps, want %d", len(want), steps)
	}
	dir := filepath.Join(t.TempDir(), "model")
	got := map[string]string{}
	for k := range kills + 1 {
		stopAfter := 4 + rand.IntN(14)
		if k == kills {
			stopAfter = -1
		}
		own := append([]string{"-dir=" + dir, fmt.Sprint("-async=", k%2 == 1)}, args...)
		for step, loss := range printed(begin(t, own, stopAfter)) {
			if want[step] != loss {
				t.Errorf("run %d, step %s: loss %s, want %s", k, step, loss, want[step])
			}
			got[step] = loss
		}
	}
	if len(got) != steps {
		t.Errorf("%d steps, want %d", len(got), steps)
	}
	if again := printed(begin(t, append([]string{"-dir=" + dir}, args...), -1)); len(again) > 0 {
		t.Errorf("a run that was complete trained on: %v", again)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*temp*"))
	if err != nil || len(left) > 0 {
		t.Error("left behind:", left, err)
	}
	if path, err := train.LatestCheckpoint(dir); err != nil || filepath.Base(path) != "model.ckpt-60" {
		t.Error(path, err)
	}
}

// begin starts a run, kills it after it has printed stopAfter lines, and returns
// what it printed.
func begin(t *testing.T, args []string, stopAfter int) (lines []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewScanner(out); r.Scan(); {
		if lines = append(lines, r.Text()); len(lines) == stopAfter {
			cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); stopAfter < 0 && err != nil || errs.Len() > 0 {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return lines
}

// TestLearns also finds event files.
func TestLearns(t *testing.T) {
	var out strings.Builder
	s := &settings{dir: t.TempDir(), steps: 150, saves: 100, batch: 50}
	share, err := learn(t.Context(), s, &out)
	if err != nil || share < 0.85 {
		t.Errorf("test accuracy %v, %v", share, err)
	}
	if files, err := filepath.Glob(filepath.Join(s.dir, "events.out.tfevents.*")); err != nil || len(files) != 1 {
		t.Error(files, err)
	}
}
