package verbs_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A hostile is a task of the cluster, authenticated as such, that does with its queue
// pair what it likes.
type hostile struct {
	t     *testing.T
	dev   *soft.Device
	cq    verbs.CompletionQueue
	qp    verbs.QueuePair
	mem   []byte
	mr    verbs.MemoryRegion
	rx    *pb.MemoryRegion // the victim's buffer for messages
	arena *pb.MemoryRegion
	nonce []byte

	messages int // that were heard and not read
}

const hostileDepth = 256

// heard is where its memory has what the victim says.
const heard = 1 << 14

// attack connects a hostile task A to a victim.
func attack(t *testing.T, victim *verbs.Manager, generation int) *hostile {
	t.Helper()
	h := &hostile{t: t, mem: make([]byte, 1<<16)}
	var err error
	h.dev, err = soft.Open(soft.Options{})
	h.must(err)
	h.cq, err = h.dev.CreateCQ(8 * hostileDepth)
	h.must(err)
	h.qp, err = h.dev.CreateQP(h.cq, hostileDepth)
	h.must(err)
	h.mr, err = h.dev.Register(h.mem, verbs.LocalWrite|verbs.RemoteWrite)
	h.must(err)
	at := h.dev.Attributes()
	regions := make([]*pb.MemoryRegion, 2)
	if generation == 1 {
		regions = make([]*pb.MemoryRegion, 4)
	}
	for i := range regions {
		regions[i] = &pb.MemoryRegion{RemoteAddr: h.mr.Addr() + heard, Rkey: h.mr.RKey()}
	}
	resp, err := victim.GetRemoteAddress(t.Context(), &pb.GetRemoteAddressRequest{
		HostName: rendezvoustest.TaskA, Mr: regions,
		Channel: &pb.Channel{Lid: int32(at.LID), Qpn: int32(h.qp.Num()), Psn: 5, Snp: binary.LittleEndian.Uint64(at.GID[:8]), Iid: binary.LittleEndian.Uint64(at.GID[8:])},
		Hello: &pb.VerbsHello{
			Generation: uint32(generation), Version: 2, Incarnation: rand.Uint64() | 1, Nonce: make([]byte, 16), Depth: hostileDepth,
			Arena: &pb.MemoryRegion{RemoteAddr: h.mr.Addr(), Rkey: h.mr.RKey()}, ArenaBytes: uint64(len(h.mem)),
		},
	})
	h.must(err)
	h.rx, h.arena, h.nonce = resp.GetMr()[1], resp.GetHello().GetArena(), resp.GetHello().GetNonce()
	c := resp.GetChannel()
	to := verbs.Address{LID: uint16(c.GetLid()), QPN: uint32(c.GetQpn()), PSN: uint32(c.GetPsn())}
	binary.LittleEndian.PutUint64(to.GID[:8], c.GetSnp())
	binary.LittleEndian.PutUint64(to.GID[8:], c.GetIid())
	recvs := make([]verbs.RecvWR, hostileDepth)
	for i := range recvs {
		recvs[i].SGE = verbs.SGE{Addr: h.mr.Addr() + 1<<15, Length: 1024, LKey: h.mr.LKey()}
	}
	h.must(h.qp.PostRecv(recvs...))
	h.must(h.qp.Connect(5, to))
	return h
}

func (h *hostile) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *hostile) end() {
	h.must(errors.Join(h.qp.Destroy(), h.mr.Deregister(), h.cq.Close(), h.dev.Close()))
}

// greet sends a ping as it should be.
func (h *hostile) greet() {
	n := copy(h.mem, "gorge verbs 1\n")
	n += copy(h.mem[n:], h.nonce)
	h.post(verbs.SendWR{Op: verbs.OpSend, Local: h.local(0, 1024)})
}

func (h *hostile) local(off, n int) verbs.SGE {
	return verbs.SGE{Addr: h.mr.Addr() + uint64(off), Length: uint32(n), LKey: h.mr.LKey()}
}

