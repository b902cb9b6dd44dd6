package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// saveLoop saves again and again until it is killed: the number of a save is the
// value of all its tensors.
func saveLoop(dir, mode string) error {
	last := 0
	if v, err := checkSave(filepath.Join(dir, "m"), 0); err == nil {
		last = v
	}
	for i := last + 1; ; i++ {
		prefix := filepath.Join(dir, "m")
		if mode == "new" {
			prefix = fmt.Sprintf("%s-%d", prefix, i)
		}
		if err := saveNumber(prefix, i, mode == "merged"); err != nil {
			return err
		}
		if mode == "new" {
			if err := WriteFile(filepath.Join(dir, "latest"), []byte(prefix)); err != nil {
				return err
			}
			if err := Remove(fmt.Sprintf("%s-%d", filepath.Join(dir, "m"), i-2)); err != nil {
				return err
			}
		}
		fmt.Println(i)
	}
}

// saveNumber saves two tensors, merged from two bundles if that is asked for.
func saveNumber(prefix string, i int, merged bool) error {
	parts := []string{prefix}
	if merged {
		parts = []string{prefix + "_temp/a", prefix + "_temp/b"}
	}
	for k := range 2 {
		w, err := Create(parts[k%len(parts)])
		if err != nil {
			return err
		}
		t := core.NewTensor(core.Int64, core.Shape{5000})
		for j := range core.Data[int64](t) {
			core.Data[int64](t)[j] = int64(i)
		}
		if err := w.Add(strconv.Itoa(k), t); err != nil {
			return err
		}
		if !merged {
			if err := w.Add("1", t); err != nil {
				return err
			}
		}
		if err := w.Finish(); err != nil {
			return err
		}
		if !merged {
			return nil
		}
	}
	if err := Merge(parts, prefix, false); err != nil {
		return err
	}
	return os.RemoveAll(prefix + "_temp")
}

