package collective

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// buffers holds the values that devices of one step leave for others, each under
// a key, until its receiver has it.
type buffers struct {
	mu   sync.Mutex
	open map[slot]*offer // values that have not been taken, and receivers that wait for one
}

// A slot is where a value lies. The key alone would not do: that of what all send to all
// has nothing between its numbers, so that it is the same from 1 to 11 and from 11 to 1.
type slot struct {
	from string // the device that gives the value
	key  string
}

// A span is a run of elements of a tensor.
type span struct {
	t     *core.Tensor
	at, n int
}

func (s span) bytes() []byte {
	size := s.t.DType().Size()
	return s.t.Buffer().Bytes()[s.at*size : (s.at+s.n)*size]
}

// An offer is a value, there or waited for.
type offer struct {
	value     span
	made      chan struct{} // closed when the value is there
	wanted    bool
	delivered chan struct{} // closed when the receiver has returned it (Loan.Return)
}

// A Loan is a value of another device. It is given back by Return, before which
// it does not change.
type Loan struct {
	value span
	o     *offer
}

// Bytes are the elements.
func (l *Loan) Bytes() []byte { return l.value.bytes() }

// Return tells that they are not needed any more.
func (l *Loan) Return() {
	l.value.t.Release()
	close(l.o.delivered)
}

func cancelled(ctx context.Context, key string) error {
	return ended(ctx, "Operation was cancelled for BufRendezvous key "+key)
}

// give leaves a value, and waits until it has been taken and given back.
func (b *buffers) give(ctx context.Context, at slot, v span) error {
	o, err := b.offer(at, v)
	if err != nil {
		return err
	}
	select {
	case <-o.delivered:
		return nil
	case <-ctx.Done():
		b.withdraw(at, o)
		return cancelled(ctx, at.key)
	}
}

func (b *buffers) offer(at slot, v span) (*offer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.get(at)
	select {
	case <-o.made:
		return nil, core.Errorf(core.Internal, "BufRendezvous::ProvideBuf already called for key %s", at.key)
	default:
	}
	o.value = v
	if o.wanted {
		o.value.t = v.t.Share() // for the receiver that waits
		delete(b.open, at)
	}
	close(o.made)
	return o, nil
}

// get returns what is open in a slot, which it begins if nothing is.
func (b *buffers) get(at slot) *offer {
	o := b.open[at]
	if o != nil {
		return o
	}
	o = &offer{made: make(chan struct{}), delivered: make(chan struct{})}
	if b.open == nil {
		b.open = map[slot]*offer{}
	}
	b.open[at] = o
	return o
}

// withdraw takes back a value that has not been taken, or a wait that has ended.
func (b *buffers) withdraw(at slot, o *offer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[at] == o {
		delete(b.open, at)
	}
}

// take returns a value, when it is there.
func (b *buffers) take(ctx context.Context, at slot) (*Loan, error) {
	o, err := b.want(at)
	if err != nil {
		return nil, err
	}
	select {
	case <-o.made:
		return &Loan{o.value, o}, nil
	case <-ctx.Done():
	}
	b.withdraw(at, o)
	select {
	case <-o.made: // just before that: without a receiver its giver would wait for ever
		(&Loan{o.value, o}).Return()
	default:
	}
	return nil, cancelled(ctx, at.key)
}

func (b *buffers) want(at slot) (*offer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.get(at)
	if o.wanted {
		return nil, core.Errorf(core.Internal, "Second consumer arrived for key %s", at.key)
	}
	o.wanted = true
	select {
	case <-o.made:
		o.value.t = o.value.t.Share()
		delete(b.open, at)
	default:
	}
	return o, nil
}
