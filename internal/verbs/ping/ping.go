// Package ping tries out the way between two RDMA devices: memory of one side is
// written to the other and back, for some sizes. Both sides find each other over
// TCP. Operators use it (gorge doctor), servers do not.
package ping

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/tf/core"
)

// Sizes are what is written, in bytes.
var Sizes = []int{1 << 10, 1 << 20}

// A Result is how one size fared.
type Result struct {
	Size int
	Took time.Duration // there and back, the median of several
}

// rounds of each size.
const rounds = 11

// patience bounds one ping.
const patience = 30 * time.Second

// An offer is what sides tell each other.
type offer struct {
	LID      uint16    `json:"lid"`
	GID      verbs.GID `json:"gid"`
	QPN      uint32    `json:"qpn"`
	PSN      uint32    `json:"psn"`
	Addr     uint64    `json:"addr"`
	RKey     uint32    `json:"rkey"`
	Provider string    `json:"provider"`
}

// A side is one end of the way.
type side struct {
	dev       verbs.Device
	cq        verbs.CompletionQueue
	qp        verbs.QueuePair
	mr        verbs.MemoryRegion
	mem, echo []byte // what we send, and where the peer writes
	psn       uint32
	peer      offer
	in        *bufio.Reader // from the peer's process
	sending   int           // writes that have not arrived
}

func newSide(dev verbs.Device) (s *side, err error) {
	most := Sizes[len(Sizes)-1]
	if dev.Attributes().MaxMessage < most {
		return nil, core.Errorf(core.FailedPrecondition, "%s writes at most %d bytes at a time, %d are needed", dev.Attributes().Name, dev.Attributes().MaxMessage, most)
	}
	all := make([]byte, 2*most)
	s = &side{dev: dev, mem: all[:most], echo: all[most:], psn: rand.Uint32() & 0xffffff}
	if s.cq, err = dev.CreateCQ(8 * rounds); err != nil {
		return nil, err
	}
	if s.qp, err = dev.CreateQP(s.cq, 4*rounds); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.mr, err = dev.Register(all, verbs.LocalWrite|verbs.RemoteWrite); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *side) close() error {
	var errs []error
	if s.qp != nil {
		errs = append(errs, s.qp.Destroy())
	}
	if s.mr != nil {
		errs = append(errs, s.mr.Deregister())
	}
	return errors.Join(append(errs, s.cq.Close())...)
}

// meet exchanges offers over a connection and connects the queue pairs. Receives
// are posted before the peer can send.
func (s *side) meet(conn net.Conn) error {
	if err := s.qp.PostRecv(make([]verbs.RecvWR, 2*rounds)...); err != nil {
		return err
	}
	a := s.dev.Attributes()
	mine := offer{a.LID, a.GID, s.qp.Num(), s.psn, s.mr.Addr() + uint64(len(s.mem)), s.mr.RKey(), a.Detail}
	if err := json.NewEncoder(conn).Encode(mine); err != nil {
		return err
	}
	line, err := s.in.ReadSlice('\n') // of a bounded length
	if err == nil {
		err = json.Unmarshal(line, &s.peer)
	}
	if err != nil {
		return core.Errorf(core.Unavailable, "the other side gives no address of a queue pair: %v", err)
	}
	return s.qp.Connect(s.psn, verbs.Address{LID: s.peer.LID, GID: s.peer.GID, QPN: s.peer.QPN, PSN: s.peer.PSN})
}

// ready waits until both sides are: to begin, and to end.
func (s *side) ready(conn net.Conn) error {
	if _, err := conn.Write([]byte{'\n'}); err != nil {
		return err
	}
	_, err := s.in.ReadByte()
	return err
}

// send writes n bytes to the peer, which is told the size.
func (s *side) send(n int) error {
	s.sending++
	return s.qp.PostSend(verbs.SendWR{
		Op: verbs.OpWriteImm, Imm: uint32(n), Local: verbs.SGE{Addr: s.mr.Addr(), Length: uint32(n), LKey: s.mr.LKey()},
		RemoteAddr: s.peer.Addr, RKey: s.peer.RKey,
	})
}