// post sends a request, and waits until it has ended, however.
func (h *hostile) post(wr verbs.SendWR) (ok bool) {
	wr.ID = 1 << 40
	if h.qp.PostSend(wr) != nil {
		return false
	}
	return h.await(func(w verbs.Completion) bool { return w.ID == 1<<40 }).Status == verbs.Success
}

// await takes completions until one matches, or tells of a failure.
func (h *hostile) await(match func(verbs.Completion) bool) verbs.Completion {
	wc := make([]verbs.Completion, 1)
	for {
		n, err := h.cq.Poll(wc)
		h.must(err)
		if n == 0 {
			h.must(h.cq.Arm())
			if n, err = h.cq.Poll(wc); n == 0 {
				h.must(errors.Join(err, h.cq.Wait()))
				continue
			}
		}
		switch {
		case match(wc[0]):
			return wc[0]
		case wc[0].Status != verbs.Success:
			return wc[0]
		case wc[0].Op == verbs.OpRecvWriteImm && wc[0].Status == verbs.Success:
			h.note(wc[0].Imm)
			h.qp.PostRecv(verbs.RecvWR{SGE: verbs.SGE{Addr: h.mr.Addr() + 1<<15, Length: 1024, LKey: h.mr.LKey()}})
		}
	}
}

// note counts the messages of the victim.
func (h *hostile) note(imm uint32) {
	if imm == 0xFFFFFFFF {
		h.messages++
	}
}

// random does something that a task should not do, and reports whether the connection
// is still there.
func (h *hostile) random(r *rand.Rand, imm uint32) bool {
	n := []int{0, 1, 582, 583, 583 + r.IntN(100), 4679, 4680, 5000}[r.IntN(8)]
	for i := range n {
		h.mem[i] = byte(r.Uint32())
	}
	if n >= 583 && r.IntN(4) > 0 { // something that can be read
		h.mem[0], h.mem[546] = byte(r.IntN(9)), byte(r.IntN(2))
		binary.LittleEndian.PutUint16(h.mem[4:], uint16([]int{0, 3, 512, 513, 0xFFFF}[r.IntN(5)]))
		binary.LittleEndian.PutUint64(h.mem[526:], []uint64{0, 1, uint64(r.IntN(600)), 1 << 31, 1 << 40, r.Uint64()}[r.IntN(6)])
		binary.LittleEndian.PutUint32(h.mem[547:], uint32([]int{0, 1, 7, 21, 101, 300}[r.IntN(6)]))
		h.mem[565], h.mem[566] = byte(r.IntN(8)), byte(r.IntN(4))
		binary.LittleEndian.PutUint64(h.mem[575:], []uint64{0, 8, 1 << 20, 1 << 62}[r.IntN(4)])
	}
	to := h.rx
	if r.IntN(6) == 0 {
		to = h.arena
	}
	wr := verbs.SendWR{Op: verbs.OpWriteImm, Imm: imm, Local: h.local(0, n), RemoteAddr: to.GetRemoteAddr(), RKey: to.GetRkey()}
	switch r.IntN(12) {
	case 0:
		wr.Imm = r.Uint32()
	case 1:
		wr.Imm = 0xFFFF0000 + uint32(r.IntN(1<<16))
	case 2:
		wr.Op = verbs.OpSend
	case 3:
		wr.RemoteAddr += uint64(r.IntN(1 << 20))
	case 4:
		wr.RKey++
	}
	return h.post(wr)
}

