package endurance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
)

// A damage is done to the files of a checkpoint, whose name without ending is prefix.
type damage struct {
	name string
	do   func(r *rand.Rand, prefix string) error
	also []tf.Code // codes of errors beside those of damaged files
}

// indexOf and shardOf return files of a checkpoint.
func indexOf(prefix string) string        { return prefix + ".index" }
func shardOf(prefix string, i int) string { return fmt.Sprintf("%s.data-%05d-of-00002", prefix, i) }

// either returns one of the files.
func either(r *rand.Rand, prefix string) string {
	return []string{indexOf(prefix), shardOf(prefix, 0), shardOf(prefix, 1)}[r.IntN(3)]
}

// edited changes the bytes of a file.
func edited(file string, change func([]byte)) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	change(b)
	return os.WriteFile(file, b, 0o644)
}

// replaced puts something else in the place of a file.
func replaced(file string, put func() error) error {
	if err := os.Remove(file); err != nil {
		return err
	}
	return put()
}

// damages are what happens to files, and what the server may say of it beside
// DATA_LOSS, OUT_OF_RANGE and NOT_FOUND.
var damages = []damage{
	{"cut", func(r *rand.Rand, prefix string) error {
		file := either(r, prefix)
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		return os.Truncate(file, r.Int64N(info.Size()))
	}, nil},
	{"bits flipped", func(r *rand.Rand, prefix string) error {
		return edited(either(r, prefix), func(b []byte) {
			for range 1 + r.IntN(4) {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
		})
	}, []tf.Code{tf.InvalidArgument, tf.Unimplemented}},
	{"a piece overwritten", func(r *rand.Rand, prefix string) error {
		return edited(either(r, prefix), func(b []byte) {
			from := r.IntN(len(b))
			for i := range min(1+r.IntN(200), len(b)-from) {
				b[from+i] = byte(r.Uint32())
			}
		})
	}, []tf.Code{tf.InvalidArgument, tf.Unimplemented}},
	{"shards exchanged", func(_ *rand.Rand, prefix string) error {
		return errors.Join(os.Rename(shardOf(prefix, 0), prefix+".x"), os.Rename(shardOf(prefix, 1), shardOf(prefix, 0)), os.Rename(prefix+".x", shardOf(prefix, 1)))
	}, nil},
	{"an index of a terabyte", func(_ *rand.Rand, prefix string) error { return os.Truncate(indexOf(prefix), 1<<40) }, []tf.Code{tf.ResourceExhausted}},
	{"an index without end", func(_ *rand.Rand, prefix string) error {
		return replaced(indexOf(prefix), func() error { return os.Symlink("/dev/zero", indexOf(prefix)) })
	}, []tf.Code{tf.FailedPrecondition}},
	{"a pipe", func(r *rand.Rand, prefix string) error {
		file := either(r, prefix)
		return replaced(file, func() error { return syscall.Mkfifo(file, 0o644) })
	}, []tf.Code{tf.FailedPrecondition}},
	{"a directory", func(r *rand.Rand, prefix string) error {
		file := either(r, prefix)
		return replaced(file, func() error { return os.Mkdir(file, 0o755) })
	}, []tf.Code{tf.FailedPrecondition}},
	{"a link to itself", func(r *rand.Rand, prefix string) error {
		file := either(r, prefix)
		return replaced(file, func() error { return os.Symlink(file, file) })
	}, []tf.Code{tf.Unknown}},
	{"a file of zeros", func(r *rand.Rand, prefix string) error {
		return edited(either(r, prefix), func(b []byte) { clear(b) })
	}, nil},
}

// A reader is a client that restores.
type reader struct {
	session *session.Session
	prefix  tf.Output
	values  []tf.Output // of a, of b, of a again with another type, and as a slice of another shape
}

var saved = map[string]int{"a": 1000, "b": 50_000} // elements

// newReader returns a client whose tensors are restored by the parameter server.
func newReader(t *testing.T, target string) *reader {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	c := &reader{prefix: ops.Placeholder(g, tf.String, tf.Shape{})}
	for _, v := range []struct {
		name, slice string
		dtype       tf.DType
	}{{"a", "", tf.Float32}, {"b", "", tf.Int64}, {"a", "", tf.Int64}, {"b", "70000 0,70000", tf.Int64}} {
		names, parts := ops.Const(g, []string{v.name}), ops.Const(g, []string{v.slice})
		c.values = append(c.values, checkpoint.RestoreV2(c.prefix, names, parts, []tf.DType{v.dtype}, tf.OnDevice("/job:ps"))...)
	}
	var err error
	if c.session, err = session.New(g, session.Target(target), session.Timeout(limit)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.session.Close() })
	return c
}

