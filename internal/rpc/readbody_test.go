package rpc

import (
	"bufio"
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"google.golang.org/grpc/mem"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// reader gives b and then something else, as a connection does.
func reader(b []byte) *bufio.Reader {
	return bufio.NewReaderSize(io.MultiReader(bytes.NewReader(b), bytes.NewReader([]byte("next"))), 1<<10)
}

func isNext(t *testing.T, r *bufio.Reader) {
	t.Helper()
	if rest, err := io.ReadAll(r); err != nil || string(rest) != "next" {
		t.Errorf("%d bytes were left, %v", len(rest), err)
	}
}

// TestReadBody reads what encode writes, into the receiver's memory, and nothing
// of what follows.
func TestReadBody(t *testing.T) {
	for d := core.DType(1); d < 100; d++ {
		if !d.Valid() || d.Size() == 0 && d != core.String {
			continue
		}
		for _, s := range []core.Shape{{}, {1}, {0}, {3, 2000}, {1, 1, 1, 1, 1, 1, 2}} {
			v := must(t, make([]string, s.NumElements()), s...)
			if d != core.String {
				v = random(d, s)
			}
			b := encoded(t, &TensorResponse{Tensor: v.Share(), SendStart: 77, RequireAck: true})
			var given *memory.Buffer
			got := &TensorResponse{alloc: func(d core.DType, s core.Shape) (*memory.Buffer, error) {
				b, err := rendezvous.Allocate(d, s)
				given = b
				return b, err
			}}
			r := reader(b)
			if err := got.ReadBody(r, len(b)); err != nil || got.err != nil {
				t.Fatalf("%v%v: %v, %v", d, s, err, got.err)
			}
			wantSame(t, "read", v, got.Tensor)
			if d != core.String && got.Tensor.Buffer() != given || got.SendStart != 77 || !got.RequireAck || got.Dead {
				t.Errorf("%v%v: read as %+v", d, s, got)
			}
			isNext(t, r)
		}
	}
}

func TestReadBodyOfDead(t *testing.T) {
	b := encoded(t, &TensorResponse{Dead: true, SendStart: 5})
	got, r := &TensorResponse{}, reader(b)
	if err := got.ReadBody(r, len(b)); err != nil || got.err != nil || !got.Dead || got.Tensor != nil || got.SendStart != 5 {
		t.Errorf("read as %+v, %v", got, err)
	}
	isNext(t, r)
}

// TestReadBodyWithoutMemory: a receiver without memory for it does not disturb
// what follows.
func TestReadBodyWithoutMemory(t *testing.T) {
	b := encoded(t, &TensorResponse{Tensor: random(core.Float32, core.Shape{1000})})
	got := &TensorResponse{alloc: func(core.DType, core.Shape) (*memory.Buffer, error) {
		return nil, core.Errorf(core.ResourceExhausted, "no memory")
	}}
	r := reader(b)
	if err := got.ReadBody(r, len(b)); err != nil || core.CodeOf(got.err) != core.ResourceExhausted || got.Tensor != nil {
		t.Errorf("read as %+v, %v", got, err)
	}
	isNext(t, r)
}

// TestReadBodyBreaks: wherever the connection ends, that is the error, and no
// memory is lost.
func TestReadBodyBreaks(t *testing.T) {
	b := encoded(t, &TensorResponse{Tensor: random(core.Int64, core.Shape{300}), SendStart: 9})
	for n := range len(b) {
		pool := memory.NewPool(1 << 20)
		got := &TensorResponse{alloc: func(d core.DType, s core.Shape) (*memory.Buffer, error) {
			return pool.Get(s.NumElements() * d.Size()), nil
		}}
		if err := got.ReadBody(bufio.NewReader(iotest.OneByteReader(bytes.NewReader(b[:n]))), len(b)); err == nil || got.Tensor != nil {
			t.Errorf("%d bytes of %d: %+v, %v", n, len(b), got, err)
		}
	}
}

// FuzzReadBody: a link gives what gRPC gives, whatever the bytes are.
func FuzzReadBody(f *testing.F) {
	for _, r := range []*TensorResponse{{Dead: true}, {Tensor: random(core.Float32, core.Shape{2, 3}), RequireAck: true}, {Tensor: random(core.Bool, core.Shape{0})}} {
		data, err := r.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data.Materialize())
	}
	f.Add([]byte{tagTensor, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<10 {
			return
		}
		link, grpc := &TensorResponse{}, &TensorResponse{}
		r := reader(b)
		err := link.ReadBody(r, len(b))
		if err != nil {
			t.Fatal(err)
		}
		isNext(t, r)
		if err := grpc.decode(mem.BufferSlice{mem.SliceBuffer(b)}); err != nil {
			grpc.err = err
		}
		if (link.err == nil) != (grpc.err == nil) || link.Dead != grpc.Dead || (link.Tensor == nil) != (grpc.Tensor == nil) {
			t.Fatalf("by a link %+v, by gRPC %+v", link, grpc)
		}
		if link.Tensor != nil {
			wantSame(t, "by a link", grpc.Tensor, link.Tensor)
			link.Tensor.Release()
			grpc.Tensor.Release()
		}
	})
}

// TestReadBodyOfBools: by a link, too, every byte but 0 is true, which is 1.
func TestReadBodyOfBools(t *testing.T) {
	v := core.NewTensor(core.Bool, core.Shape{4})
	copy(v.Buffer().Bytes(), "\x00\x01\x02\xff")
	b := encoded(t, &TensorResponse{Tensor: v})
	got, r := &TensorResponse{}, reader(b)
	if err := got.ReadBody(r, len(b)); err != nil || got.err != nil {
		t.Fatal(err, got.err)
	}
	if b := got.Tensor.Buffer().Bytes(); string(b[:4]) != "\x00\x01\x01\x01" {
		t.Errorf("the bytes are %v", b)
	}
	isNext(t, r)
}