// TestHostilePeer: whatever an authenticated task writes, sends or tells, it loses its
// connection at worst. Others' go on, receives from it fail, and all is given back.
func TestHostilePeer(t *testing.T) {
	if invariants.Enabled {
		t.Skip("a peer that writes to what is being read is a data race, which no device prevents; without the detector no harm must come of it")
	}
	for generation, imm := range map[int]uint32{1: 0x3ace3161, 2: 0xFFFFFFFF} {
		t.Run(fmt.Sprint(generation), func(t *testing.T) {
			c := newCluster()
			c.config.Generation = generation
			c.wrap = softInstead(t)
			const third = "/job:third/replica:0/task:0"
			p := rendezvoustest.Pair{A: c.join(t, third, rendezvoustest.TaskB), B: c.join(t, rendezvoustest.TaskB, rendezvoustest.TaskA, third)}
			victim := manager(p.B)
			r := rand.New(rand.NewPCG(3, uint64(generation)))
			var waiting sync.WaitGroup
			taken := 0
			for range 7 * walks() {
				h := attack(t, victim, generation)
				h.greet()
				waiting.Add(1)
				victim.Recv(t.Context(), rendezvoustest.TaskA, 1, key("e"), rendezvous.Allocate, func(r rendezvous.Result) {
					defer waiting.Done()
					if r.Tensor != nil {
						r.Tensor.Release()
					}
				})
				for n := 0; n < 30 && h.random(r, imm); n++ {
					taken++
				}
				h.end()
			}
			if taken == 0 {
				t.Error("nothing got as far as to the victim")
			}
			t.Logf("%d requests were taken", taken)
			id := int64(1000)
			s := begin(t, p, id)
			v := full(5000, 7)
			if err := s.a.Send(keyFrom(third, rendezvoustest.TaskB, "e"), v, false); err != nil {
				t.Fatal(err)
			}
			got := make(chan rendezvous.Result, 1)
			victim.Recv(t.Context(), third, id, keyFrom(third, rendezvoustest.TaskB, "e"), rendezvous.Allocate, func(r rendezvous.Result) { got <- r })
			if o := <-got; o.Err != nil || o.Tensor.Buffer().Bytes()[4999] != 7 {
				t.Errorf("a task that did nothing wrong: %v, %v", o.Tensor, o.Err)
			} else {
				o.Tensor.Release()
			}
			if err := victim.Close(); err != nil {
				t.Error(err)
			}
			waiting.Wait()
		})
	}
}

// TestWritesAfterTheFence: once a peer has said its last word on a receive, it can no
// longer write to memory that was registered for that one.
func TestWritesAfterTheFence(t *testing.T) {
	c := newCluster()
	c.wrap = softInstead(t)
	victim := manager(c.join(t, rendezvoustest.TaskB, rendezvoustest.TaskA))
	h := attack(t, victim, 2)
	defer h.end()
	h.greet()
	w := &watched{}
	got := make(chan rendezvous.Result, 1)
	victim.Recv(t.Context(), rendezvoustest.TaskA, 1, "k", w.alloc, func(r rendezvous.Result) { got <- r })
	h.hear()                   // the request
	h.tell(0, func(b []byte) { // 2^18 float32
		b[547] = 1
		binary.LittleEndian.PutUint32(b[551:], 1<<18)
		b[564], b[565], b[566] = 1, 1, 1
		binary.LittleEndian.PutUint64(b[567:], 1<<18)
		binary.LittleEndian.PutUint64(b[575:], 1<<20)
	})
	m := h.hear() // there is room
	addr, rkey := binary.LittleEndian.Uint64(m[534:]), binary.LittleEndian.Uint32(m[542:])
	h.tell(3, func(b []byte) { // an error, DATA_LOSS
		b[583], b[587], b[588] = 2, 8, 15
	})
	if r := <-got; core.CodeOf(r.Err) != core.DataLoss {
		t.Errorf("a receive that was refused gives %v", r.Err)
	}
	mem, free := w.last()
	<-free
	mem[0] = 77 // it is somebody else's now
	h.mem[0] = 66
	if h.post(verbs.SendWR{Op: verbs.OpWrite, Local: h.local(0, 1), RemoteAddr: addr, RKey: rkey}) || mem[0] != 77 {
		t.Errorf("a peer writes to memory that it has given back: %d", mem[0])
	}
}

