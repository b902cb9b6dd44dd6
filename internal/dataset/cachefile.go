package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf/core"
)

// CacheFile returns input, and keeps its elements in files, in TensorFlow's
// format: once an iterator has been through all, others read those, also of
// other processes.
func CacheFile(input Dataset, prefix string) Dataset { return &fileCached{like(input), prefix} }

type fileCached struct {
	derived
	prefix string
}

// key is the name of a component of element i.
func (d *fileCached) key(i int64, component int) string {
	return fmt.Sprintf("%08d_%0*d", i, len(strconv.Itoa(len(d.spec.Types))), component)
}

func (d *fileCached) complete() bool {
	_, err := os.Stat(core.LocalPath(d.prefix) + ".index")
	return err == nil
}

func (d *fileCached) Iterate() (Iterator, error) {
	if d.complete() {
		return &fileCacheReader{d: d}, nil
	}
	return iterate(d.input, func(o over) Iterator { return &fileCacheWriter{over: o, d: d} })
}

// fileCacheReader reads the files.
type fileCacheReader struct {
	d    *fileCached
	r    *bundle.Reader // nil: not open
	next int64
}

func (it *fileCacheReader) Next(ctx context.Context) (Element, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}
	if it.r == nil {
		r, err := bundle.Open(it.d.prefix)
		if err != nil {
			return nil, err
		}
		it.r = r
	}
	e := make(Element, len(it.d.spec.Types))
	for k := range e {
		t, err := it.r.Lookup(it.d.key(it.next, k))
		if k == 0 && core.CodeOf(err) == core.NotFound {
			return nil, End
		}
		if err != nil {
			return nil, err
		}
		e[k] = t
	}
	it.next++
	return e, it.d.spec.Check(e)
}

func (it *fileCacheReader) Close() {
	if it.r != nil {
		it.r.Close()
		it.r = nil
	}
}

func (it *fileCacheReader) Save(s *State) {
	s.PutBool("reads", true)
	s.PutInt("next", it.next)
}

func (it *fileCacheReader) Restore(_ context.Context, s *State) {
	if !s.Bool("reads") { // the cache has become complete since
		it.next = s.Count("given", math.MaxInt64)
		return
	}
	it.next = s.Count("next", math.MaxInt64)
}

// fileCacheWriter writes files, and reads them when it is restored to where one
// has read. What is written between two saves is a bundle of its own: those that
// a saved state needs are there as long as it may be restored.
type fileCacheWriter struct {
	over
	d      *fileCached
	w      *bundle.Writer // nil: none is open
	locked bool
	shard  int64 // of w, or of the next one
	given  int64
	ended  bool
	reader *fileCacheReader // nil: it writes
}

func (it *fileCacheWriter) name(shard int64) string { return fmt.Sprintf("%s_%d", it.d.prefix, shard) }

func (it *fileCacheWriter) Next(ctx context.Context) (Element, error) {
	switch {
	case it.reader != nil:
		return it.reader.Next(ctx)
	case it.ended:
		return nil, End
	}
	if err := it.open(); err != nil {
		return nil, err
	}
	e, err := it.input.Next(ctx)
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
	for k, t := range e {
		if err := it.w.Add(it.d.key(it.given, k), t); err != nil {
			return nil, err
		}
	}
	it.given++
	return e, nil
}

func (it *fileCacheWriter) lockFile() string { return core.LocalPath(it.d.prefix) + ".lockfile" }

// open begins a bundle, if none is open. A second writer of the cache is refused.
func (it *fileCacheWriter) open() (err error) {
	if it.w != nil {
		return nil
	}
	if !it.locked {
		if err := it.lock(); err != nil {
			return err
		}
	}
	it.w, err = bundle.Create(it.name(it.shard))
	return err
}

func (it *fileCacheWriter) lock() error {
	if _, err := os.Stat(core.LocalPath(it.name(0)) + ".index"); it.shard == 0 && err == nil {
		return core.Errorf(core.AlreadyExists, "Existing cache files found: \n%s.index\nTo continue delete the above files.", it.name(0))
	}
	f, err := os.OpenFile(it.lockFile(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		content, _ := core.ReadRegular(it.lockFile())
		return core.Errorf(core.AlreadyExists, "There appears to be a concurrent caching iterator running - cache lockfile already exists ('%s'). If you are sure no other running TF computations are using this cache prefix, delete the lockfile and re-initialize the iterator. Lockfile contents: %s", it.lockFile(), content)
	}
	if err != nil {
		return core.FileError(it.lockFile(), err)
	}
	it.locked = true
	_, err = fmt.Fprintf(f, "Created at: %d", time.Now().Unix())
	return errors.Join(err, f.Close())
}

// finish makes one cache of the bundles.
func (it *fileCacheWriter) finish() error {
	if err := it.rest(); err != nil {
		return err
	}
	names := make([]string, it.shard)
	for i := range names {
		names[i] = it.name(int64(i))
	}
	if err := bundle.Merge(names, it.d.prefix, false); err != nil {
		return err
	}
	it.unlock()
	return nil
}

// rest ends the bundle that is open.
func (it *fileCacheWriter) rest() error {
	if it.w == nil {
		return nil
	}
	err := it.w.Finish()
	it.w = nil
	it.shard++
	return err
}

func (it *fileCacheWriter) unlock() {
	if it.locked {
		_ = os.Remove(it.lockFile())
		it.locked = false
	}
}

// Close drops what is not complete.
func (it *fileCacheWriter) Close() {
	if it.w != nil {
		it.w.Abort()
		it.w = nil
	}
	it.unlock()
	if it.reader != nil {
		it.reader.Close()
	}
	it.over.Close()
}

func (it *fileCacheWriter) Save(s *State) {
	if it.reader != nil {
		it.reader.Save(s)
		return
	}
	if err := it.rest(); err != nil {
		s.Fail(err)
	}
	s.PutBool("reads", false)
	s.PutInt("shard", it.shard)
	s.PutInt("given", it.given)
	s.PutBool("ended", it.ended)
	it.over.Save(s)
}

func (it *fileCacheWriter) Restore(ctx context.Context, s *State) {
	if s.Bool("reads") {
		it.reader = &fileCacheReader{d: it.d}
		it.reader.Restore(ctx, s)
		return
	}
	it.shard, it.given, it.ended = s.Count("shard", math.MaxInt32), s.Count("given", math.MaxInt64), s.Bool("ended")
	it.over.Restore(ctx, s)
}
