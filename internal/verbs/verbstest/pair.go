package verbstest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// depth of the queue pairs under test.
const depth = 16

// An end is one of two connected queue pairs, with what belongs to it.
type end struct {
	t   *testing.T
	dev verbs.Device
	cq  verbs.CompletionQueue
	qp  verbs.QueuePair
	psn uint32
}

// open returns an end that is not connected.
func open(t *testing.T, dev verbs.Device) *end {
	t.Helper()
	e := &end{t: t, dev: dev, psn: rand.Uint32() & 0xffffff}
	var err error
	e.cq, err = dev.CreateCQ(4 * depth)
	e.must(err)
	e.qp, err = dev.CreateQP(e.cq, depth)
	e.must(err)
	t.Cleanup(func() { e.must(errors.Join(e.qp.Destroy(), e.cq.Close())) })
	return e
}

func (e *end) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *end) address() verbs.Address {
	a := e.dev.Attributes()
	return verbs.Address{LID: a.LID, GID: a.GID, QPN: e.qp.Num(), PSN: e.psn}
}

// connected returns two ends, on two devices, that are connected.
func connected(t *testing.T, newDevice func(*testing.T) verbs.Device) (a, b *end) {
	t.Helper()
	a, b = open(t, newDevice(t)), open(t, newDevice(t))
	a.must(a.qp.Connect(a.psn, b.address()))
	b.must(b.qp.Connect(b.psn, a.address()))
	return a, b
}

// A block is registered memory.
type block struct {
	mem []byte
	mr  verbs.MemoryRegion
}

func (e *end) block(n int, access verbs.Access) block {
	e.t.Helper()
	b := block{mem: make([]byte, n)}
	var err error
	b.mr, err = e.dev.Register(b.mem, access)
	e.must(err)
	e.t.Cleanup(func() {
		if b.mr != nil {
			b.mr.Deregister() // some tests have done so already
		}
	})
	return b
}

// random fills b with random bytes.
func (b block) random() block {
	r := rand.NewChaCha8([32]byte{byte(len(b.mem))})
	r.Read(b.mem)
	return b
}

func (b block) sge(off, n int) verbs.SGE {
	return verbs.SGE{Addr: b.mr.Addr() + uint64(off), Length: uint32(n), LKey: b.mr.LKey()}
}

// write is a request to write all of b to the beginning of dst.
func (b block) write(id uint64, op verbs.Opcode, dst block, imm uint32) verbs.SendWR {
	return verbs.SendWR{ID: id, Op: op, Local: b.sge(0, len(b.mem)), RemoteAddr: dst.mr.Addr(), RKey: dst.mr.RKey(), Imm: imm}
}

// wait takes the next n completions, as an adapter does.
func (e *end) wait(n int) []verbs.Completion {
	e.t.Helper()
	var got []verbs.Completion
	for wc := make([]verbs.Completion, n); len(got) < n; {
		k, err := e.cq.Poll(wc[:n-len(got)])
		e.must(err)
		if k > 0 {
			got = append(got, wc[:k]...)
			continue
		}
		e.must(e.cq.Arm())
		if k, err = e.cq.Poll(wc[:n-len(got)]); k == 0 {
			e.must(errors.Join(err, e.cq.Wait()))
		}
		got = append(got, wc[:k]...)
	}
	return got
}

// one takes one completion and checks it.
func (e *end) one(want verbs.Completion) {
	e.t.Helper()
	want.QPN = e.qp.Num()
	got := e.wait(1)[0]
	if want.Status != verbs.Success { // the other fields are not meant then
		got.Op, got.Len, got.Imm = 0, 0, 0
	}
	if got != want {
		e.t.Fatalf("completion %+v, want %+v", got, want)
	}
}

func (b block) equals(t *testing.T, want []byte) {
	t.Helper()
	if !bytes.Equal(b.mem, want) {
		t.Error("the bytes that arrived are not those that were sent")
	}
}