// TestNoGreeting: who does not repeat what the peer was told is not listened to, whatever it
// begins with.
func TestNoGreeting(t *testing.T) {
	for generation, imm := range map[int]uint32{1: 0x3ace3161, 2: 0xFFFFFFFF} {
		c := newCluster()
		c.config.Generation = generation
		c.wrap = softInstead(t)
		victim := manager(c.join(t, rendezvoustest.TaskB, rendezvoustest.TaskA))
		h := attack(t, victim, generation)
		got := make(chan rendezvous.Result, 1)
		victim.Recv(t.Context(), rendezvoustest.TaskA, 1, key("e"), rendezvous.Allocate, func(r rendezvous.Result) { got <- r })
		h.mem[0] = 2 // a request, in the last generation
		if generation == 1 {
			h.mem[0] = 4
		}
		h.mem[4], h.mem[6], h.mem[526] = 1, 'k', 1
		h.post(verbs.SendWR{Op: verbs.OpWriteImm, Imm: imm, Local: h.local(0, 700), RemoteAddr: h.rx.GetRemoteAddr(), RKey: h.rx.GetRkey()})
		select {
		case r := <-got:
			if r.Err == nil || !strings.Contains(r.Err.Error(), "stranger") {
				t.Errorf("generation %d: a receive from a stranger gives %v", generation, r.Err)
			}
		case <-time.After(3 * time.Second):
			t.Errorf("generation %d: a stranger asks for tensors and stays connected", generation)
		}
		h.end()
	}
}

// tell writes a message of the last generation.
func (h *hostile) tell(typ byte, fill func([]byte)) {
	clear(h.mem[:4679])
	h.mem[0] = typ
	fill(h.mem)
	if !h.post(verbs.SendWR{Op: verbs.OpWriteImm, Imm: 0xFFFFFFFF, Local: h.local(0, 700), RemoteAddr: h.rx.GetRemoteAddr(), RKey: h.rx.GetRkey()}) {
		h.t.Fatal("the victim does not listen")
	}
}

// hear waits for a message of the victim, and acknowledges it.
func (h *hostile) hear() []byte {
	for h.messages == 0 {
		h.await(func(w verbs.Completion) bool {
			if w.Op == verbs.OpRecvWriteImm && w.Status == verbs.Success {
				h.note(w.Imm)
			}
			return true
		})
	}
	h.messages--
	m := bytes.Clone(h.mem[heard:][:583])
	h.post(verbs.SendWR{Op: verbs.OpWriteImm, Imm: 0xFFFFFFFE})
	return m
}

// TestRestless: a task that connects again and again has one queue pair at a time: the
// completion queue, which all tasks share, has room for no more.
func TestRestless(t *testing.T) {
	c := newCluster()
	instead, counted := softInstead(t), &pairCounter{}
	c.wrap = func(d verbs.Device) verbs.Device {
		counted.Device = instead(d)
		return counted
	}
	victim := manager(c.join(t, rendezvoustest.TaskB, rendezvoustest.TaskA))
	var asking sync.WaitGroup
	for i := range 8 {
		asking.Go(func() {
			for k := range 8 {
				_, _ = victim.GetRemoteAddress(t.Context(), &pb.GetRemoteAddressRequest{
					HostName: rendezvoustest.TaskA, Mr: make([]*pb.MemoryRegion, 2), Channel: &pb.Channel{Qpn: int32(1 + i), Psn: int32(k)},
				})
			}
		})
	}
	asking.Wait()
	if most := counted.most.Load(); most != 1 {
		t.Errorf("a task had %d queue pairs at once", most)
	}
}

// A pairCounter counts the queue pairs of a device that are there.
type pairCounter struct {
	verbs.Device
	now, most atomic.Int64
}

func (d *pairCounter) CreateQP(cq verbs.CompletionQueue, depth int) (verbs.QueuePair, error) {
	qp, err := d.Device.CreateQP(cq, depth)
	if n := d.now.Add(1); n > d.most.Load() {
		d.most.Store(n)
	}
	return countedPair{qp, d}, err
}

type countedPair struct {
	verbs.QueuePair
	d *pairCounter
}

func (q countedPair) Destroy() error {
	defer q.d.now.Add(-1)
	return q.QueuePair.Destroy()
}
