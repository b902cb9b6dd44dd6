package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	packed "github.com/gorge-tf/gorge/tf/record"
)

// A Snapshot says how a dataset is kept: the first iterator that goes through it
// writes its elements to files, later ones read these.
type Snapshot struct {
	// Read and Write are directories of the dataset's own, which are one,
	// unless one is mounted at several places.
	Read, Write string
	Compression string
	Mode        string        // SnapshotRead, SnapshotWrite or SnapshotPass; else what is there decides
	Expiry      time.Duration // for so long another iterator may be writing
	Run         string        // name of the directory for what one iterator writes; "": a random number

	// Shard tells the number of the shard that an element is written to, and
	// Reader makes a dataset of one of the shards.
	Shard, Reader Func
	// Without them there are files of about FileBytes each, which are read in
	// order, or, if Order is not nil, in another one.
	FileBytes int64
	Order     *Seeds
}

// Modes of snapshots.
const (
	SnapshotRead  = "read"
	SnapshotWrite = "write"
	SnapshotPass  = "passthrough"
)

// Keep returns input, kept as s says.
func Keep(input Dataset, s Snapshot) (Dataset, error) {
	if err := checkPacked(s.Compression); err != nil {
		return nil, err
	}
	return &snapshotted{like(input), s}, nil
}

type snapshotted struct {
	derived
	Snapshot
}

func (d *snapshotted) Iterate() (Iterator, error) { return &snapshotIterator{d: d}, nil }

// snapshotIterator finds out what to do when it is first asked for an element.
type snapshotIterator struct {
	d    *snapshotted
	mode string // "": not decided yet
	taking
	snapshotWriter
}

