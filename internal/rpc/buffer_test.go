package rpc

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func noise(n int) []byte {
	r, b := rand.New(rand.NewPCG(uint64(n), 1)), make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

var bufferSizes = []int{0, 1, 100, 1 << 10, 5000, maxPiece - 1, maxPiece, maxPiece + 1, 3*maxPiece + 2000}

// A lender answers RecvBuf with so many bytes as are asked for, or as it wants.
type lender struct {
	UnimplementedWorker
	size int // -1: as asked
	sent atomic.Int32

	failures int // calls that fail before the first answer
	acks     chan int64
	ids      []int64 // of requests
}

func (l *lender) MarkRecvFinished(_ context.Context, req *pb.MarkRecvFinishedRequest) (*pb.MarkRecvFinishedResponse, error) {
	l.acks <- req.GetRequestId()
	return &pb.MarkRecvFinishedResponse{}, nil
}

func (l *lender) RecvBuf(_ context.Context, req *pb.RecvBufRequest) (*BufferResponse, error) {
	if l.failures > 0 || l.acks != nil {
		l.ids = append(l.ids, req.GetRequestId())
	}
	if l.failures > 0 {
		l.failures--
		return nil, core.Errorf(core.Unavailable, "lost")
	}
	n := l.size
	if n < 0 {
		n = int(req.GetNumBytes())
	}
	return &BufferResponse{Content: noise(n), Sent: func() { l.sent.Add(1) }, RequireAck: l.acks != nil}, nil
}

func TestBuffersCross(t *testing.T) {
	l := &lender{size: -1}
	c := NewWorkerClient(dial(t, serve(t, ServerConfig{}, withWorker(l)), DialConfig{}))
	for i, n := range bufferSizes {
		into := make([]byte, n)
		if err := c.RecvBuf(t.Context(), &pb.RecvBufRequest{NumBytes: int64(n)}, into); err != nil || !bytes.Equal(into, noise(n)) {
			t.Errorf("%d bytes: %v, or not those that were sent", n, err)
		}
		for l.sent.Load() != int32(i+1) { // the server may hear of it a little later
			runtime.Gosched()
		}
	}
	l.size = 10
	for _, n := range []int{0, 9, 11, 2000} {
		want := fmt.Sprintf("Tensor Size Mismatch: RecvBufResponse returned 10 bytes, expected: %d", n)
		if err := c.RecvBuf(t.Context(), &pb.RecvBufRequest{}, make([]byte, n)); core.CodeOf(err) != core.Internal || core.AsError(err).Message() != want {
			t.Errorf("10 bytes for %d: %v", n, err)
		}
	}
}

// inPieces is a message as TensorFlow's workers write it.
func inPieces(t testing.TB, content []byte, size int) []byte {
	t.Helper()
	extra := &pb.RecvBufRespExtra{}
	for len(content) > 0 {
		n := min(size, len(content))
		extra.TensorContent = append(extra.TensorContent, content[:n])
		content = content[n:]
	}
	options, err := pb.PackAny(extra)
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(&pb.RecvBufResponse{TransportOptions: options, SendStartMicros: 12345, RequireAck: true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What we write is what a protocol buffer says, and what TensorFlow's workers
// write is read without going by way of a message.
func TestBufferMessages(t *testing.T) {
	for i, n := range bufferSizes {
		sent, ack := false, i%2 == 0
		data, err := (&BufferResponse{Content: noise(n), Sent: func() { sent = true }, RequireAck: ack}).encode()
		if err != nil {
			t.Fatal(err)
		}
		var m pb.RecvBufResponse
		if err := proto.Unmarshal(data.Materialize(), &m); err != nil {
			t.Fatal(err)
		}
		var extra pb.RecvBufRespExtra
		if err := pb.UnpackAny(m.GetTransportOptions(), &extra); err != nil || !bytes.Equal(bytes.Join(extra.GetTensorContent(), nil), noise(n)) || m.GetSendStartMicros() == 0 || m.GetRequireAck() != ack {
			t.Errorf("%d bytes are not what the message says: %v", n, err)
		}
		data.Free()
		if !sent {
			t.Errorf("%d bytes: nobody is told that they have been sent", n)
		}
		theirs := inPieces(t, noise(n), 4096)
		got := BufferResponse{into: make([]byte, n)}
		if k, ok := got.decodeFast(newCursor(mem.BufferSlice{mem.SliceBuffer(theirs)})); !ok || k != n || !bytes.Equal(got.into, noise(n)) || !got.RequireAck {
			t.Errorf("%d bytes in TensorFlow's form: %d, %v", n, k, ok)
		}
	}
}

// No bytes crash a receiver, and it reads what a protocol buffer says.
func FuzzBufferResponse(f *testing.F) {
	f.Add(inPieces(f, noise(100), 30), uint8(100), uint8(7))
	f.Add(inPieces(f, nil, 1), uint8(0), uint8(1))
	f.Add([]byte{tagBufAck, 1, tagBufOptions, 0}, uint8(3), uint8(0))
	f.Add(bytes.Replace(inPieces(f, noise(100), 30), []byte("tensorflow"), []byte("tonserflow"), 1), uint8(100), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, size, cut uint8) {
		got := BufferResponse{into: make([]byte, size)}
		at := min(int(cut), len(data))
		err := got.decode(mem.BufferSlice{mem.SliceBuffer(data[:at]), mem.SliceBuffer(data[at:])})
		want := BufferResponse{into: make([]byte, size)}
		n, wantErr := want.decodeAny(mem.BufferSlice{mem.SliceBuffer(data)})
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("decoding gives %v, the message %v", err, wantErr)
		}
		if err == nil && got.err == nil && (n != len(want.into) || !bytes.Equal(got.into, want.into) || got.RequireAck != want.RequireAck) {
			t.Fatalf("got %v, the message says %v", got, want)
		}
	})
}