// read restores a value.
func (c *reader) read(prefix string, i int) (*tf.Tensor, error) {
	out, err := c.session.Run(context.Background(), session.Feeds{c.prefix: tf.Scalar(prefix)}, c.values[i])
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// writeShards writes a checkpoint of two shards.
func writeShards(t *testing.T, target, prefix string) {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	a, b := make([]float32, saved["a"]), make([]int64, saved["b"])
	for i := range a {
		a[i] = float32(i)
	}
	for i := range b {
		b[i] = int64(i)
	}
	parts := []string{prefix + "_0", prefix + "_1"}
	none := ops.Const(g, []string{""})
	first := checkpoint.SaveV2(ops.Scalar(g, parts[0]), ops.Const(g, []string{"a"}), none, []tf.Output{ops.Const(g, a)}, tf.OnDevice("/job:ps"))
	second := checkpoint.SaveV2(ops.Scalar(g, parts[1]), ops.Const(g, []string{"b"}), none, []tf.Output{ops.Const(g, b)}, tf.OnDevice("/job:ps"))
	merged := checkpoint.MergeV2Checkpoints(ops.Const(g, parts), ops.Scalar(g, prefix), tf.OnDevice("/job:ps"), tf.After(first, second))
	s, err := session.New(g, session.Target(target))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, merged); err != nil {
		t.Fatal(err)
	}
}

// copied copies a checkpoint to a directory of its own and returns its prefix there.
func copied(t *testing.T, prefix string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{indexOf(prefix), shardOf(prefix, 0), shardOf(prefix, 1)} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, filepath.Base(prefix))
}

// whole reports whether a restored value is what was saved.
func whole(x *tf.Tensor, i int) bool {
	if i == 0 {
		v := tf.Data[float32](x)
		for k := range v {
			if v[k] != float32(k) {
				return false
			}
		}
		return len(v) == saved["a"]
	}
	v := tf.Data[int64](x)
	for k := range v {
		if v[k] != int64(k) {
			return false
		}
	}
	return len(v) == saved["b"]
}

// TestDamagedFiles: clients train while another restores from files that are damaged,
// endless, or no files. The tasks live, and steps of the other client fail with an error
// that names the file and the tensor. GORGE_DAMAGES says how many.
func TestDamagedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	c := cluster(t, gorge(t), "--memory_limit=1073741824")
	stop := trainBeside(t, c)
	target := "grpc://" + c.spec["worker"][0]
	good := filepath.Join(t.TempDir(), "good")
	writeShards(t, target, good)
	client := newReader(t, target)
	for i := range 2 {
		if x, err := client.read(good, i); err != nil || !whole(x, i) {
			t.Fatalf("a good checkpoint: %v", err)
		}
	}
	for i := 2; i < 4; i++ {
		if _, err := client.read(good, i); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), good) && !strings.Contains(err.Error(), "ensor") {
			t.Errorf("another type or shape: %v", err)
		}
	}
	r := rand.New(rand.NewPCG(15, 4))
	told := map[string]map[string]int{}
	for n := range number(t, "GORGE_DAMAGES", 60) {
		d := damages[n%len(damages)]
		prefix := copied(t, good)
		if err := d.do(r, prefix); err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		for i := range 2 {
			x, err := client.read(prefix, i)
			said := judge(t, d, prefix, i, x, err)
			if told[d.name] == nil {
				told[d.name] = map[string]int{}
			}
			told[d.name][said]++
		}
	}
	for name, codes := range told {
		t.Logf("%s: %v", name, codes)
	}
	if x, err := client.read(good, 1); err != nil || !whole(x, 1) {
		t.Errorf("a good checkpoint after the others: %v", err)
	}
	stop()
	c.settles()
}

// judge looks at what became of a damaged file and says it in a word.
func judge(t *testing.T, d damage, prefix string, i int, x *tf.Tensor, err error) string {
	t.Helper()
	if err == nil {
		if !whole(x, i) {
			t.Errorf("%s: other values than were saved, and no error", d.name)
		}
		return "whole"
	}
	code := tf.CodeOf(err)
	codes := append([]tf.Code{tf.DataLoss, tf.OutOfRange, tf.NotFound}, d.also...)
	if !slices.Contains(codes, code) && !peered() {
		t.Errorf("%s: %v, want one of %v", d.name, err, codes)
	}
	if !strings.Contains(err.Error(), filepath.Base(filepath.Dir(prefix))) && !strings.Contains(err.Error(), "not found in checkpoint") && code != tf.DeadlineExceeded && !peered() {
		t.Errorf("%s: the error does not name the file: %v", d.name, err)
	}
	return code.String()
}