func (it *snapshotIterator) Next(ctx context.Context) (Element, error) {
	if it.mode == "" {
		mode, run, err := it.d.decide()
		if err == nil {
			err = it.begin(ctx, mode, run)
		}
		if err != nil {
			return nil, err
		}
	}
	if it.mode != SnapshotWrite {
		return it.input.Next(ctx)
	}
	if it.ended {
		return nil, End
	}
	e, err := it.take(ctx)
	switch {
	case errors.Is(err, End):
		it.ended = true
		if err := it.finish(it.d); err != nil {
			return nil, err
		}
		return nil, End
	case err != nil:
		return nil, err
	}
	shard, err := shardOf(ctx, it.d.Shard, e)
	if it.used(ctx, e, err); err == nil {
		err = it.keep(it.d, shard, e)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// decide returns what an iterator is to do, and the run that it is to read. The run
// is found with the decision: another iterator, of another process perhaps, may have
// begun to write one a moment later, which is not complete.
func (d *snapshotted) decide() (mode, run string, err error) {
	m, found, err := readMetadata(core.LocalPath(d.Read))
	switch {
	case err != nil:
		return "", "", err
	case d.Mode == SnapshotRead && !found:
		return "", "", core.Errorf(core.NotFound, "Metadata file does not exist.")
	case d.Mode == SnapshotWrite, d.Mode == SnapshotPass:
		return d.Mode, "", nil
	case d.Mode == SnapshotRead, m.finalized:
		run, err = d.readable(m)
		return SnapshotRead, run, err
	case !found:
		return SnapshotWrite, "", nil
	case m.created >= time.Now().Add(-d.Expiry).UnixMicro(): // someone else is at it
		return SnapshotPass, "", nil
	}
	return SnapshotWrite, "", nil
}

// readable returns the run that metadata tells of, if its files can be read.
func (d *snapshotted) readable(m snapshotMetadata) (string, error) {
	switch {
	case m.version != snapshotVersion:
		return "", core.Errorf(core.Unimplemented, "the snapshot in %s must be of version %d, it is of %d", d.Read, snapshotVersion, m.version)
	case !ofDirectory(m.run):
		return "", core.Errorf(core.DataLoss, "the metadata of the snapshot in %s must name a directory of it, got %q", d.Read, m.run)
	}
	return m.run, nil
}

// ofDirectory reports whether a name is that of something in a directory.
func ofDirectory(name string) bool { return filepath.IsLocal(name) && name == filepath.Base(name) }

// begin begins to read a run, to write, or neither.
func (it *snapshotIterator) begin(ctx context.Context, mode, run string) (err error) {
	of := it.d.input
	switch mode {
	case SnapshotRead:
		it.run = run
		if of, err = it.d.files(ctx, run); err != nil {
			return err
		}
	case SnapshotWrite:
		if err := it.open(it.d); err != nil {
			return err
		}
	}
	if it.input, err = of.Iterate(); err == nil {
		it.mode = mode
	}
	return err
}

// files returns the elements that a run has written.
func (d *snapshotted) files(ctx context.Context, name string) (Dataset, error) {
	run := filepath.Join(core.LocalPath(d.Read), name)
	if d.Reader == nil {
		names, err := ordered(run, "*.snapshot")
		if err != nil {
			return nil, err
		}
		if d.Order != nil {
			a, b := d.Order.next()
			words := wordsFrom(a, b, 0)
			for i := range names {
				k := i + words.Index(len(names)-i)
				names[i], names[k] = names[k], names[i]
			}
		}
		return elementsIn(names, d.Compression, d.spec)
	}
	shards, err := shardsOf(run, d.Compression, d.spec)
	if err != nil {
		return nil, err
	}
	return datasetFrom(ctx, d.Reader, Element{Value(shards)}, "`reader_func` must return a single dataset.")
}

// current returns the run that the metadata names now: what a reader goes on with
// whose state names none, as those of earlier versions do.
func (d *snapshotted) current() (string, error) {
	m, found, err := readMetadata(core.LocalPath(d.Read))
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", core.Errorf(core.DataLoss, "Snapshot metadata file in %s does not exist any more.", d.Read)
	}
	return d.readable(m)
}

func (it *snapshotIterator) Close() {
	_ = it.close() // an incomplete snapshot is not used
	if it.input != nil {
		it.input.Close()
	}
}

func (it *snapshotIterator) Save(s *State) {
	s.Put("mode", core.Scalar(it.mode))
	if it.mode == "" {
		return
	}
	if err := it.close(); err != nil {
		s.Fail(err)
	}
	s.Put("run", core.Scalar(it.run))
	s.PutInt("chunk", it.chunk)
	s.PutBool("ended", it.ended)
	it.taking.Save(s)
}

// Restore goes on with what was saved. A writer removes the files of its run that were
// begun after that: their elements come again.
func (it *snapshotIterator) Restore(ctx context.Context, s *State) {
	it.Close()
	it.mode, it.taking, it.snapshotWriter = "", taking{}, snapshotWriter{}
	mode := s.text("mode")
	if mode == "" || s.Err() != nil {
		return
	}
	it.run, it.chunk, it.ended = s.text("run"), s.Count("chunk", 1<<62), s.Bool("ended")
	if it.run != "" && !ofDirectory(it.run) {
		s.Fail(errState)
		return
	}
	var err error
	switch {
	case mode == SnapshotRead && it.run == "":
		it.run, err = it.d.current()
	case mode == SnapshotWrite && !it.ended:
		err = it.back(it.d)
	}
	if err == nil {
		err = it.begin(ctx, mode, it.run)
	}
	if err != nil {
		s.Fail(err)
		return
	}
	it.restore(ctx, s, it.d.input.Spec())
}

// A snapshotWriter writes what one iterator gives to a directory of its own.
type snapshotWriter struct {
	run     string
	chunk   int64                    // number of the files that are open, or next
	writers map[int64]*packed.Writer // by shard
	written int64                    // bytes of elements, in the file that is open
	ratio   float64                  // of these to the file's; 0: not known yet
	ended   bool
}

// open makes the directory, and says that it is being written.
func (w *snapshotWriter) open(d *snapshotted) error {
	if w.writers = map[int64]*packed.Writer{}; w.run != "" {
		return nil // an iterator goes on that was saved
	}
	if w.run = d.Run; w.run == "" {
		w.run = fmt.Sprint(rand.Uint64())
	}
	dir := core.LocalPath(d.Write)
	if err := os.MkdirAll(filepath.Join(dir, w.run), 0o755); err != nil {
		return core.FileError(dir, err)
	}
	return writeMetadata(dir, w.run, metadataOf(w.run, d.spec.Types, 0, false))
}

// back brings the run to where its writer was.
func (w *snapshotWriter) back(d *snapshotted) error {
	dir := core.LocalPath(d.Write)
	if err := reopen(dir, w.run, d.spec.Types); err != nil {
		return err
	}
	if d.Shard != nil {
		return removeShards(filepath.Join(dir, w.run), w.chunk)
	}
	return removeChunks(filepath.Join(dir, w.run), w.chunk)
}

// keep writes an element.
func (w *snapshotWriter) keep(d *snapshotted, shard int64, e Element) error {
	if d.Shard == nil {
		if err := w.turn(d, e); err != nil {
			return err
		}
	}
	to := w.writers[shard]
	if to == nil {
		var err error
		if to, err = w.create(d, shard); err != nil {
			return err
		}
	}
	return writeElement(to, e)
}

func (w *snapshotWriter) create(d *snapshotted, shard int64) (*packed.Writer, error) {
	dir := filepath.Join(core.LocalPath(d.Write), w.run)
	if d.Shard != nil {
		dir = filepath.Join(dir, fmt.Sprintf(shardPattern, shard))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, core.FileError(dir, err)
	}
	to, err := packed.Create(filepath.Join(dir, fmt.Sprintf(chunkPattern, w.chunk)), packed.Compression(d.Compression))
	if err == nil {
		w.writers[shard] = to
	}
	return to, err
}

// turn goes on to another file when the one that is open is as large as it may
// be. How much elements are compressed is found out once.
func (w *snapshotWriter) turn(d *snapshotted, e Element) error {
	for _, t := range e {
		w.written += int64(t.Len() * t.DType().Size())
		if t.DType() == core.String {
			for _, s := range core.Data[string](t) {
				w.written += int64(len(s))
			}
		}
	}
	full := w.ratio > 0 && float64(w.written) > w.ratio*float64(d.FileBytes)
	if file := w.writers[0]; w.ratio == 0 && w.written > d.FileBytes && file != nil {
		size, err := file.Size()
		if err != nil {
			return err
		}
		w.ratio, full = float64(w.written)/float64(max(size, 1)), size >= d.FileBytes
	}
	if !full {
		return nil
	}
	w.written = 0
	return w.close()
}

// close completes the files that are open.
func (w *snapshotWriter) close() (err error) {
	if len(w.writers) == 0 {
		return nil
	}
	for shard, file := range w.writers {
		err = errors.Join(err, file.Close())
		delete(w.writers, shard)
	}
	w.chunk++
	return err
}

// finish says that all is there, unless another iterator has begun to write
// since.
func (w *snapshotWriter) finish(d *snapshotted) error {
	if err := w.close(); err != nil {
		return err
	}
	dir := core.LocalPath(d.Write)
	if m, found, err := readMetadata(dir); err != nil || d.Shard == nil && found && m.run != w.run {
		return err
	}
	return writeMetadata(dir, w.run, metadataOf(w.run, d.spec.Types, 0, true))
}
