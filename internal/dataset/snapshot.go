package dataset

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	packed "github.com/gorge-tf/gorge/tf/record"
)

// A saved dataset is a directory in TensorFlow's form: a file that tells of it,
// and, in a directory of the run that wrote it, one directory for each shard,
// with a TFRecord file of the components of its elements, each a TensorProto.

const (
	metadataName = "snapshot.metadata"
	shardPattern = "%08d.shard"
	chunkName    = "00000000.snapshot"
)

// Fields of the message in the file that tells of a dataset.
const (
	fieldRun       protowire.Number = 2
	fieldCreated   protowire.Number = 3
	fieldVersion   protowire.Number = 4
	fieldTypes     protowire.Number = 5
	fieldElements  protowire.Number = 6
	fieldFinalized protowire.Number = 1000

	snapshotVersion = 2
)

// metadataOf is the message of a dataset that is complete.
func metadataOf(run string, types []tf.DType, elements int64) []byte {
	number := func(b []byte, f protowire.Number, v int64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, f, protowire.VarintType), uint64(v))
	}
	b := protowire.AppendString(protowire.AppendTag(nil, fieldRun, protowire.BytesType), run)
	b = number(number(b, fieldCreated, time.Now().UnixMicro()), fieldVersion, snapshotVersion)
	var list []byte
	for _, d := range types {
		list = protowire.AppendVarint(list, uint64(d))
	}
	b = protowire.AppendBytes(protowire.AppendTag(b, fieldTypes, protowire.BytesType), list)
	return number(number(b, fieldElements, elements), fieldFinalized, 1)
}

// metadata is what is read of it.
type snapshotMetadata struct {
	run                string
	version, elements  int64
	finalized, damaged bool
}

func parseMetadata(b []byte) (m snapshotMetadata) {
	for len(b) > 0 {
		f, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			m.damaged = true
			return m
		}
		size := protowire.ConsumeFieldValue(f, typ, b[n:])
		if size < 0 {
			m.damaged = true
			return m
		}
		v, _ := protowire.ConsumeVarint(b[n:])
		switch {
		case f == fieldRun && typ == protowire.BytesType:
			s, _ := protowire.ConsumeBytes(b[n:])
			m.run = string(s)
		case f == fieldVersion:
			m.version = int64(v)
		case f == fieldElements:
			m.elements = int64(v)
		case f == fieldFinalized:
			m.finalized = v != 0
		}
		b = b[n+size:]
	}
	return m
}

// Save returns input, and writes its elements to a directory as they pass; the
// dataset there is complete when input has ended. shard, which may be nil, tells
// the number of the shard that an element belongs to.
func Save(input Dataset, dir, compression string, shard Func) (Dataset, error) {
	if !slices.Contains([]string{"", "GZIP"}, compression) {
		return nil, tf.Errorf(tf.Unimplemented, "datasets are saved with compression \"\" or \"GZIP\", got %q", compression)
	}
	return &saved{like(input), dir, compression, shard}, nil
}

type saved struct {
	derived
	dir, compression string
	shard            Func
}

func (d *saved) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator {
		return &saveIterator{over: o, d: d, run: fmt.Sprint(rand.Uint64()), shards: map[int64]*packed.Writer{}}
	})
}

type saveIterator struct {
	over
	d      *saved
	run    string
	shards map[int64]*packed.Writer
	given  int64
	ended  bool
}

