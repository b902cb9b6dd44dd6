package collective

import (
	"context"
	"strconv"
	"sync"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// An exec is one device's part in one thing that a group does.
type exec struct {
	r       *Runtime
	c       *core.OpContext
	p       *core.Collective
	buffers *buffers
	ctx     context.Context
	g       *group
	rank    int // of the device in g
	source  int // of a broadcast
	key     string
}

// keyOf is what the keys of all values of p begin with.
func keyOf(c *core.OpContext, p *core.Collective) string {
	b := strconv.AppendInt(nil, int64(p.Group.Key), 10)
	b = strconv.AppendInt(append(b, ':'), int64(p.Instance), 10)
	b = strconv.AppendUint(append(b, ':'), c.FrameID, 10)
	return string(strconv.AppendInt(append(b, ':'), c.Iteration, 10))
}

// sub returns the key of a value within the exec's.
func (x *exec) sub(parts ...int) string {
	b := []byte(x.key)
	for _, p := range parts {
		b = strconv.AppendInt(append(b, ':'), int64(p), 10)
	}
	return string(b)
}

func (x *exec) run() error {
	switch x.p.Kind {
	case core.ReduceCollective:
		return x.reduce()
	case core.GatherCollective:
		return x.gather()
	case core.BroadcastCollective:
		return x.broadcast()
	case core.AllToAllCollective:
		return x.allToAll()
	case core.ReduceScatterCollective:
		return x.reduceScatter()
	}
	return core.Errorf(core.Internal, "CollectiveRegistry::Lookup did not find collective implementation undef")
}

// each calls f for all numbers below n, each on a goroutine, and waits for the end of
// all calls. The first error ends the others. One call after the other would not do: a
// send waits for its receiver, so that members that all send first would wait for each
// other, and a ring would move one piece at a time.
func (x *exec) each(n int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(x.ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(x.ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := f(ctx, i); err != nil {
				cancel(end{err}) // only the first one counts
			}
		})
	}
	wg.Wait()
	if ctx.Err() == nil {
		return nil
	}
	return ended(ctx, "op cancelled "+x.p.Name)
}

// send leaves v for another member, and waits until that has it.
func (x *exec) send(ctx context.Context, key string, v span) error {
	return x.buffers.give(ctx, slot{x.g.members[x.rank].name, key}, v)
}

// receive waits for what a member sends, and calls use with it. The receiver's
// own memory, into, is where it lies if it comes from another task.
func (x *exec) receive(ctx context.Context, from int, key string, into span, use func(span)) error {
	m := &x.g.members[from]
	if m.task != x.g.members[x.rank].task {
		if err := x.fetch(ctx, m, key, into); err != nil {
			return err
		}
		use(into)
		return nil
	}
	l, err := x.buffers.take(ctx, slot{m.name, key})
	if err != nil {
		return err
	}
	defer l.Return()
	if l.value.n != into.n || l.value.t.DType() != into.t.DType() {
		return core.Errorf(core.Internal, "Tensor Size Mismatch: %s sends %d elements of %s, expected: %d of %s", m.name, l.value.n, l.value.t.DType().CName(), into.n, into.t.DType().CName())
	}
	use(l.value)
	return nil
}

// copyTo returns what copies a received value to dst, unless it lies there.
func copyTo(dst span) func(span) {
	return func(src span) {
		if src.t != dst.t {
			copy(dst.bytes(), src.bytes())
		}
	}
}

// fetch gets a value from another task.
func (x *exec) fetch(ctx context.Context, m *member, key string, into span) error {
	peer, err := x.r.peer(m.task)
	if err != nil {
		return err
	}
	own := x.g.members[x.rank].device
	b := into.bytes()
	err = peer.RecvBuf(ctx, &pb.RecvBufRequest{
		StepId: x.c.ID, BufRendezvousKey: key, NumBytes: int64(len(b)), ClientLocality: own.GetLocality(), ServerLocality: m.device.GetLocality(),
		SrcDevice: m.name, SrcIncarnation: m.device.GetIncarnation(), DstDevice: x.g.members[x.rank].name, RequestId: requestid.New(),
	}, b)
	if err == nil {
		core.NormalizeBools(into.t.DType(), b) // as transports of tensors do
		return nil
	}
	if ctx.Err() != nil {
		return cancelled(ctx, key)
	}
	if core.CodeOf(err) == core.FailedPrecondition { // the peer is not the one that joined the group
		x.r.groups.forget(x.g)
	}
	return err
}
