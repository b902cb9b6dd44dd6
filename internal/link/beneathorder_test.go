//go:build unix

package link

import (
	"bufio"
	"bytes"
	"io"
	"sync"
	"testing"
	"time"
)

// TestPollEnds: a caller that polls beneath TLS stops although more is there: it has a
// deadline, which a peer that sends without end must not delay.
func TestPollEnds(t *testing.T) {
	a, b := secured(t, false)
	defer a.Close()
	defer b.Close()
	r, n := newFrameReader(a), 0
	r.awaitFrame()
	for range 3 * maxPolls {
		if _, err := b.Write(replyTo(1, "x")); err != nil { // a record each
			t.Fatal(err)
		}
	}
	if err := r.poll(func(r *bufio.Reader) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	if n == 0 || n > maxPolls {
		t.Errorf("one poll took %d records", n)
	}
}

// TestOrderBeneath: a record that crypto/tls writes by itself, as an answer to the peer's
// new key, comes after all of the one before it.
func TestOrderBeneath(t *testing.T) {
	nc, peer := pair(t)
	b := Beneath(nc).(*beneath)
	var writing sync.WaitGroup
	var once sync.Once
	full := make(chan struct{})
	b.note = func() { // a part is written, which took long
		once.Do(func() {
			writing.Go(func() {
				if _, err := b.Write([]byte("next")); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(50 * time.Millisecond)
			close(full)
		})
	}
	want := append(bytes.Repeat([]byte("rest"), 4<<20), "next"...)
	b.rest = want[:len(want)-4]
	if err := b.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	writing.Go(func() {
		if err := b.writeRest(); err != nil {
			t.Error(err)
			nc.Close()
		}
	})
	<-full
	got, err := io.ReadAll(io.LimitReader(peer, int64(len(want))))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes come as others, %d, %v", len(want), len(got), err)
	}
	writing.Wait()
	nc.Close()
	peer.Close()
}