func (it *saveIterator) Next(ctx context.Context) (Element, error) {
	if it.ended {
		return nil, End
	}
	e, err := it.input.Next(ctx)
	if errors.Is(err, End) {
		it.ended = true
		if err := it.finish(); err != nil {
			return nil, err
		}
		return nil, End
	}
	if err == nil {
		err = it.write(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	it.given++
	return e, nil
}

func (it *saveIterator) write(ctx context.Context, e Element) error {
	n := int64(0)
	if it.d.shard != nil {
		var err error
		if n, err = integerOf(ctx, it.d.shard, e, "`shard_func` must return a scalar int64."); err != nil {
			return err
		}
	}
	w, err := it.open(n)
	if err != nil {
		return err
	}
	for _, t := range e {
		p, err := tf.EncodeTensor(t)
		if err != nil {
			return err
		}
		b, err := proto.Marshal(p)
		if err == nil {
			err = w.Write(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// open returns the writer of a shard.
func (it *saveIterator) open(n int64) (*packed.Writer, error) {
	if w := it.shards[n]; w != nil {
		return w, nil
	}
	dir := filepath.Join(tf.LocalPath(it.d.dir), it.run, fmt.Sprintf(shardPattern, n))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, tf.FileError(dir, err)
	}
	w, err := packed.Create(filepath.Join(dir, chunkName), packed.Compression(it.d.compression))
	if err == nil {
		it.shards[n] = w
	}
	return w, err
}

func (it *saveIterator) closeShards() (err error) {
	for _, w := range it.shards {
		err = errors.Join(err, w.Close())
	}
	it.shards = map[int64]*packed.Writer{}
	return err
}

// finish completes the dataset.
func (it *saveIterator) finish() error {
	if err := it.closeShards(); err != nil {
		return err
	}
	dir := tf.LocalPath(it.d.dir)
	if err := os.MkdirAll(filepath.Join(dir, it.run), 0o755); err != nil {
		return tf.FileError(dir, err)
	}
	name := filepath.Join(dir, metadataName)
	temp := name + "." + it.run
	if err := os.WriteFile(temp, metadataOf(it.run, it.d.spec.Types, it.given), 0o644); err != nil {
		return tf.FileError(name, err)
	}
	if err := os.Rename(temp, name); err != nil {
		return tf.FileError(name, err)
	}
	return nil
}

func (it *saveIterator) Close() {
	_ = it.closeShards() // what is not complete is nobody's
	it.over.Close()
}

func (it *saveIterator) Save(s *State) {
	s.Fail(tf.Errorf(tf.Unimplemented, "an iterator that writes the dataset %s cannot be saved", it.d.dir))
}

func (it *saveIterator) Restore(_ context.Context, s *State) { it.Save(s) }

// Load returns a dataset that was saved: the elements of the dataset that read
// makes of a dataset of shards, each a dataset.
func Load(dir, compression string, spec *Spec, read Func) (Dataset, error) {
	b, err := os.ReadFile(filepath.Join(tf.LocalPath(dir), metadataName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, tf.Errorf(tf.NotFound, "Could not find metadata file [%s]", filepath.Join(dir, metadataName))
	}
	if err != nil {
		return nil, tf.FileError(dir, err)
	}
	m := parseMetadata(b)
	switch {
	case m.damaged || !m.finalized:
		return nil, tf.Errorf(tf.DataLoss, "the dataset %s is not complete", dir)
	case m.version != snapshotVersion:
		return nil, tf.Errorf(tf.Unimplemented, "the dataset %s must be of version %d, it is of %d", dir, snapshotVersion, m.version)
	}
	names, err := shardNames(filepath.Join(tf.LocalPath(dir), m.run))
	if err != nil {
		return nil, err
	}
	list := make([]Element, len(names))
	for i, name := range names {
		d, err := ofFiles(spec, []string{name}, compression, componentsOf(spec))
		if err != nil {
			return nil, err
		}
		list[i] = Element{Value(d)}
	}
	shards := List(&Spec{[]tf.DType{tf.Variant}, []tf.Shape{{}}}, list)
	return &loaded{common{spec}, shards, read, m.elements}, nil
}

type loaded struct {
	common
	shards   Dataset
	read     Func
	elements int64
}

func (d *loaded) Cardinality() int64 { return d.elements }

func (d *loaded) Iterate() (Iterator, error) { return &loadIterator{d: d}, nil }

// loadIterator calls the function when it is first asked for something.
type loadIterator struct {
	d     *loaded
	input Iterator // nil: not called yet
}

func (it *loadIterator) begin(ctx context.Context) error {
	if it.input != nil {
		return nil
	}
	d, err := datasetFrom(ctx, it.d.read, Element{Value(it.d.shards)}, "`reader_func` must return a single dataset.")
	if err == nil {
		it.input, err = d.Iterate()
	}
	return err
}

func (it *loadIterator) Next(ctx context.Context) (Element, error) {
	if err := it.begin(ctx); err != nil {
		return nil, err
	}
	return it.input.Next(ctx)
}

func (it *loadIterator) Close() {
	if it.input != nil {
		it.input.Close()
		it.input = nil
	}
}

func (it *loadIterator) Save(s *State) {
	s.PutBool("begun", it.input != nil)
	if it.input != nil {
		it.input.Save(s.Sub("input"))
	}
}

func (it *loadIterator) Restore(ctx context.Context, s *State) {
	it.Close()
	if !s.Bool("begun") {
		return
	}
	if err := it.begin(ctx); err != nil {
		s.Fail(err)
		return
	}
	it.input.Restore(ctx, s.Sub("input"))
}

// shardNames returns the files of all shards, in order.
func shardNames(run string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(run, "*.shard", "*.snapshot"))
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "%s is no directory of shards: %v", run, err)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return names, nil
}

// componentsOf is the format of files whose records are components.
func componentsOf(spec *Spec) format {
	return func(r *bufio.Reader) func() (Element, error) {
		reader := record.NewReader(r)
		return func() (Element, error) {
			e := make(Element, len(spec.Types))
			for i := range e {
				b, err := reader.Next()
				if err != nil {
					return nil, err
				}
				p := &pb.TensorProto{}
				if err := proto.Unmarshal(b, p); err != nil {
					return nil, tf.Errorf(tf.DataLoss, "Unable to parse tensor proto: %v", err)
				}
				if e[i], err = tf.TensorFromProto(p); err != nil {
					return nil, err
				}
			}
			return e, spec.Check(e)
		}
	}
}
