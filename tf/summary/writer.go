// Package summary writes the event files that TensorBoard shows.
//
// The ops in tf/ops/summary make summaries within a graph: what they return is
// given to [Writer.Summary].
package summary

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Opts are the options of a Writer.
type Opts struct {
	// Suffix ends the name of the file.
	Suffix string
	// MaxQueue is how many events may wait before they are written to the
	// file; FlushEvery is for how long. What is zero is no limit.
	MaxQueue   int
	FlushEvery time.Duration
}

// A Writer writes a file of events. It may be used by several goroutines. Events that
// the disk has no room for are lost, as the error says; the file has whole ones only,
// and the Writer goes on when there is room again. A closed one refuses events with
// FAILED_PRECONDITION.
type Writer struct {
	opts    Opts
	mu      sync.Mutex
	closed  bool
	file    *os.File
	size    int64          // of the whole events in the file
	torn    bool           // the file may end with a part of one
	pending bytes.Buffer   // whole events that the file does not have yet
	records *record.Writer // to pending
	waiting int            // events in pending
	flushed time.Time
}

// enough is how many bytes wait at most.
const enough = 4096

// writers numbers the files of the process.
var writers atomic.Int64

// NewWriter begins a file in a directory, which it makes if need be.
func NewWriter(dir string, o Opts) (*Writer, error) {
	dir = core.LocalPath(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, core.FileError(dir, err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	name := filepath.Join(dir, fmt.Sprintf("events.out.tfevents.%010d.%s.%d.%d%s", now.Unix(), host, os.Getpid(), writers.Add(1)-1, o.Suffix))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, core.FileError(name, err)
	}
	w := &Writer{opts: o, file: f, flushed: now}
	if err := w.begin(now); err != nil {
		_ = f.Close()
		_ = os.Remove(name)
		return nil, err
	}
	return w, nil
}

// begin writes the first event.
func (w *Writer) begin(now time.Time) error {
	info, err := w.file.Stat()
	if err != nil {
		return core.FileError(w.Name(), err)
	}
	w.size = info.Size()
	w.records = record.NewWriter(&w.pending)
	first := &pb.Event{
		WallTime: float64(now.Unix()), What: &pb.Event_FileVersion{FileVersion: "brain.Event:2"},
		SourceMetadata: &pb.SourceMetadata{Writer: "tensorflow.core.util.events_writer"},
	}
	if err := w.put(first); err != nil {
		return err
	}
	return w.Flush()
}

// Name returns the name of the file.
func (w *Writer) Name() string { return w.file.Name() }

// Scalar adds one number.
func (w *Writer) Scalar(step int64, tag string, v float32) error {
	value := &pb.Summary_Value{Tag: tag, Value: &pb.Summary_Value_SimpleValue{SimpleValue: v}}
	return w.now(step, &pb.Event{What: &pb.Event_Summary{Summary: &pb.Summary{Value: []*pb.Summary_Value{value}}}})
}

// Summary adds a summary in the form in which ops return it.
func (w *Writer) Summary(step int64, summary string) error {
	s := &pb.Summary{}
	if proto.Unmarshal([]byte(summary), s) != nil {
		return tf.Errorf(tf.DataLoss, "Bad tf.compat.v1.Summary binary proto tensor string")
	}
	return w.now(step, &pb.Event{What: &pb.Event_Summary{Summary: s}})
}

// Graph adds a serialized GraphDef.
func (w *Writer) Graph(step int64, graphDef []byte) error {
	return w.now(step, &pb.Event{What: &pb.Event_GraphDef{GraphDef: graphDef}})
}

// Event adds a serialized Event as it is.
func (w *Writer) Event(serialized []byte) error {
	e := &pb.Event{}
	if proto.Unmarshal(serialized, e) != nil {
		return tf.Errorf(tf.DataLoss, "Bad tf.Event binary proto tensor string")
	}
	return w.put(e)
}

// now adds an event of this moment.
func (w *Writer) now(step int64, e *pb.Event) error {
	e.WallTime, e.Step = float64(time.Now().UnixMicro())/1e6, step
	return w.put(e)
}

// put appends an event.
func (w *Writer) put(e *pb.Event) error {
	b, err := encoded(e)
	if err != nil {
		return err
	}
	return w.write(b)
}

// encoded returns an event in the form in which files have it.
func encoded(e *pb.Event) ([]byte, error) {
	if e == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "an event must not be nil")
	}
	b, err := proto.Marshal(e)
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "the event cannot be written: %v", err)
	}
	return b, nil
}

// write appends an encoded event.
func (w *Writer) write(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return tf.Errorf(tf.FailedPrecondition, "a writer of events must be open, that of %s is closed", w.Name())
	}
	if err := w.records.Write(b); err != nil {
		return core.FileError(w.Name(), err)
	}
	w.waiting++
	if o := w.opts; w.pending.Len() >= enough || o.MaxQueue > 0 && w.waiting > o.MaxQueue || o.FlushEvery > 0 && time.Since(w.flushed) > o.FlushEvery {
		return w.flush()
	}
	return nil
}

// Flush writes what waits to the file.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

func (w *Writer) flush() error {
	w.waiting, w.flushed = 0, time.Now()
	if w.pending.Len() == 0 && !w.torn {
		return nil
	}
	err := w.append(w.pending.Bytes())
	w.forget()
	if err != nil {
		return core.FileError(w.Name(), err)
	}
	return nil
}

// append writes whole events behind the others, or nothing. A part that cannot be
// removed is removed before anything follows it: readers go no further than that.
func (w *Writer) append(events []byte) error {
	if w.torn {
		if err := w.file.Truncate(w.size); err != nil {
			return err
		}
		w.torn = false
	}
	n, err := w.file.Write(events)
	if err != nil {
		w.torn = w.file.Truncate(w.size) != nil
		return err
	}
	w.size += int64(n)
	return nil
}

// forget empties pending. The memory of a large event is not kept.
func (w *Writer) forget() {
	if w.pending.Reset(); w.pending.Cap() > 4*enough {
		w.pending = bytes.Buffer{}
	}
}

// Close flushes and closes the file. Closing again does nothing.
func (w *Writer) Close() error {
	w.mu.Lock() // an event comes before it all, or is refused
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	err := w.flush()
	if e := w.file.Close(); err == nil && e != nil {
		err = core.FileError(w.Name(), e)
	}
	return err
}
