package record

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// ParallelOptions say how [Parallel] reads.
type ParallelOptions struct {
	Compression Compression
	// Goroutines is how many read; 0: as many as there are cores.
	Goroutines int
	// InOrder gives the records in the order of the files, else in that in
	// which they are read.
	InOrder bool
	// Indexes are those of plain files, by name. A file that has one is read
	// by several goroutines, another one by one.
	Indexes map[string]*Index
	// Options are for files without an index.
	Options []Option
}

// A part is what one goroutine reads: a file, or records from one to another of
// a file with an index.
type part struct {
	name     string
	index    *Index
	from, to int
	out      chan chunk
}

// A chunk is some records that were read one after the other, and what ended
// them.
type chunk struct {
	records [][]byte
	err     error
}

const (
	partBytes   = 4 << 20 // that a part of an indexed file has
	chunkBytes  = 1 << 18 // that a chunk has
	recordBytes = 32      // that a record takes beside its data
	chunksAhead = 16      // that a part keeps for its consumer
	partsAhead  = 2       // parts that are begun in order ahead of their consumer, for each goroutine
)

// Parallel returns the records of files, read by several goroutines that end
// with the loop. An error concerns the rest of a file, or, with an index, one
// record; what follows is read if the loop goes on. The end of ctx is the last
// error, also where a named pipe has nothing to read. Each record is the loop's
// to keep.
func Parallel(ctx context.Context, names []string, o ParallelOptions) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := cmp.Or(core.NeedContext(ctx, "Parallel"), o.Compression.check()); err != nil {
			yield(nil, err)
			return
		}
		ctx, stop := context.WithCancel(ctx)
		var readers sync.WaitGroup
		defer readers.Wait()
		defer stop()
		for c := range o.chunks(ctx, &readers, o.parts(names)) {
			for _, b := range c.records {
				if !yield(b, nil) {
					return
				}
			}
			if c.err != nil && !yield(nil, c.err) {
				return
			}
		}
		if err := context.Cause(ctx); err != nil {
			yield(nil, err)
		}
	}
}

// parts cuts files into what one goroutine reads at a time.
func (o *ParallelOptions) parts(names []string) (all []*part) {
	for _, name := range names {
		x := o.Indexes[name]
		if x == nil || o.Compression != None {
			all = append(all, &part{name: name})
			continue
		}
		for from := 0; from < x.Len(); {
			end, _ := slices.BinarySearch(x.starts, x.starts[from]+partBytes)
			to := min(max(end, from+1), x.Len())
			all = append(all, &part{name: name, index: x, from: from, to: to})
			from = to
		}
	}
	return all
}

// chunks starts the goroutines and returns what they read.
func (o *ParallelOptions) chunks(ctx context.Context, readers *sync.WaitGroup, parts []*part) iter.Seq[chunk] {
	n := o.Goroutines
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	next := make(chan *part, len(parts))
	shared := make(chan chunk, chunksAhead)
	for _, p := range parts {
		if p.out = shared; o.InOrder {
			p.out = make(chan chunk, chunksAhead)
		}
		next <- p
	}
	close(next)
	var reading sync.WaitGroup
	begun := make(chan struct{}, partsAhead*n)
	for range min(n, len(parts)) {
		reading.Add(1)
		readers.Go(func() {
			defer reading.Done()
			o.readAll(ctx, next, begun)
		})
	}
	if o.InOrder {
		return oneAfterTheOther(parts, begun)
	}
	readers.Go(func() { reading.Wait(); close(shared) })
	return all(shared)
}

// readAll reads parts until there are none.
func (o *ParallelOptions) readAll(ctx context.Context, next <-chan *part, begun chan<- struct{}) {
	for {
		o.wait(ctx, begun)
		p, ok := <-next
		if !ok {
			return
		}
		o.read(ctx, p)
		if o.InOrder {
			close(p.out)
		}
	}
}

// wait waits until another part may be begun: those that are and have not been consumed
// must not become all files.
func (o *ParallelOptions) wait(ctx context.Context, begun chan<- struct{}) {
	if !o.InOrder {
		return // the channel that all parts share is the bound
	}
	select {
	case begun <- struct{}{}:
	case <-ctx.Done():
	}
}

func all(c <-chan chunk) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		for x := range c {
			if !yield(x) {
				return
			}
		}
	}
}

// oneAfterTheOther returns the chunks of the first part and then those of the
// others. The parts are begun in that order, so the first is always under way. A part
// that has ended makes room in begun for another one.
func oneAfterTheOther(parts []*part, begun <-chan struct{}) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		for _, p := range parts {
			for c := range p.out {
				if !yield(c) {
					return
				}
			}
			select {
			case <-begun:
			default: // readers do not wait once ctx has ended
			}
		}
	}
}

// read reads a part, unless ctx ends.
func (o *ParallelOptions) read(ctx context.Context, p *part) {
	if ctx.Err() != nil {
		return
	}
	next, stop, err := o.open(ctx, p)
	if err != nil {
		p.send(ctx, chunk{err: err})
		return
	}
	defer stop()
	for ctx.Err() == nil {
		c, more := fill(next)
		if !p.send(ctx, c) || !more {
			return
		}
	}
}

// send hands a chunk over; it reports whether anybody wants more. What fails because ctx
// has ended is no error of the file.
func (p *part) send(ctx context.Context, c chunk) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case p.out <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// fill reads a chunk and reports whether more may follow. After the last record
// next returns io.EOF; the flag goes with an error that ends nothing.
func fill(next func() ([]byte, bool, error)) (c chunk, more bool) {
	for n := 0; n < chunkBytes; {
		b, goesOn, err := next()
		if errors.Is(err, io.EOF) {
			return c, false
		}
		if err != nil {
			c.err = err
			return c, goesOn
		}
		c.records = append(c.records, b)
		n += len(b) + recordBytes // a file of empty records must end the chunk, too
	}
	return c, true
}

// open returns what reads the records of p.
func (o *ParallelOptions) open(ctx context.Context, p *part) (next func() ([]byte, bool, error), stop func() error, err error) {
	if p.index != nil {
		r, err := OpenIndexed(p.name, p.index)
		if err != nil {
			return nil, nil, err
		}
		return p.indexed(r), r.Close, nil
	}
	r, err := openAt(ctx, p.name, o.Compression, 0, o.Options)
	if err != nil {
		return nil, nil, err
	}
	return func() ([]byte, bool, error) {
		b, err := r.Next()
		return slices.Clone(b), false, err
	}, r.Close, nil
}

func (p *part) indexed(r *IndexedReader) func() ([]byte, bool, error) {
	i := p.from
	return func() ([]byte, bool, error) {
		if i >= p.to {
			return nil, false, io.EOF
		}
		i++
		b, err := r.Read(i-1, nil)
		return b, true, err
	}
}
