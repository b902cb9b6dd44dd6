package verbs_test

import (
	"runtime"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/tf/core"
)

// manager is that of a peer of a pair.
func manager(p rendezvoustest.Peer) *verbs.Manager { return p.Session.Transport.(*verbs.Manager) }

// stats of the only channel of a task.
func stats(t *testing.T, p rendezvoustest.Peer) verbs.Stats {
	t.Helper()
	all := manager(p).Stats()
	if len(all) != 1 {
		t.Fatalf("there are %d channels, want one", len(all))
	}
	return all[0]
}

// registered returns a tensor in memory that the device of a task knows, as what
// the task has received is.
func registered(t *testing.T, p rendezvoustest.Peer, n int) *core.Tensor {
	t.Helper()
	alloc := manager(p).Alloc(func(d core.DType, s core.Shape) (*memory.Buffer, error) {
		t.Fatal("the arena has no room")
		return nil, nil
	})
	buf, err := alloc(core.Uint8, core.Shape{n})
	if err != nil {
		t.Fatal(err)
	}
	for i := range buf.Bytes() {
		buf.Bytes()[i] = byte(i)
	}
	return core.TensorOf(core.Uint8, core.Shape{n}, buf)
}

// TestZeroCopy: of a tensor in registered memory no byte is copied on either
// side, and one that is known takes a request, a write, and an acknowledgement.
func TestZeroCopy(t *testing.T) {
	c := newCluster()
	c.arena = true
	p := c.pair(t)
	const n, steps = 100_000, 20
	v := registered(t, p.A, n)
	begin(t, p, 0).works(v)
	a, b := stats(t, p.A), stats(t, p.B)
	for i := range int64(steps) {
		begin(t, p, i+1).works(v)
	}
	a2, b2 := stats(t, p.A), stats(t, p.B)
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"copies at the sender", a2.Staged, 0},
		{"copies at the receiver", b2.Staged, 0},
		{"requests", b2.Messages - b.Messages, steps},
		{"writes", a2.Writes - a.Writes, steps},
		{"bytes written", a2.Bytes - a.Bytes, steps * n},
		{"acknowledgements", a2.Acks - a.Acks, steps},
		{"messages of the sender", a2.Messages - a.Messages, 0},
		{"writes of the receiver", b2.Writes - b.Writes, 0},
		{"repeated requests", b2.Retries, 1},
		{"tensors received", b2.Received - b.Received, steps},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
	// The sender hears of all that the receiver has sent and, perhaps later, of the end of
	// what it sent itself, acknowledgements apart.
	heard := b2.Messages + b2.Acks + b2.Sends + b2.Credits
	ended := a2.Messages + a2.Writes + a2.Sends
	if a2.Completed > heard+ended {
		t.Errorf("the sender heard of %d completions, want at most %d and %d", a2.Completed, heard, ended)
	}
}

// TestSourceIsKept (TensorFlow's issues 25656 and 37622: memory that was made before it
// could be registered, or by another allocator, ended the process): memory of the collector's, as kernels have it, is copied the
// first time that it is sent from, and then known to the device.
func TestSourceIsKept(t *testing.T) {
	c := newCluster()
	c.arena = true
	c.wrap = alter(func(a *verbs.Attributes) { a.CopyBelow = 1 << 20 })
	p := c.pair(t)
	v := core.NewTensor(core.Uint8, core.Shape{50_000})
	for i := range int64(10) {
		begin(t, p, i).works(v)
	}
	if a, b := stats(t, p.A), stats(t, p.B); a.Staged != 1 || b.Staged != 0 {
		t.Errorf("ten times the same memory: %d copies at the sender, %d at the receiver, want one, and none", a.Staged, b.Staged)
	}
}

// TestStaged: what is not in registered memory, and not worth registering, is
// copied, and that is counted; what goes along with the request is not.
func TestStaged(t *testing.T) {
	c := newCluster()
	c.arena = true
	p := c.pair(t)
	begin(t, p, 1).works(full(2000, 1))
	if a, b := stats(t, p.A), stats(t, p.B); a.Staged != 1 || a.StagedLen != 2000 || b.Staged != 0 {
		t.Errorf("a tensor in other memory: %d copies of %d bytes at the sender, %d at the receiver, want one of 2000, and none", a.Staged, a.StagedLen, b.Staged)
	}
	begin(t, p, 2).works(full(64, 1))
	if a := stats(t, p.A); a.Staged != 1 {
		t.Errorf("a small tensor is copied: %d copies", a.Staged)
	}
}