// peered reports whether the servers are others than ours.
func peered() bool { return os.Getenv("GORGE_PEER") != "" }

// trainBeside lets two clients train. They must make updates until stop is called.
func trainBeside(t *testing.T, c *group) (stop func()) {
	t.Helper()
	clients := []*client{newClient(t, 0, "grpc://"+c.spec["worker"][0]), newClient(t, 1, "grpc://"+c.spec["worker"][1])}
	end := make(chan struct{})
	var running sync.WaitGroup
	for _, k := range clients {
		running.Go(func() { k.run(end) })
	}
	return func() {
		t.Helper()
		goOn(t, clients, fault{})
		close(end)
		running.Wait()
		for _, k := range clients {
			t.Logf("%s: %d updates acknowledged, %d unsure", k.target, k.ledger.acked, k.ledger.unsure)
			if k.ledger.acked == 0 {
				t.Errorf("%s makes no updates", k.target)
			}
		}
	}
}

// TestFilesVanish: a checkpoint is written, read and removed at once.
func TestFilesVanish(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	c := cluster(t, gorge(t))
	stop := trainBeside(t, c)
	target := "grpc://" + c.spec["worker"][0]
	good := filepath.Join(t.TempDir(), "good")
	writeShards(t, target, good)
	prefix := copied(t, good)
	files := []string{indexOf(prefix), shardOf(prefix, 0), shardOf(prefix, 1)}
	end := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		r := rand.New(rand.NewPCG(15, 5))
		for !closed(end) {
			file := files[r.IntN(len(files))]
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			if err := exec.Command("cp", filepath.Join(filepath.Dir(good), filepath.Base(file)), file).Run(); err != nil {
				t.Error(err)
			}
		}
	})
	client := newReader(t, target)
	told := map[string]int{}
	for n := range number(t, "GORGE_DAMAGES", 200) {
		x, err := client.read(prefix, n%2)
		told[judge(t, damage{name: "vanishing"}, prefix, n%2, x, err)]++
	}
	close(end)
	changing.Wait()
	t.Log(told)
	stop()
	c.settles()
}

// TestPipesHoldNoThreads: steps that read pipes without a writer, or write pipes without a
// reader, end with their limits, and leave no thread of the task behind: a process may have ten thousand.
func TestPipesHoldNoThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	c := cluster(t, gorge(t))
	g, ps, dir := tf.NewGraph(tf.Strict()), tf.OnDevice("/job:ps"), t.TempDir()
	pipe := func(name, ending string) string {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path+ending, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	named := func(path string) tf.Output { return ops.Scalar(g, path) }
	lines := io.TextLineReaderV2(g, 0, ps)
	work := queue.FIFOQueueV2(g, []tf.DType{tf.String}, ps)
	_, line := io.ReaderReadV2(lines, work, ps)
	steps := []tf.Fetchable{
		io.ReadFile(named(pipe("read", "")), ps),
		checkpoint.RestoreV2(named(pipe("restored", ".index")), ops.Const(g, []string{"a"}), ops.Const(g, []string{""}), []tf.DType{tf.Float32}, ps)[0],
		ops.ImmutableConst(g, tf.Float32, tf.Shape{1}, pipe("region", ""), ps),
		lookup.InitializeTableFromTextFileV2(lookup.HashTableV2(g, tf.String, tf.Int64, ps), named(pipe("words", "")), lookup.WholeLine, lookup.LineNumber, ps),
		line,
		io.WriteFile(named(pipe("written", "")), named("text"), ps),
		ops.PrintV2(named("text"), ops.PrintV2Opts{OutputStream: "file://" + pipe("log", "")}, ps),
	}
	fill := queue.QueueEnqueueV2(work, []tf.Output{named(pipe("lines", ""))}, ps)
	s, err := session.New(g, session.Target("grpc://"+c.spec["worker"][0]))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := c.tasks[0].uses().threads
	const times = 20
	for range times {
		if _, err := s.Run(t.Context(), nil, fill); err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		for _, step := range steps {
			running.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				if _, err := s.Run(ctx, nil, step); err == nil {
					t.Errorf("%v has done with a pipe that nothing else opens", step)
				}
			})
		}
		running.Wait()
	}
	if now := c.tasks[0].uses().threads; now > before+times {
		t.Errorf("%d threads after %d waits for pipes, %d before", now, times*len(steps), before)
	}
}
