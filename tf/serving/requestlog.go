package serving

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// A RequestLog says which requests of a model are written to files, with their
// answers: records that TensorFlow Serving calls PredictionLog, in TFRecord files.
// Such a file is good for warm-up, too. The zero value writes none.
type RequestLog struct {
	// Prefix begins the names of files: PREFIX-MODEL-TIME.tfrecord.
	Prefix string
	// Share of the requests that are written, from 0 to 1.
	Share float64
}

// maxWaiting bounds the records that wait to be written, maxBytes what they take, but for
// a larger one that waits alone. Those above are dropped: requests do not wait for a disk.
const (
	maxWaiting = 256
	maxBytes   = 64 << 20
)

// requestLogs writes the requests of all models.
type requestLogs struct {
	log     *slog.Logger
	queue   chan logged
	waiting atomic.Int64 // bytes of the records in queue, or about to be
	writer  sync.WaitGroup
	dropped sync.Once
	mu      sync.RWMutex // held while closed changes
	closed  bool
	files   map[string]*os.File // by prefix and model; the writer's
}

type logged struct {
	prefix, model string
	data          []byte
}

func newRequestLogs(log *slog.Logger) *requestLogs {
	l := &requestLogs{log: log, queue: make(chan logged, maxWaiting), files: map[string]*os.File{}}
	l.writer.Go(l.write)
	return l
}

// add writes what make returns if it is the request's turn. m is nil if the model
// has gone meanwhile.
func (l *requestLogs) add(m *Model, h *handle, make func() *servingpb.PredictionLog) {
	if m == nil || m.Log.Prefix == "" || rand.Float64() >= m.Log.Share {
		return
	}
	p := make()
	p.LogMetadata = &servingpb.LogMetadata{
		ModelSpec: answered(h, ""), SamplingConfig: &servingpb.SamplingConfig{SamplingRate: m.Log.Share}, TimestampSecs: time.Now().Unix(),
	}
	data, err := proto.Marshal(p)
	if err != nil {
		l.log.Error("a request cannot be logged", "model", m.Name, "error", err)
		return
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return
	}
	if n := int64(len(data)); !l.room(n) {
		l.drop()
		return
	}
	select {
	case l.queue <- logged{m.Log.Prefix, m.Name, data}:
	default:
		l.waiting.Add(-int64(len(data)))
		l.drop()
	}
}

// room counts n bytes that are about to wait, and reports whether they may.
func (l *requestLogs) room(n int64) bool {
	if all := l.waiting.Add(n); all <= maxBytes || all == n {
		return true
	}
	l.waiting.Add(-n)
	return false
}

func (l *requestLogs) drop() {
	l.dropped.Do(func() { l.log.Warn("requests come faster than they are logged; some are left out") })
}

// write writes until the queue is closed. What cannot be written is left out.
func (l *requestLogs) write() {
	for r := range l.queue {
		l.waiting.Add(-int64(len(r.data)))
		if err := l.put(r); err != nil {
			l.log.Error("a request has not been logged", "model", r.model, "error", err)
		}
	}
	for _, f := range l.files {
		if err := f.Close(); err != nil {
			l.log.Error("requests have not been logged", "file", f.Name(), "error", err)
		}
	}
}

// put appends a record in one write: a process that dies leaves whole records.
func (l *requestLogs) put(r logged) error {
	key := r.prefix + "\x00" + r.model
	f := l.files[key]
	if f == nil {
		name := r.prefix + "-" + filepath.Base(r.model) + "-" + time.Now().UTC().Format("20060102T150405.000000000") + ".tfrecord"
		var err error
		if f, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
			return core.FileError(name, err)
		}
		l.files[key] = f
	}
	var b bytes.Buffer
	err := record.NewWriter(&b).Write(r.data)
	if err == nil {
		_, err = f.Write(b.Bytes())
	}
	if err != nil {
		f.Close()
		delete(l.files, key) // the next record begins a new file
		return core.FileError(f.Name(), err)
	}
	return nil
}

// close writes what waits.
func (l *requestLogs) close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.queue)
	}
	l.mu.Unlock()
	l.writer.Wait()
}
