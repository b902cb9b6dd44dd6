package verbs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestScripts plays the protocol's dialogues in testdata. A line says what
// happens to a channel; the indented lines under it, what the channel does
// then: > is what it sends, = what a receive gives, and ! that it is over.
//
//	recv NAME KEY STEP         the task wants a tensor
//	abandon NAME               and does not any more
//	produce KEY STEP TENSOR    the task sends a tensor, or an error
//	peer MESSAGE               the peer sends a message (or ack, content, status)
//	peer batch MESSAGE ; …     it sends several at once
//	manual, complete           from here on, the device is done with the
//	                           oldest request only when the script says so
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { play(t, string(text)) })
		})
	}
}

// TestPeerMistakes: a peer that does not keep to the protocol loses its
// connection, and nothing else happens.
func TestPeerMistakes(t *testing.T) {
	for _, c := range []struct{ does, want string }{
		{"content 9", "it speaks of request 9, which does not exist"},
		{"content 4294967293", "it speaks of request 4294967293, which does not exist"},
		{"ack", "it acknowledges a message that was not sent"},
		{"garbage 10", "INVALID_ARGUMENT: an RDMA message has at least 583 bytes, got 10"},
		{"garbage 4680", "it wrote a message of 4680 bytes, there is room for 4679"},
		{"status 10", "a work request ended with remote access error (10)"},
		{"meta 9 dead", "+it speaks of request 9, which does not exist"},
		{"error 9 x", "+it speaks of request 9, which does not exist"},
		{"rerequest 1 k 1 dead", "+it repeats request 1, to which nothing was offered"},
		{"rerequest 5 k 1 dead", "+it repeats request 5, to which nothing was offered"},
		{"request 1 k 2 int8[1]", "+it uses the number of request 1, which is under way, again"},
	} {
		script := "connect 7\n  > ping\npeer request 1 k 1 ?\n  > ack\npeer " + c.does + "\n"
		want, read := strings.CutPrefix(c.want, "+") // a message that can be read is acknowledged first
		if read {
			script += "  > ack\n"
		}
		script += "  ! UNAVAILABLE: RDMA connection to PEER lost: " + want + "\n"
		t.Run(c.does, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, script) })
		})
	}
}

