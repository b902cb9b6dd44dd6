package dataset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	packed "github.com/gorge-tf/gorge/tf/record"
)

// Save returns input, and writes its elements to a directory as they pass; the
// dataset there is complete when input has ended. shard, which may be nil, tells
// the number of the shard that an element belongs to.
func Save(input Dataset, dir, compression string, shard Func) (Dataset, error) {
	if err := checkPacked(compression); err != nil {
		return nil, err
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
		return &saveIterator{taking: taking{over: o}, d: d, run: fmt.Sprint(rand.Uint64()), shards: map[int64]*packed.Writer{}}
	})
}

type saveIterator struct {
	taking
	d      *saved
	run    string
	shards map[int64]*packed.Writer
	chunk  int64 // number of the files that are written now
	given  int64
	ended  bool
}

func (it *saveIterator) Next(ctx context.Context) (Element, error) {
	if it.ended {
		return nil, End
	}
	e, err := it.take(ctx)
	if errors.Is(err, End) {
		it.ended = true
		if err := it.finish(); err != nil {
			return nil, err
		}
		return nil, End
	}
	if err != nil {
		return nil, err
	}
	shard, err := shardOf(ctx, it.d.shard, e)
	if it.used(ctx, e, err); err == nil {
		err = it.write(shard, e)
	}
	if err != nil {
		return nil, err
	}
	it.given++
	return e, nil
}

// shardOf returns the number that f, which may be nil, says of an element.
func shardOf(ctx context.Context, f Func, e Element) (int64, error) {
	if f == nil {
		return 0, nil
	}
	return integerOf(ctx, f, e, "`shard_func` must return a scalar int64.")
}

func (it *saveIterator) write(shard int64, e Element) error {
	w, err := it.open(shard)
	if err != nil {
		return err
	}
	return writeElement(w, e)
}

