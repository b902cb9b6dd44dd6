package summary

import (
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// FileWriterOptions adjust a [FileWriter].
type FileWriterOptions struct {
	// MaxQueue is how many events may wait for the file; a call that adds another
	// one waits for room. 0: 10.
	MaxQueue int
	// FlushEvery is how long events may stay in memory; 0: 2 minutes.
	FlushEvery time.Duration
	// Suffix ends the names of the files.
	Suffix string
}

// A FileWriter writes events to a file of a directory from a goroutine of its
// own, so that training does not wait for the disk: tf.summary.FileWriter. It may
// be used by several goroutines. Close ends the goroutine; what was added before
// is in the file then. An event that cannot be written is an error of the calls
// that follow.
type FileWriter struct {
	dir   string
	o     FileWriterOptions
	queue chan []byte // events in the form of the file
	flush chan chan error

	mu     sync.RWMutex // held for reading while an event is put into the queue
	closed bool
	done   chan struct{} // closed by the goroutine

	errMu sync.Mutex
	err   error

	summaryMu sync.Mutex // held until a summary is in the queue: the first one of a tag is the one with its metadata

	seenMu sync.Mutex
	seen   map[string]bool // tags of run metadata
	known  map[string]bool // tags whose metadata is in the file
	name   string
}

// NewFileWriter begins a file in dir, which is made if need be.
func NewFileWriter(dir string, opts ...FileWriterOptions) (*FileWriter, error) {
	w := &FileWriter{dir: dir, closed: true, seen: map[string]bool{}, known: map[string]bool{}}
	if len(opts) > 0 {
		w.o = opts[0]
	}
	if w.o.MaxQueue <= 0 {
		w.o.MaxQueue = 10
	}
	if w.o.FlushEvery <= 0 {
		w.o.FlushEvery = 2 * time.Minute
	}
	return w, w.Reopen()
}

// Reopen begins a new file after Close. It does nothing if the writer is open.
func (w *FileWriter) Reopen() error {
	w.summaryMu.Lock() // a summary whose metadata the old file has is not for the new one
	defer w.summaryMu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		return nil
	}
	file, err := NewWriter(w.dir, Opts{Suffix: w.o.Suffix})
	if err != nil {
		return err
	}
	w.closed, w.err, w.name = false, nil, file.Name()
	w.seenMu.Lock() // calls look at the tags before they know whether the writer is open
	w.seen, w.known = map[string]bool{}, map[string]bool{}
	w.seenMu.Unlock()
	w.queue, w.flush, w.done = make(chan []byte, w.o.MaxQueue), make(chan chan error), make(chan struct{})
	go w.run(file, w.queue, w.flush, w.done)
	return nil
}

// Dir returns the directory of the files.
func (w *FileWriter) Dir() string { return w.dir }

// Name returns the name of the current file.
func (w *FileWriter) Name() string {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.name
}

// run writes what comes until the queue is closed.
func (w *FileWriter) run(file *Writer, queue chan []byte, flush chan chan error, done chan struct{}) {
	defer close(done)
	defer func() {
		if p := recover(); p != nil {
			w.fail(tf.Errorf(tf.Internal, "the writer of events panicked: %v", p))
			w.refuse(queue, flush)
		}
	}()
	tick := time.NewTicker(w.o.FlushEvery)
	defer tick.Stop()
	for {
		select {
		case e, more := <-queue:
			if !more {
				w.fail(file.Close())
				return
			}
			w.fail(file.write(e))
		case <-tick.C:
			w.fail(file.Flush())
		case answer := <-flush:
			w.drain(file, queue)
			w.fail(file.Flush())
			answer <- w.failure()
		}
	}
}

// refuse drops what comes, so that nothing waits for ever.
func (w *FileWriter) refuse(queue chan []byte, flush chan chan error) {
	for {
		select {
		case _, more := <-queue:
			if !more {
				return
			}
		case answer := <-flush:
			answer <- w.failure()
		}
	}
}

// drain writes what waits now.
func (w *FileWriter) drain(file *Writer, queue chan []byte) {
	for range len(queue) {
		if e, more := <-queue; more {
			w.fail(file.write(e))
		}
	}
}