// next waits for a completion.
func (s *side) next() (verbs.Completion, error) {
	wc := make([]verbs.Completion, 1)
	for {
		n, err := s.cq.Poll(wc)
		if n == 0 && err == nil {
			if err = s.cq.Arm(); err == nil {
				n, err = s.cq.Poll(wc)
			}
		}
		if n == 0 && err == nil {
			err = s.cq.Wait()
		}
		switch {
		case err != nil:
			return verbs.Completion{}, err
		case n > 0 && wc[0].Status != verbs.Success:
			return wc[0], core.Errorf(core.Unavailable, "a write by RDMA ends with %v", wc[0].Status)
		case n > 0:
			return wc[0], nil
		}
	}
}

// recv waits for what the peer writes, and returns its size.
func (s *side) recv() (int, error) {
	for {
		w, err := s.next()
		switch {
		case err != nil:
			return 0, err
		case w.Op == verbs.OpRecvWriteImm:
			return int(w.Imm), nil
		}
		s.sending--
	}
}

// drain waits until what was sent has arrived. Until then the device may read s.mem:
// the peer's answer can overtake the completion of what it answers.
func (s *side) drain() error {
	for s.sending > 0 {
		if _, err := s.next(); err != nil {
			return err
		}
		s.sending--
	}
	return nil
}

// within ends a side's waiting when ctx ends or the time is up.
func within(ctx context.Context, conn net.Conn, s *side) (stop func() bool, cancel context.CancelFunc) {
	ctx, cancel = context.WithTimeout(ctx, patience)
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	return context.AfterFunc(ctx, func() { s.qp.Fail() }), cancel
}

// Run pings the side that serves at an address. It returns a description of that
// side's device.
func Run(ctx context.Context, dev verbs.Device, addr string) (results []Result, peer string, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, "", core.Errorf(core.Unavailable, "no server answers the ping at %s: %v", addr, err)
	}
	defer conn.Close()
	err = on(ctx, dev, conn, func(s *side) error {
		peer = s.peer.Provider
		for _, n := range Sizes {
			took, err := s.ping(n)
			if err != nil {
				return fmt.Errorf("a ping of %d bytes fails: %w", n, err)
			}
			results = append(results, Result{n, took})
		}
		return nil
	})
	return results, peer, err
}

// Serve answers one ping.
func Serve(ctx context.Context, dev verbs.Device, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	return on(ctx, dev, conn, (*side).answer)
}

// on does something on a connected side.
func on(ctx context.Context, dev verbs.Device, conn net.Conn, do func(*side) error) (err error) {
	s, err := newSide(dev)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	stop, cancel := within(ctx, conn, s)
	defer cancel()
	defer stop()
	s.in = bufio.NewReader(conn)
	if err := s.meet(conn); err != nil {
		return err
	}
	if err := s.ready(conn); err != nil {
		return err
	}
	if err := errors.Join(do(s), s.drain()); err != nil {
		return err
	}
	return s.ready(conn) // neither goes before all has arrived at both
}

// ping writes n bytes there and back, and returns how long that takes.
func (s *side) ping(n int) (time.Duration, error) {
	var took []time.Duration
	for i := range rounds {
		for k := range s.mem[:n] {
			s.mem[k] = byte(k + i)
		}
		start := time.Now()
		if err := s.send(n); err != nil {
			return 0, err
		}
		if _, err := s.recv(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
		if err := s.drain(); err != nil {
			return 0, err
		}
		if !bytes.Equal(s.mem[:n], s.echo[:n]) {
			return 0, core.Errorf(core.DataLoss, "other bytes come back than were written")
		}
	}
	return median(took), nil
}

// answer writes back all that comes.
func (s *side) answer() error {
	for range len(Sizes) * rounds {
		n, err := s.recv()
		if err != nil {
			return err
		}
		if n > len(s.mem) {
			return core.Errorf(core.InvalidArgument, "the other side speaks of %d bytes", n)
		}
		if err := s.drain(); err != nil {
			return err
		}
		copy(s.mem[:n], s.echo[:n])
		if err := s.send(n); err != nil {
			return err
		}
	}
	return nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