// writeElement writes the components, one record each.
func writeElement(w *packed.Writer, e Element) error {
	for _, t := range e {
		p, err := core.EncodeTensor(t)
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

// checkPacked refuses compressions that files of elements do not have.
func checkPacked(compression string) error {
	if !slices.Contains([]string{"", "GZIP", "SNAPPY"}, compression) {
		return core.Errorf(core.Unimplemented, "elements are kept with compression \"\", \"GZIP\" or \"SNAPPY\", got %q", compression)
	}
	return nil
}

// open returns the writer of a shard.
func (it *saveIterator) open(n int64) (*packed.Writer, error) {
	if w := it.shards[n]; w != nil {
		return w, nil
	}
	dir := filepath.Join(core.LocalPath(it.d.dir), it.run, fmt.Sprintf(shardPattern, n))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, core.FileError(dir, err)
	}
	w, err := packed.Create(filepath.Join(dir, fmt.Sprintf(chunkPattern, it.chunk)), packed.Compression(it.d.compression))
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
	dir := core.LocalPath(it.d.dir)
	if err := os.MkdirAll(filepath.Join(dir, it.run), 0o755); err != nil {
		return core.FileError(dir, err)
	}
	return writeMetadata(dir, it.run, metadataOf(it.run, it.d.spec.Types, it.given, true))
}

func (it *saveIterator) Close() {
	_ = it.closeShards() // an incomplete snapshot is not used
	it.over.Close()
}

// Save completes the files, so that what was given so far is in them, and says which
// they are. What comes then is written to new ones.
func (it *saveIterator) Save(s *State) {
	if err := it.closeShards(); err != nil {
		s.Fail(err)
		return
	}
	it.chunk++
	s.Put("run", core.Scalar(it.run))
	s.PutInt("chunk", it.chunk)
	s.PutInt("given", it.given)
	s.PutBool("ended", it.ended)
	it.taking.Save(s)
}

// Restore goes on with the files of a run. It removes those that were begun after the
// state was saved: their elements come again.
func (it *saveIterator) Restore(ctx context.Context, s *State) {
	_ = it.closeShards()
	it.run, it.chunk = s.text("run"), s.Count("chunk", math.MaxInt32)
	it.given, it.ended = s.Count("given", math.MaxInt64), s.Bool("ended")
	if _, err := strconv.ParseUint(it.run, 10, 64); err != nil {
		s.Fail(otherDataset("%q is no run", it.run))
	}
	if s.Err() != nil {
		return
	}
	if !it.ended {
		if err := it.back(); err != nil {
			s.Fail(err)
			return
		}
	}
	it.restore(ctx, s, it.d.input.Spec())
}

// back brings the run to where its writer was.
func (it *saveIterator) back() error {
	dir := core.LocalPath(it.d.dir)
	if err := reopen(dir, it.run, it.d.spec.Types); err != nil {
		return err
	}
	return removeShards(filepath.Join(dir, it.run), it.chunk)
}

// Load returns a dataset that was saved: the elements of the dataset that read
// makes of a dataset of shards, each a dataset.
func Load(dir, compression string, spec *Spec, read Func) (Dataset, error) {
	m, found, err := readMetadata(core.LocalPath(dir))
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, core.Errorf(core.NotFound, "Could not find metadata file [%s]", filepath.Join(dir, metadataName))
	case !m.finalized:
		return nil, core.Errorf(core.DataLoss, "the dataset %s is not complete", dir)
	case m.version != snapshotVersion:
		return nil, core.Errorf(core.Unimplemented, "the dataset %s must be of version %d, it is of %d", dir, snapshotVersion, m.version)
	case m.components != 0 && m.components != len(spec.Types):
		return nil, core.Errorf(core.InvalidArgument, "a dataset is loaded with the types of all components: %s has %d, got %d types", dir, m.components, len(spec.Types))
	case !ofDirectory(m.run):
		return nil, core.Errorf(core.DataLoss, "the metadata of the dataset %s must name a directory of it, got %q", dir, m.run)
	}
	shards, err := shardsOf(filepath.Join(core.LocalPath(dir), m.run), compression, spec)
	if err != nil {
		return nil, err
	}
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

// shardsOf returns a dataset of the shards of a run, in order, each a dataset of
// the elements of its files.
func shardsOf(run, compression string, spec *Spec) (Dataset, error) {
	dirs, err := ordered(run, "*.shard")
	if err != nil {
		return nil, err
	}
	list := make([]Element, len(dirs))
	for i, dir := range dirs {
		names, err := ordered(dir, "*.snapshot")
		if err != nil {
			return nil, err
		}
		d, err := elementsIn(names, compression, spec)
		if err != nil {
			return nil, err
		}
		list[i] = Element{Value(d)}
	}
	return List(&Spec{[]core.DType{core.Variant}, []core.Shape{{}}}, list), nil
}

// ElementsUnder returns the elements of the files in a directory, in order. There must be a first one.
func ElementsUnder(dir, compression string, spec *Spec) (Dataset, error) {
	dir = core.LocalPath(dir)
	names, err := ordered(dir, "*.snapshot")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = []string{filepath.Join(dir, fmt.Sprintf(chunkPattern, 0))} // whose absence iterators tell
	}
	return elementsIn(names, compression, spec)
}

// ElementsOf returns the elements of a file.
func ElementsOf(name, compression string, spec *Spec) (Dataset, error) {
	return elementsIn([]string{core.LocalPath(name)}, compression, spec)
}

// elementsIn returns the elements of files, one after the other.
func elementsIn(names []string, compression string, spec *Spec) (Dataset, error) {
	if err := checkPacked(compression); err != nil {
		return nil, err
	}
	return &files{common: common{spec}, names: names, compression: compression, format: componentsOf(spec)}, nil
}

// componentsOf is the format of files whose records are components.
func componentsOf(spec *Spec) format {
	return func(r *bufio.Reader) func() (Element, error) {
		reader := record.NewReader(r)
		return func() (Element, error) {
			e := make(Element, len(spec.Types))
			for i := range e {
				b, err := reader.Next()
				if errors.Is(err, io.EOF) && i > 0 {
					return nil, core.Errorf(core.DataLoss, "an element must have %d components, the last one of the file has %d", len(e), i)
				}
				if err != nil {
					return nil, err
				}
				p := &pb.TensorProto{}
				if err := proto.Unmarshal(b, p); err != nil {
					return nil, core.Errorf(core.DataLoss, "Unable to parse tensor proto: %v", err)
				}
				if e[i], err = core.TensorFromProto(p); err != nil {
					return nil, err
				}
			}
			return e, spec.Check(e)
		}
	}
}
