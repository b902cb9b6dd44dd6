package data

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RecordInput", Out: "records: string", Stateful: true, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(recordInput),
		Attrs: "file_pattern: string; file_random_seed: int = 301; file_shuffle_shift_ratio: float = 0; file_buffer_size: int = 10000; " +
			"file_parallelism: int = 16; batch_size: int = 32; compression_type: string = ''",
		Shape: noShape,
	})
}

// recordInput makes the kernel that gives batches of records out of a buffer, in
// which they are mixed: each record once in an epoch, epoch after epoch.
func recordInput(n *core.Node) (core.Kernel, error) {
	y := &yielder{
		pattern: n.Str("file_pattern"), compression: n.Str("compression_type"), capacity: n.Int("file_buffer_size"),
		shift: n.Attr("file_shuffle_shift_ratio"), chance: rand.New(rand.NewPCG(uint64(n.Int("file_random_seed")), 0)),
	}
	size := n.Int("batch_size")
	switch {
	case size <= 0:
		return nil, tf.Errorf(tf.InvalidArgument, "batch_size must be greater than zero, got %d", size)
	case n.Int("file_parallelism") <= 0:
		return nil, tf.Errorf(tf.InvalidArgument, "file_parallelism must be greater than zero, got %d", n.Int("file_parallelism"))
	case y.capacity <= 0:
		return nil, tf.Errorf(tf.InvalidArgument, "file_buffer_size must be greater than zero, got %d", y.capacity)
	}
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, tf.String, tf.Shape{size})
		if err != nil {
			return err
		}
		return y.fill(c.StepContext(), core.Data[string](out))
	}), nil
}

// A yielder gives records.
type yielder struct {
	pattern, compression string
	capacity             int
	shift                any // the part of the files by which each epoch begins later
	chance               *rand.Rand

	mu     sync.Mutex
	epoch  int
	it     dataset.Iterator // over the files; nil: between two epochs
	some   bool             // the epoch has had a record
	buffer []string
}

// fill sets out to the next records. Those that a call has taken before it fails, or is
// cancelled, are given to the next one.
func (y *yielder) fill(ctx context.Context, out []string) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	for i := range out {
		if err := y.read(ctx); err != nil {
			y.buffer = append(y.buffer, out[:i]...)
			return err
		}
		k := y.chance.IntN(len(y.buffer))
		last := len(y.buffer) - 1
		out[i], y.buffer[k] = y.buffer[k], y.buffer[last]
		y.buffer = y.buffer[:last]
	}
	return nil
}

// read fills the buffer. Epochs do not mix: the next one begins when it is
// empty.
func (y *yielder) read(ctx context.Context) error {
	for len(y.buffer) == 0 || y.it != nil && len(y.buffer) < y.capacity {
		if err := y.one(ctx); err != nil {
			return err
		}
	}
	return nil
}

// one reads one record, or ends an epoch.
func (y *yielder) one(ctx context.Context) error {
	if y.it == nil {
		if err := y.begin(); err != nil {
			return err
		}
	}
	e, err := y.it.Next(ctx)
	switch {
	case err == nil:
		y.buffer, y.some = append(y.buffer, core.Data[string](e[0])[0]), true
		return nil
	case !errors.Is(err, dataset.End):
		return err
	}
	y.it.Close()
	if y.it = nil; !y.some {
		return tf.Errorf(tf.NotFound, "Found no data in all files of %s", y.pattern)
	}
	return nil
}

// begin begins an epoch, with the files in an order of its own.
func (y *yielder) begin() error {
	names, err := filepath.Glob(core.LocalPath(y.pattern))
	if err != nil {
		return tf.Errorf(tf.InvalidArgument, "%q is no pattern of file names: %v", y.pattern, err)
	}
	if len(names) == 0 {
		return tf.Errorf(tf.NotFound, "Found no files at %s", y.pattern)
	}
	slices.Sort(names)
	y.chance.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	ratio, _ := y.shift.(float32)
	if by := int(float64(y.epoch) * float64(ratio) * float64(len(names))); by > 0 {
		by %= len(names)
		names = slices.Concat(names[by:], names[:by])
	}
	d, err := dataset.Records(names, y.compression)
	if err != nil {
		return err
	}
	y.epoch++
	y.some = false
	y.it, err = d.Iterate()
	return err
}
