package endurance

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	_ "github.com/gorge-tf/gorge/tf/ops/data" // TensorDataset, DatasetToTFRecord
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/session"
)

// smallDisk returns a directory that is a file system of one megabyte.
func smallDisk(t *testing.T) string {
	if os.Geteuid() != 0 {
		t.Skip("file systems need root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A saver is a client whose saves the parameter server does.
type saver struct {
	t          *testing.T
	s          *session.Session
	value      tf.Output // what is saved
	save       *tf.Operation
	restore    tf.Output
	otherSteps map[string]*tf.Operation // that write much, by the pattern of their files
}

func newSaver(t *testing.T, target, dir string) *saver {
	g, ps := tf.NewGraph(tf.Strict()), tf.OnDevice("/job:ps")
	path := func(name string) tf.Output { return ops.Scalar(g, filepath.Join(dir, name)) }
	names, none := ops.Const(g, []string{"a"}), ops.Const(g, []string{""})
	c := &saver{t: t, value: ops.Placeholder(g, tf.Int64, tf.Shape{-1})}
	c.save = checkpoint.SaveV2(path("m"), names, none, []tf.Output{c.value}, ps)
	c.restore = checkpoint.RestoreV2(path("m"), names, none, []tf.DType{tf.Int64}, ps)[0]
	long := ops.Scalar(g, strings.Repeat("x", 2<<20))
	events := summary.SummaryWriter(g, ps)
	create := summary.CreateSummaryFileWriter(events, path("events"), ops.Scalar(g, int32(10)), ops.Scalar(g, int32(1000)), ops.Scalar(g, ""), ps)
	note := summary.WriteSummary(events, ops.Scalar(g, int64(1)), long, ops.Scalar(g, "tag"), ops.Scalar(g, ""), ps, tf.After(create))
	records := tf.Apply(nil, "TensorDataset", []tf.Output{long}, ps, tf.Attr("Toutput_types", []tf.DType{tf.String}), tf.Attr("output_shapes", []tf.Shape{{}})).Output(0)
	c.otherSteps = map[string]*tf.Operation{
		"text":     io.WriteFile(path("text"), long, ps),
		"log":      ops.PrintV2(long, ops.PrintV2Opts{OutputStream: "file://" + filepath.Join(dir, "log")}, ps),
		"slices*":  checkpoint.Save(path("slices"), names, []tf.Output{long}, ps),
		"events/*": summary.FlushSummaryWriter(events, ps, tf.After(note)),
		"records":  tf.Apply(nil, "DatasetToTFRecord", []tf.Output{records, path("records"), ops.Scalar(g, "")}, ps),
	}
	var err error
	if c.s, err = session.New(g, session.Target(target), session.Timeout(limit)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.s.Close() })
	return c
}

// saves saves n numbers.
func (c *saver) saves(n int) error {
	x, err := tf.FromSlice(make([]int64, n))
	if err == nil {
		_, err = c.s.Run(c.t.Context(), session.Feeds{c.value: x}, c.save)
	}
	return err
}

// has checks that the checkpoint has n numbers, and that its files are all that the
// disk has.
func (c *saver) has(dir string, n int) {
	c.t.Helper()
	got, err := c.s.Run(c.t.Context(), nil, c.restore)
	if err != nil || got[0].Len() != n {
		c.t.Errorf("restored %v, %v, want %d numbers", got, err, n)
	}
	if all, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(all) != 2 {
		c.t.Errorf("the disk has %v, %v", all, err)
	}
}

// TestFullDisk: steps that fill the disk of a task end with RESOURCE_EXHAUSTED. The
// checkpoint that there was stays, no file is left of one that was begun, and when there
// is room again the same session saves.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t)
	c := newSaver(t, "grpc://"+cluster(t, gorge(t)).spec["worker"][0], dir)
	if err := c.saves(1000); err != nil {
		t.Fatal(err)
	}
	const much = 1 << 18
	if err := c.saves(much); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("a save: %v", err)
	}
	c.has(dir, 1000)
	for pattern, step := range c.otherSteps {
		if _, err := c.s.Run(t.Context(), nil, step); tf.CodeOf(err) != tf.ResourceExhausted {
			t.Errorf("%s: %v", pattern, err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range append(files, filepath.Dir(filepath.Join(dir, pattern))) {
			if file != dir {
				_ = os.Remove(file)
			}
		}
		c.has(dir, 1000)
	}
	full := filepath.Join(dir, "full")
	if err := os.WriteFile(full, make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("the disk has room")
	}
	if err := c.saves(1000); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("a save to a full disk: %v", err)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	c.has(dir, 1000)
	if err := c.saves(2000); err != nil {
		t.Error(err)
	}
	c.has(dir, 2000)
}