// play runs a script and compares what happens with what it says.
func play(t *testing.T, text string) {
	s := newStage(t)
	defer s.close()
	var want, got []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "):
			want = append(want, line)
		default:
			want = append(want, line)
			got = append(append(got, line), s.do(strings.Fields(line))...)
		}
	}
	if !slices.Equal(want, got) {
		t.Errorf("the script says\n%s\nbut it happens\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// A stage is a connected channel and all that surrounds it.
type stage struct {
	t       *testing.T
	dev     *fakeDevice
	adapter *Adapter
	c       *Channel
	cancel  map[string]context.CancelFunc // of receives, by name
	wanted  map[string]rendezvous.Done    // by the peer, under "key step"
	manual  bool
	pending []SendWR   // that complete by hand
	happens []string   // what the channel does, and what receives give
	mu      sync.Mutex // for results and wanted
	results []string

	// Of tests of the older generation: the last message that the channel sent, how many
	// it acknowledged, and what it wrote.
	last    *olderMessage
	acks    int
	written []SendWR
}

func newStage(t *testing.T) *stage { return newStageOf(t, 4) }

func newStageOf(t *testing.T, depth int) *stage {
	s := &stage{t: t, dev: newFakeDevice(), cancel: map[string]context.CancelFunc{}, wanted: map[string]rendezvous.Done{}}
	var err error
	s.adapter, err = NewAdapter(s.dev, Config{QueueDepth: depth, ArenaBytes: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	s.c, err = newChannel(s.adapter, "PEER", s.serve, &metaCache{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) close() {
	s.c.close(errShutDown)
	synctest.Wait()
	if err := s.adapter.Close(); err != nil {
		s.t.Error(err)
	}
	if _, ok := s.adapter.arena.Get(1); ok {
		s.t.Error("buffers of the arena are still in use")
	}
	if s.dev.recvs < s.adapter.config.QueueDepth {
		s.t.Errorf("the channel posted %d receives", s.dev.recvs)
	}
}

// serve gives the peer what the script produces.
func (s *stage) serve(ctx context.Context, step int64, key string, done rendezvous.Done) {
	name := fmt.Sprint(key, " ", step)
	s.mu.Lock()
	s.wanted[name] = done
	s.mu.Unlock()
	context.AfterFunc(ctx, func() {
		if done := s.take(name); done != nil {
			done(nil, false, &core.Error{Code: core.Canceled, Msg: "RecvAsync is cancelled.", Derived: true})
		}
	})
}

// take returns a receiver of a value, if there is one: one call of several gets it.
func (s *stage) take(name string) rendezvous.Done {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.wanted[name]
	delete(s.wanted, name)
	return done
}

// do plays one line and returns what comes of it.
func (s *stage) do(words []string) []string {
	s.happens, s.results = nil, nil
	over := s.c.over()
	s.act(words)
	s.settle()
	slices.Sort(s.results) // receives are answered in any order
	if err := s.c.over(); err != nil && over == nil {
		s.results = append(s.results, fmt.Sprintf("  ! %v", err))
	}
	return append(s.happens, s.results...)
}

// settle lets everything happen that happens by itself. The device completes
// requests in order.
func (s *stage) settle() {
	for synctest.Wait(); len(s.dev.posted) > 0; synctest.Wait() {
		wr := s.dev.posted[0]
		s.dev.posted = s.dev.posted[1:]
		s.happens = append(s.happens, "  > "+s.c.describe(wr))
		if s.manual {
			s.pending = append(s.pending, wr)
		} else {
			s.c.complete(Completion{ID: wr.ID, Op: wr.Op})
		}
	}
}

func (s *stage) act(words []string) {
	switch arg := words[1:]; words[0] {
	case "connect":
		e := endpoint{Address: Address{QPN: number(arg[0])}}
		if len(arg) > 1 {
			e.room = int(number(arg[1])) // of the peer's buffer for messages
		}
		if err := s.c.connect(e, false); err != nil {
			s.happens = append(s.happens, "  "+err.Error())
		}
	case "recv":
		s.recv(arg[0], arg[1], int64(number(arg[2])))
	case "abandon":
		s.cancel[arg[0]]()
	case "produce":
		s.produce(arg[0]+" "+arg[1], arg[2:])
	case "peer":
		s.c.complete(s.peer(arg[0], arg[1:]))
	case "manual":
		s.manual = true
	case "complete":
		wr := s.pending[0]
		s.pending = s.pending[1:]
		s.c.complete(Completion{ID: wr.ID, Op: wr.Op})
	default:
		s.t.Fatalf("a script cannot say %q", words)
	}
}

func (s *stage) recv(name, key string, step int64) {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel[name] = cancel
	s.c.recv(ctx, step, key, s.alloc, func(r rendezvous.Result) {
		s.mu.Lock()
		s.results = append(s.results, "  = "+name+" "+outcome(r))
		s.mu.Unlock()
		if r.Tensor != nil {
			r.Tensor.Release()
		}
	})
}

// alloc has no room for a certain shape.
func (s *stage) alloc(d core.DType, shape core.Shape) (*memory.Buffer, error) {
	if shape.Equal(core.Shape{13}) {
		return nil, core.Errorf(core.ResourceExhausted, "no room for 13")
	}
	return rendezvous.Allocate(d, shape)
}

func outcome(r rendezvous.Result) string {
	switch {
	case r.Err != nil:
		return "error " + r.Err.Error()
	case r.Dead:
		return "dead"
	}
	return r.Tensor.String()
}

func (s *stage) produce(name string, words []string) {
	done := s.take(name)
	if done == nil {
		s.happens = append(s.happens, "  nobody wants "+name)
		return
	}
	switch words[0] {
	case "error":
		done(nil, false, core.Errorf(core.Internal, "%s", words[1]))
	case "dead":
		done(nil, true, nil)
	default:
		m := parseTensor(words[0])
		t := core.NewTensor(m.dtype, m.shape)
		if objects(m.dtype) {
			for i := range t.Len() {
				core.Data[string](t)[i] = words[1]
			}
		}
		done(t, false, nil)
	}
}

// parseTensor reads "float32[2,3]", "string[2]/17", "dead" or "?".
func parseTensor(s string) metaData {
	switch s {
	case "?":
		return metaData{}
	case "dead":
		return deadMeta()
	}
	s, bytes, _ := strings.Cut(s, "/")
	name, dims, _ := strings.Cut(strings.TrimSuffix(s, "]"), "[")
	m := metaData{dtype: map[string]core.DType{"float32": core.Float32, "int8": core.Int8, "string": core.String}[name], shape: core.Shape{}}
	for dim := range strings.SplitSeq(dims, ",") {
		if dim != "" {
			m.shape = append(m.shape, int(number(dim)))
		}
	}
	m.bytes = m.shape.NumElements() * m.dtype.Size()
	if bytes != "" {
		m.bytes = int(number(bytes))
	}
	return m
}

// peer returns the completion by which the channel hears of what the peer does.
func (s *stage) peer(what string, arg []string) Completion {
	switch what {
	case "ping":
		return s.c.greet(map[string]string{"gorge": pingText, "tensorflow": "\x00\x00"}[arg[0]])
	case "ack":
		return Completion{ID: recvID, Op: OpRecvWriteImm, Imm: immAck}
	case "content":
		if r := s.c.requests.live[number(arg[0])]; r != nil {
			fill(r.dest.bytes(), r.index)
		}
		return Completion{ID: recvID, Op: OpRecvWriteImm, Imm: number(arg[0])}
	case "status":
		return Completion{ID: 3, Status: Status(number(arg[0]))}
	case "garbage":
		return Completion{ID: recvID, Op: OpRecvWriteImm, Imm: immMessage, Len: number(arg[0])}
	case "batch":
		var all []*message
		for words := range strings.SplitSeq(strings.Join(arg, " "), " ; ") {
			one := strings.Fields(words)
			all = append(all, parsePeer(one[0], one[1:]))
		}
		return s.c.deliverBatch(all)
	}
	return s.c.deliver(parsePeer(what, arg))
}

func parsePeer(what string, arg []string) *message {
	m := &message{index: number(arg[0])}
	switch what {
	case "request", "rerequest":
		m.typ = map[string]messageType{"request": tensorRequest, "rerequest": tensorReRequest}[what]
		m.key, m.step, m.meta = arg[1], int64(number(arg[2])), parseTensor(arg[3])
		if len(arg) > 4 {
			m.addr, m.rkey = 1000, 7
		}
	case "meta":
		m.typ, m.meta = metaDataUpdate, parseTensor(arg[1])
	case "cancel":
		m.typ = tensorCancel
	case "error":
		m.typ, m.err = errorStatus, core.Errorf(core.DataLoss, "%s", arg[1])
	default:
		panic(errors.New("a peer cannot send " + what))
	}
	return m
}