// TestPieces: what is longer than the device's messages goes in pieces, of which
// only the last one is told.
func TestPieces(t *testing.T) {
	c := newCluster()
	c.arena = true
	c.wrap = alter(func(a *verbs.Attributes) { a.MaxMessage = 1000 })
	p := c.pair(t)
	begin(t, p, 1).works(registered(t, p.A, 5000))
	begin(t, p, 2).works(registered(t, p.A, 5001))
	if a := stats(t, p.A); a.Writes != 5+6 || a.Bytes != 10001 || a.Staged != 0 {
		t.Errorf("%d writes of %d bytes, %d copies, want 11 of 10001, and none", a.Writes, a.Bytes, a.Staged)
	}
}

// TestVeryLarge: 64 MiB arrive, in as many pieces as the device's messages are long.
func TestVeryLarge(t *testing.T) {
	c := newCluster()
	var attr verbs.Attributes
	c.wrap = func(d verbs.Device) verbs.Device { attr = d.Attributes(); return d }
	p := c.pair(t)
	const n = 64 << 20
	begin(t, p, 1).works(full(n, 9))
	pieces := int64((n + attr.MaxMessage - 1) / attr.MaxMessage)
	if a, b := stats(t, p.A), stats(t, p.B); a.Writes != pieces || a.Bytes != n || a.Staged+b.Staged != 0 {
		t.Errorf("%d writes of %d bytes, %d copies, want %d of %d, and none", a.Writes, a.Bytes, a.Staged+b.Staged, pieces, n)
	}
}

// TestManyAtOnce: a thousand requests at a time over one channel all get their
// tensors (TensorFlow's issue 11416 was a hang there).
func TestManyAtOnce(t *testing.T) {
	c := newCluster()
	c.config.QueueDepth = 64
	p := c.pair(t)
	s := begin(t, p, 1)
	const n = 1000
	var got []<-chan outcome
	for i := range n {
		got = append(got, s.recv(edgeName(i)))
	}
	for i := range n {
		s.send(edgeName(n-1-i), full(1+(n-1-i)%3000, byte(n-1-i)))
	}
	for i, g := range got {
		o := <-g
		if o.err != nil || o.t.Len() != 1+i%3000 || o.t.Buffer().Bytes()[0] != byte(i) {
			t.Fatalf("request %d gives %v, %v", i, o.t, o.err)
		}
		o.t.Release()
	}
}

// TestReceiversAreNotOverrun: hundreds of tensors that are ready at once do not find
// a peer with few receives unready: a device would turn them away, and they would be
// sent again after a timeout.
func TestReceiversAreNotOverrun(t *testing.T) {
	c := newCluster()
	c.config.QueueDepth = 16
	var devices []verbs.Device
	c.wrap = func(d verbs.Device) verbs.Device { devices = append(devices, d); return d }
	p := c.pair(t)
	const n = 300
	for id := range int64(2) { // in the second step it is known what comes
		s := begin(t, p, id)
		before := only(p.B).Messages
		var got []<-chan outcome
		for i := range n {
			got = append(got, s.recv(edgeName(i)))
		}
		for id > 0 && only(p.B).Messages < before+n {
			runtime.Gosched() // until all have been asked for
		}
		for i := range n {
			s.send(edgeName(i), full(10+i, byte(i)))
		}
		for i, g := range got {
			o := <-g
			if o.err != nil || o.t.Len() != 10+i {
				t.Fatalf("request %d gives %v, %v", i, o.t, o.err)
			}
			o.t.Release()
		}
	}
	for _, d := range devices {
		if d, ok := d.(interface{ NotReady() int64 }); ok && d.NotReady() > 0 {
			t.Errorf("%d requests found no receive posted", d.NotReady())
		}
	}
	if a, b := stats(t, p.A), stats(t, p.B); a.Unready == 0 || b.Credits == 0 {
		t.Errorf("%d tensors waited for %d returns of credits, want some", a.Unready, b.Credits)
	}
}

// only returns the counters of a task's channel, if it has one.
func only(p rendezvoustest.Peer) (s verbs.Stats) {
	for _, s = range manager(p).Stats() {
	}
	return s
}

func edgeName(i int) string { return "edge" + string(rune('A'+i%26)) + string(rune('A'+i/26)) }
