package verbs

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/tf/core"
)

// A tape is a source of decisions that ends some time.
type tape []byte

func (p *tape) next(n int) int {
	if len(*p) == 0 {
		return 0
	}
	b := (*p)[0]
	*p = (*p)[1:]
	return int(b) % n
}

// tensor is one of a few, some of which have no room or make no sense.
func (p *tape) tensor() metaData {
	all := []metaData{
		{}, deadMeta(), floats(2), floats(13), floats(1 << 20), floats(1, 1, 1, 1, 1, 1, 1),
		{dtype: core.String, shape: core.Shape{1}, bytes: 13}, {dtype: core.String, shape: core.Shape{1 << 20}, bytes: 3},
		{dtype: core.Resource, shape: core.Shape{}}, {dtype: core.Variant, shape: core.Shape{}},
	}
	return all[p.next(len(all))]
}

func (p *tape) message() *message {
	m := &message{typ: messageType(p.next(5)), index: uint32(p.next(6)), key: fmt.Sprint("k", p.next(3)), step: int64(p.next(2))}
	if m.typ == errorStatus {
		m.err = core.Errorf(core.Internal, "fuzz")
		return m
	}
	m.meta = p.tensor()
	m.addr, m.rkey = uint64(p.next(2)), uint32(p.next(2))
	return m
}

// step does something to the channel of a stage.
func (s *stage) random(p *tape, receives *int) {
	switch p.next(10) {
	case 0:
		s.recv(fmt.Sprint(*receives), fmt.Sprint("k", p.next(3)), int64(p.next(2)))
		*receives++
	case 1:
		if cancel := s.cancel[fmt.Sprint(p.next(6))]; cancel != nil {
			cancel()
		}
	case 2:
		s.produce(fmt.Sprint("k", p.next(3), " ", p.next(2)), [][]string{{"dead"}, {"error", "e"}, {"float32[2]"}, {"string[1]", "abc"}, {"int8[250]"}}[p.next(5)])
	case 3:
		s.c.complete(s.peer("content", []string{fmt.Sprint(p.next(6))}))
	case 4:
		s.c.complete(s.peer("ack", nil))
	case 5:
		s.c.complete(s.peer("ping", []string{[]string{"gorge", "tensorflow"}[p.next(2)]}))
	case 6:
		qpn := p.next(2)
		_ = s.c.connect(endpoint{Address: Address{QPN: uint32(qpn)}, hello: hello{room: qpn * batchRoom}}, false) // may be refused
	case 7:
		if s.c.tx.remote { // so that a dialogue gets far
			s.c.complete(s.peer("ack", nil))
		}
	case 8:
		s.c.complete(s.c.deliver(p.message()))
	default:
		s.c.complete(s.c.deliverBatch([]*message{p.message(), p.message()}))
	}
	s.settle()
}

// FuzzChannel: whatever a peer does, in whatever order, every receive is
// answered once and all memory is given back.
func FuzzChannel(f *testing.F) {
	f.Add([]byte{6, 0, 5, 0, 0, 0, 0, 7, 8, 0, 0, 0, 0, 2, 7, 3, 0})
	f.Add([]byte{6, 0, 5, 1, 0, 1, 0, 1, 0, 7, 8, 0, 0, 0, 0, 3, 7, 3, 0})
	f.Add([]byte{6, 0, 5, 0, 8, 2, 0, 0, 0, 0, 0, 0, 2, 0, 0, 2, 7, 8, 1, 0, 0, 0, 2, 1, 1})
	f.Add([]byte{0, 0, 0, 0, 1, 1, 1, 0, 6, 0, 6, 1, 8, 4, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			receives := 0
			for p := (*tape)(&b); len(*p) > 0; {
				s.random(p, &receives)
			}
			for _, cancel := range s.cancel {
				cancel()
			}
			synctest.Wait()
			s.close()
			if len(s.results) != receives {
				t.Errorf("%d receives have %d answers: %q", receives, len(s.results), s.results)
			}
		})
	})
}