// fail keeps the first error. Metadata may be among what was lost: it is written again.
func (w *FileWriter) fail(err error) {
	if err != nil {
		w.seenMu.Lock()
		clear(w.known)
		w.seenMu.Unlock()
	}
	w.errMu.Lock()
	defer w.errMu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *FileWriter) failure() error {
	w.errMu.Lock()
	defer w.errMu.Unlock()
	return w.err
}

// Event adds an event as it is. The caller may change it afterwards. One that is no
// message, since it has text that is not UTF-8, is refused with INVALID_ARGUMENT.
func (w *FileWriter) Event(e *pb.Event) error {
	b, err := encoded(e)
	if err != nil {
		return err
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return tf.Errorf(tf.FailedPrecondition, "a writer of events must be open, that of %s is closed", w.dir)
	}
	w.queue <- b
	return w.failure()
}

// now adds an event of this moment.
func (w *FileWriter) now(step int64, e *pb.Event) error {
	e.WallTime, e.Step = float64(time.Now().UnixMicro())/1e6, step
	return w.Event(e)
}

// Scalar adds one number.
func (w *FileWriter) Scalar(step int64, tag string, v float32) error {
	value := &pb.Summary_Value{Tag: tag, Value: &pb.Summary_Value_SimpleValue{SimpleValue: v}}
	return w.now(step, &pb.Event{What: &pb.Event_Summary{Summary: &pb.Summary{Value: []*pb.Summary_Value{value}}}})
}

// Summary adds a summary in the form in which ops return it. Metadata of a tag,
// which says how to show it, is written once.
func (w *FileWriter) Summary(step int64, summary string) error {
	s := &pb.Summary{}
	if proto.Unmarshal([]byte(summary), s) != nil {
		return tf.Errorf(tf.DataLoss, "Bad tf.compat.v1.Summary binary proto tensor string")
	}
	w.summaryMu.Lock()
	defer w.summaryMu.Unlock()
	w.seenMu.Lock()
	for _, v := range s.GetValue() {
		if v.GetMetadata() == nil {
			continue
		}
		if w.known[v.GetTag()] {
			v.Metadata = nil
		}
		w.known[v.GetTag()] = true
	}
	w.seenMu.Unlock()
	return w.now(step, &pb.Event{What: &pb.Event_Summary{Summary: s}})
}

// Graph adds a graph, which TensorBoard draws.
func (w *FileWriter) Graph(g *tf.Graph) error {
	if g == nil {
		return tf.Errorf(tf.InvalidArgument, "a graph to draw must not be nil")
	}
	b, err := g.MarshalGraphDef()
	if err != nil {
		return err
	}
	return w.now(0, &pb.Event{What: &pb.Event_GraphDef{GraphDef: b}})
}

// MetaGraph adds a MetaGraph.
func (w *FileWriter) MetaGraph(m *pb.MetaGraphDef) error {
	b, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	return w.now(0, &pb.Event{What: &pb.Event_MetaGraphDef{MetaGraphDef: b}})
}

// RunMetadata adds what a traced step reported, under a tag that no other has.
func (w *FileWriter) RunMetadata(step int64, tag string, m *pb.RunMetadata) error {
	w.seenMu.Lock()
	twice := w.seen[tag]
	w.seen[tag] = true
	w.seenMu.Unlock()
	if twice {
		return tf.Errorf(tf.InvalidArgument, "The provided tag was already used for this event type: %q", tag)
	}
	b, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	return w.now(step, &pb.Event{What: &pb.Event_TaggedRunMetadata{TaggedRunMetadata: &pb.TaggedRunMetadata{Tag: tag, RunMetadata: b}}})
}

// SessionLog adds what has happened to a session: that it started, was saved or
// stopped.
func (w *FileWriter) SessionLog(step int64, l *pb.SessionLog) error {
	return w.now(step, &pb.Event{What: &pb.Event_SessionLog{SessionLog: l}})
}

// Flush writes to the file what was added before.
func (w *FileWriter) Flush() error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return nil
	}
	answer := make(chan error, 1)
	select {
	case w.flush <- answer:
		return <-answer
	case <-w.done:
		return w.failure()
	}
}

// Close writes to the file what was added before, and ends the work on it.
// Closing again does nothing.
func (w *FileWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	close(w.queue)
	<-w.done
	return w.failure()
}
