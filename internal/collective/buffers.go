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
	open map[string]*offer // values that have not been taken, and receivers that wait for one
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

// give leaves a value under key, and waits until it has been taken and given
// back.
func (b *buffers) give(ctx context.Context, key string, v span) error {
	o, err := b.offer(key, v)
	if err != nil {
		return err
	}
	select {
	case <-o.delivered:
		return nil
	case <-ctx.Done():
		b.withdraw(key, o)
		return cancelled(ctx, key)
	}
}

func (b *buffers) offer(key string, v span) (*offer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.get(key)
	select {
	case <-o.made:
		return nil, core.Errorf(core.Internal, "BufRendezvous::ProvideBuf already called for key %s", key)
	default:
	}
	o.value = v
	if o.wanted {
		o.value.t = v.t.Share() // for the receiver that waits
		delete(b.open, key)
	}
	close(o.made)
	return o, nil
}

// get returns what is open under key, which it begins if nothing is.
func (b *buffers) get(key string) *offer {
	o := b.open[key]
	if o != nil {
		return o
	}
	o = &offer{made: make(chan struct{}), delivered: make(chan struct{})}
	if b.open == nil {
		b.open = map[string]*offer{}
	}
	b.open[key] = o
	return o
}

// withdraw takes back a value that has not been taken, or a wait that has ended.
func (b *buffers) withdraw(key string, o *offer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[key] == o {
		delete(b.open, key)
	}
}

// take returns the value under key, when it is there.
func (b *buffers) take(ctx context.Context, key string) (*Loan, error) {
	o, err := b.want(key)
	if err != nil {
		return nil, err
	}
	select {
	case <-o.made:
		return &Loan{o.value, o}, nil
	case <-ctx.Done():
	}
	b.withdraw(key, o)
	select {
	case <-o.made: // just before that: without a receiver its giver would wait for ever
		(&Loan{o.value, o}).Return()
	default:
	}
	return nil, cancelled(ctx, key)
}

func (b *buffers) want(key string) (*offer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.get(key)
	if o.wanted {
		return nil, core.Errorf(core.Internal, "Second consumer arrived for key %s", key)
	}
	o.wanted = true
	select {
	case <-o.made:
		o.value.t = o.value.t.Share()
		delete(b.open, key)
	default:
	}
	return o, nil
}