// checkSave returns the number of the save of a prefix, which must be at least
// that, and whole.
func checkSave(prefix string, least int) (int, error) {
	r, err := Open(prefix)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	number := -1
	for _, key := range []string{"0", "1"} {
		t, err := r.Lookup(key)
		if err != nil {
			return 0, err
		}
		for _, v := range core.Data[int64](t) {
			if number < 0 {
				number = int(v)
			}
			if int(v) != number || number < least {
				return 0, fmt.Errorf("%d in save %d, at least %d", v, number, least)
			}
		}
	}
	return number, nil
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("GORGE_SAVE_LOOP"); dir != "" {
		fmt.Fprintln(os.Stderr, saveLoop(dir, os.Getenv("GORGE_SAVE_MODE")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestKilled kills a process that saves at random moments: what it last said it
// had saved, or something later, is there each time, and when it goes on nothing
// stays behind of the ones before.
func TestKilled(t *testing.T) {
	for _, mode := range []string{"new", "same", "merged"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for range killsOf(14) {
				said := killOne(t, dir, mode)
				prefix := filepath.Join(dir, "m")
				if mode == "new" {
					b, err := os.ReadFile(filepath.Join(dir, "latest"))
					if err != nil {
						t.Fatal(err)
					}
					prefix = string(b)
				}
				if _, err := checkSave(prefix, said); err != nil {
					t.Fatalf("after %d: %v", said, err)
				}
			}
			leftBehind(t, dir, mode)
		})
	}
}

// killsOf is how many processes a test kills: more with GORGE_KILLS.
func killsOf(few int) int {
	if n, err := strconv.Atoi(os.Getenv("GORGE_KILLS")); err == nil {
		return n
	}
	return few
}

// killOne runs the loop, kills it at some moment after its first save and returns the
// last save that it spoke of.
func killOne(t *testing.T, dir, mode string) (said int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GORGE_SAVE_LOOP="+dir, "GORGE_SAVE_MODE="+mode)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewScanner(out); r.Scan(); {
		if said == 0 {
			time.AfterFunc(time.Duration(rand.IntN(40_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
		if said, err = strconv.Atoi(r.Text()); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	if errs.Len() > 0 || said == 0 {
		t.Fatalf("the loop ended after save %d: %s", said, errs.String())
	}
	return said
}

// leftBehind saves once more and looks for what the dead have left.
func leftBehind(t *testing.T, dir, mode string) {
	t.Helper()
	if err := saveNumber(filepath.Join(dir, "m"), 1<<30, mode == "merged"); err != nil {
		t.Fatal(err)
	}
	names, err := readNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.Contains(name, "temp") {
			t.Error("left behind:", name)
		}
	}
	data, err := dataFiles(filepath.Join(dir, "m"))
	if err != nil || len(data) != 1 {
		t.Error("data of one save must be left:", data, err)
	}
}

// TestTwoNames: a writer died between the two steps in which data gets its name. The
// next save leaves neither name.
func TestTwoNames(t *testing.T) {
	dir := t.TempDir()
	prefix := filepath.Join(dir, "m")
	if err := saveNumber(prefix, 1, false); err != nil {
		t.Fatal(err)
	}
	data := prefix + ".data-00000-of-00002"
	if err := os.WriteFile(temporary(data), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(data + tempMark + "*")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := os.Link(names[0], data); err != nil {
		t.Skip("a file system without links:", err)
	}
	leftBehind(t, dir, "same")
}

// A faulty disk fails at its n-th operation and all that follow, or at that one
// alone.
type faulty struct {
	disk
	left  int
	once  bool
	calls int
}

type faultyFile struct {
	diskFile
	d *faulty
}

func (d *faulty) fault() error {
	d.calls++
	if d.left--; d.left == -1 || d.left < 0 && !d.once {
		return &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return nil
}

func (d *faulty) create(name string) (diskFile, error) {
	if err := d.fault(); err != nil {
		return nil, err
	}
	f, err := d.disk.create(name)
	if err != nil {
		return nil, err
	}
	return faultyFile{f, d}, nil
}

func (d *faulty) rename(from, to string) error {
	if err := d.fault(); err != nil {
		return err
	}
	return d.disk.rename(from, to)
}

func (d *faulty) link(from, to string) error {
	if err := d.fault(); err != nil {
		return err
	}
	return d.disk.link(from, to)
}

func (f faultyFile) Write(b []byte) (int, error) {
	if err := f.d.fault(); err != nil {
		n, _ := f.diskFile.Write(b[:len(b)/2])
		return n, err
	}
	return f.diskFile.Write(b)
}

func (f faultyFile) Sync() error {
	if err := f.d.fault(); err != nil {
		return err
	}
	return f.diskFile.Sync()
}

// TestFaults lets each operation of a save fail in turn: the save before stays,
// whole, and nothing but it.
func TestFaults(t *testing.T) {
	defer func() { storage = osDisk{} }()
	for _, merged := range []bool{false, true} {
		for _, once := range []bool{false, true} {
			for n := 0; ; n++ {
				storage = osDisk{}
				dir := t.TempDir()
				prefix := filepath.Join(dir, "m")
				if err := saveNumber(prefix, 1, merged); err != nil {
					t.Fatal(err)
				}
				d := &faulty{disk: osDisk{}, left: n, once: once}
				storage = d
				err := saveNumber(prefix, 2, merged)
				if err == nil && d.calls <= n {
					break
				}
				if err != nil && (core.CodeOf(err) != core.ResourceExhausted || !strings.Contains(err.Error(), "No space left")) {
					t.Errorf("operation %d: %v", n, err)
				}
				storage = osDisk{}
				if v, e := checkSave(prefix, 1); e != nil || (v == 2) != (err == nil) {
					t.Errorf("operation %d: %v; then save %d, %v", n, err, v, e)
				}
				if names, _ := readNames(dir); len(slices.DeleteFunc(names, isTemporary)) > len(names) || slices.ContainsFunc(names, isTemporary) {
					t.Errorf("operation %d left %v", n, names)
				}
			}
		}
	}
}

// TestReadOnly: the error says what the system says.
func TestReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		storage = &denied{osDisk{}}
		defer func() { storage = osDisk{} }()
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	fails(t, saveNumber(filepath.Join(dir, "m"), 1, false), core.PermissionDenied, "Permission denied")
}

// denied is a disk on which nothing can be made: for root all directories can
// be written to.
type denied struct{ disk }

func (d *denied) create(name string) (diskFile, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// TestTruncatedAndFlipped damages a save at each of many places: reading it gives
// an error or what was saved.
func TestTruncatedAndFlipped(t *testing.T) {
	dir := t.TempDir()
	prefix := filepath.Join(dir, "m")
	if err := saveNumber(prefix, 7, false); err != nil {
		t.Fatal(err)
	}
	names, err := readNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name = filepath.Join(dir, name)
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			at := rand.IntN(len(whole))
			damaged := slices.Clone(whole[:at])
			if rand.IntN(2) == 0 {
				damaged = slices.Clone(whole)
				damaged[at] ^= 1 << rand.IntN(8)
			}
			if err := os.WriteFile(name, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := checkSave(prefix, 7); err != nil && core.CodeOf(err) == core.Unknown && !errors.Is(err, errDisk) {
				t.Errorf("%s, %d: %v", name, at, err)
			}
		}
		if err := os.WriteFile(name, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
