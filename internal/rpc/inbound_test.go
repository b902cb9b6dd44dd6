package rpc

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/gorge-tf/gorge/internal/inbound"
	"github.com/gorge-tf/gorge/internal/link"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

const (
	partSize = 20 << 20 // of a message that never comes whole
	partSent = 3 << 20  // what comes of it: less than the window
)

// beginCalls begins calls by gRPC on a connection and sends a part of each one's
// message, until the server hangs up. It returns how much it sent.
func beginCalls(nc net.Conn, calls int) (sent int) {
	f := http2.NewFramer(nc, nil)
	if _, err := io.WriteString(nc, http2.ClientPreface); err != nil || f.WriteSettings() != nil {
		return 0
	}
	go func() { _, _ = io.Copy(io.Discard, nc) }() // ends with the connection
	part := append(binary.BigEndian.AppendUint32([]byte{0}, partSize), make([]byte, partSent)...)
	var head bytes.Buffer
	enc := hpack.NewEncoder(&head)
	for i := range calls {
		head.Reset()
		for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", "/tensorflow.WorkerService/RegisterGraph"}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
			if err := enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
				return sent
			}
		}
		id := uint32(2*i + 1)
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(), EndHeaders: true}); err != nil {
			return sent
		}
		for b := part; len(b) > 0; {
			n := min(16<<10, len(b))
			if err := f.WriteData(id, false, b[:n]); err != nil {
				return sent
			}
			b, sent = b[n:], sent+n
		}
	}
	return sent
}

// beginLink begins one call by a link.
func beginLink(nc net.Conn, _ int) int {
	const name = "/tensorflow.WorkerService/RegisterGraph"
	head := append([]byte{0, byte(len(name))}, name...)
	b := append([]byte(link.Preface), 1, 0, 0, 0, 1, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
	b = binary.LittleEndian.AppendUint64(b, partSize)
	n, _ := nc.Write(append(append(b, head...), make([]byte, partSize-1)...)) // an error is what the test waits for
	return n
}

// TestPartsFitMemory: peers that begin messages and never end them are cut off before
// the memory is full. Others go on.
func TestPartsFitMemory(t *testing.T) {
	ways := map[string]struct {
		begin        func(net.Conn, int) int
		peers, calls int
	}{"grpc": {beginCalls, 4, 100}, "link": {beginLink, 40, 1}}
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			mayUse(t, 128<<20)
			_, limit := memory.Usage()
			addr := serveLinks(t, taker{})
			sent := make(chan int)
			for range w.peers {
				nc, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				go func() { sent <- w.begin(nc, w.calls) }()
			}
			all, most := 0, int64(0)
			for n := 0; n < w.peers; {
				select {
				case k := <-sent:
					all += k
					n++
				case <-time.After(time.Millisecond):
				}
				most = max(most, inbound.Held())
			}
			if room := inbound.Most(); most > room+16<<20 {
				t.Errorf("up to %d bytes of unfinished messages, want %d at most", most, room)
			}
			runtime.GC() // what the peers of this test wrote from is no memory of the server's
			if used, _ := memory.Usage(); used > limit {
				t.Errorf("after %d bytes of unfinished messages %d bytes are in use, the limit is %d", all, used, limit)
			}
			small := &pb.RegisterGraphRequest{GraphDef: &pb.GraphDef{Node: []*pb.NodeDef{{Name: "a"}}}}
			if _, err := NewWorkerClient(dial(t, addr, DialConfig{})).RegisterGraph(t.Context(), small); err != nil {
				t.Errorf("another peer: %v", err)
			}
		})
	}
}

// TestTooLongForMemory: a message of which half the memory is too little is refused by
// what its header says.
func TestTooLongForMemory(t *testing.T) {
	long := &pb.RegisterGraphRequest{SessionHandle: string(make([]byte, 128<<20))}
	before := memory.SetLimit(int64(2*len(long.SessionHandle) - 2))
	defer memory.SetLimit(before)
	addr := serveLinks(t, taker{})
	for _, linking := range []bool{false, true} {
		c := dial(t, addr, DialConfig{NoLinks: !linking})
		w := NewWorkerClient(c)
		if _, err := w.RegisterGraph(t.Context(), &pb.RegisterGraphRequest{}); err != nil {
			t.Fatal(err)
		}
		if linking {
			linked(t, c)
		}
		if _, err := w.RegisterGraph(t.Context(), long); core.CodeOf(err) != core.ResourceExhausted {
			t.Errorf("links %v: %v, want RESOURCE_EXHAUSTED", linking, err)
		}
		if _, err := w.RegisterGraph(t.Context(), &pb.RegisterGraphRequest{}); err != nil {
			t.Errorf("the next call: %v", err)
		}
	}
}
