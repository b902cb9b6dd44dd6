package link

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func TestHeaders(t *testing.T) {
	for _, h := range []header{{kindCall, 1, 20, 30}, {kindReply, 1<<32 - 1, maxHead, maxBody}, {kindNotify, 0, 0, 0}} {
		got, err := readHeader(bufio.NewReader(bytes.NewReader(h.append(nil))))
		if err != nil || got != h {
			t.Errorf("read %+v, %v, want %+v", got, err, h)
		}
	}
}

func TestWrongHeaders(t *testing.T) {
	good := header{kindCall, 1, 2, 3}.append(nil)
	change := func(i int, to byte) []byte {
		b := bytes.Clone(good)
		b[i] = to
		return b
	}
	for name, b := range map[string][]byte{
		"no kind": change(0, 0), "unknown kind": change(0, 99), "reserved": change(2, 1),
		"long head": change(11, 1), "long body": change(18, 1), "short": good[:7],
	} {
		if _, err := readHeader(bufio.NewReader(bytes.NewReader(b))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestHeads(t *testing.T) {
	method, limit, _, err := parseCallHead(callHead("/a.B/C", 1500*time.Microsecond))
	if method != "/a.B/C" || limit != 1500*time.Microsecond || err != nil {
		t.Errorf("read %q, %v, %v", method, limit, err)
	}
	if _, limit, _, _ := parseCallHead(callHead("m", time.Nanosecond)); limit != time.Microsecond {
		t.Errorf("the shortest limit became %v", limit)
	}
	o := outcome{code: codes.NotFound, msg: "no such step", header: metadata.Pairs("k", "1", "k", "2"), trailer: metadata.Pairs("bin", "\x00\xff")}
	got, err := parseOutcome(o.append(nil))
	if err != nil || !cmp.Equal(got, o, cmp.AllowUnexported(outcome{})) {
		t.Errorf("read %+v, %v, want %+v", got, err, o)
	}
	if err := got.err(); status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), "no such step") {
		t.Errorf("as an error: %v", err)
	}
}

// TestFrames: bodies go out as they are, whether they are copied or not.
func TestFrames(t *testing.T) {
	for _, n := range []int{0, 1, smallBody, smallBody + 1} {
		body := bytes.Repeat([]byte{7}, n)
		f := newFrame(kindCall, 3, []byte("head"), mem.BufferSlice{mem.SliceBuffer(body[:n/2]), mem.SliceBuffer(body[n/2:])})
		var out []byte
		for _, b := range buffers([]frame{f}) {
			out = append(out, b...)
		}
		want := append(append(header{kindCall, 3, 4, n}.append(nil), "head"...), body...)
		if !bytes.Equal(out, want) {
			t.Errorf("a body of %d bytes: frame of %d bytes, want %d", n, len(out), len(want))
		}
	}
}

// TestBuffersTogether: small frames are written as one piece, in order.
func TestBuffersTogether(t *testing.T) {
	big := mem.BufferSlice{mem.SliceBuffer(make([]byte, smallBody+1))}
	batch := []frame{newFrame(kindNotify, 0, []byte("a"), nil), newFrame(kindCall, 1, []byte("b"), nil), newFrame(kindCall, 2, nil, big), newFrame(kindPing, 0, nil, nil)}
	out := buffers(batch)
	if len(out) != 3 || len(out[0]) != 3*headerSize+2 || out[0][headerSize] != 'a' || out[0][2*headerSize+1] != 'b' {
		t.Errorf("pieces of %d", len(out))
	}
}

func TestCut(t *testing.T) {
	pieces := [][]byte{[]byte("abc"), nil, []byte("defg"), []byte("h")}
	for n := range 10 {
		first, rest := cut(pieces, n)
		a, b := bytes.Join(first, nil), bytes.Join(rest, nil)
		if len(a) != min(n, 8) || string(a)+string(b) != "abcdefgh" {
			t.Errorf("cut at %d: %q and %q", n, a, b)
		}
	}
}

func flat(md metadata.MD) (out []string) {
	for k, vs := range md {
		for _, v := range vs {
			out = append(out, k, v)
		}
	}
	return out
}

func FuzzHeads(f *testing.F) {
	f.Add(callHead("/tensorflow.WorkerService/RunGraph", time.Second))
	f.Add(callHead("/t/Echo", 0, "authorization", "Bearer x", "traceparent", ""))
	f.Add((&outcome{code: codes.Internal, msg: "x", trailer: metadata.Pairs("a", "b")}).append(nil))
	f.Add(header{kindReply, 1, 2, 3}.append(nil))
	f.Add([]byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		if method, limit, md, err := parseCallHead(b); err == nil {
			m, l, again, err := parseCallHead(callHead(method, limit, flat(md)...))
			if m != method || l != limit || err != nil || len(md) > 0 && !cmp.Equal(md, again) {
				t.Errorf("%q, %v, %v became %q, %v, %v, %v", method, limit, md, m, l, again, err)
			}
		}
		if o, err := parseOutcome(b); err == nil {
			if again, err := parseOutcome(o.append(nil)); err != nil || !cmp.Equal(again, o, cmp.AllowUnexported(outcome{})) {
				t.Errorf("%+v became %+v, %v", o, again, err)
			}
		}
		_, _ = readHeader(bufio.NewReader(bytes.NewReader(b)))
	})
}

// TestOrder: frames go out in the order in which they were sent, urgent or not.
func TestOrder(t *testing.T) {
	a, b := pair(t)
	defer a.Close()
	defer b.Close()
	c, r := newConn(a), newConn(b)
	for i, send := range []func(frame) error{c.sendLater, c.sendLater, func(f frame) error { return c.send(f, true) }} {
		if err := send(newFrame(kindNotify, uint32(i), []byte{byte('a' + i)}, nil)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		if h, head, err := readHead(r.br); err != nil || h.call != uint32(i) || string(head) != string(rune('a'+i)) {
			t.Errorf("frame %d: %+v, %q, %v", i, h, head, err)
		}
	}
}
