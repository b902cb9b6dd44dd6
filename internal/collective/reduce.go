package collective

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
)

// A reduction cuts a value in as many pieces as there are members, times the
// number of rings. Piece by piece sums go once round the ring, each member adding
// its own, and then once more, for all to have them.
type reduction struct {
	*exec
	in, out *core.Tensor
	rings   []ring
	chunks  chunks
	merge   merger
	finish  finisher
}

func (x *exec) reduce() error {
	merge, finish, err := find(x.p)
	if err != nil {
		return err
	}
	offsets := x.p.Offsets
	if len(offsets) == 0 {
		if offsets, err = ringOffsets(x.g, x.p.Out.NumBytes(), x.p.MaxSubdivisions); err != nil {
			return err
		}
	}
	if x.g.size == 1 {
		copyTo(whole(x.p.Out))(whole(x.p.In))
		return nil
	}
	r := &reduction{exec: x, in: x.p.In, out: x.p.Out, rings: newRings(x.g.perTask, offsets, x.rank), merge: merge, finish: finish}
	pieces := x.g.size * len(r.rings)
	r.chunks = alignedChunks(r.out.Len(), r.out.DType(), pieces)
	return x.each(pieces, r.piece)
}

func whole(t *core.Tensor) span { return span{t, 0, t.Len()} }

// piece does this member's part for one piece.
func (r *reduction) piece(ctx context.Context, i int) error {
	out := r.chunks.of(r.out, i)
	if out.n == 0 {
		return nil
	}
	ring, number := &r.rings[i%len(r.rings)], i/len(r.rings)
	if err := r.collect(ctx, ring, i, number); err != nil {
		return err
	}
	return r.spread(ctx, ring, i, number, out)
}

// collect is the first round of a piece: it begins at the member whose place has
// the piece's number and ends at the one before.
func (r *reduction) collect(ctx context.Context, ring *ring, i, number int) error {
	n := r.g.size
	in, out := r.chunks.of(r.in, i), r.chunks.of(r.out, i)
	send := in
	if ring.place != number {
		if err := r.add(ctx, ring, i, in, out); err != nil {
			return err
		}
		send = out
	}
	if ring.place == (number+n-1)%n {
		if r.finish != nil {
			r.finish(out, n)
		}
		return nil
	}
	return r.send(ctx, r.sub(0, i, ring.place), send)
}

// add receives the sum so far and adds this member's value.
func (r *reduction) add(ctx context.Context, ring *ring, i int, in, out span) error {
	key := r.sub(0, i, r.before(ring))
	if r.local(ring.previous()) {
		return r.receive(ctx, ring.previous(), key, out, func(sum span) { r.merge(out, in, sum) })
	}
	t, err := r.c.Temp(out.t.DType(), core.Shape{out.n})
	if err != nil {
		return err
	}
	defer t.Release()
	return r.receive(ctx, ring.previous(), key, whole(t), func(sum span) { r.merge(out, in, sum) })
}

// before is the place before this member's.
func (r *reduction) before(ring *ring) int { return (ring.place + r.g.size - 1) % r.g.size }

// spread is the second round of a piece: the result goes from the member that
// has it to all others.
func (r *reduction) spread(ctx context.Context, ring *ring, i, number int, out span) error {
	n := r.g.size
	if ring.place != (number+n-1)%n {
		if err := r.receive(ctx, ring.previous(), r.sub(1, i, r.before(ring)), out, copyTo(out)); err != nil {
			return err
		}
	}
	if ring.place == (number+2*n-2)%n {
		return nil
	}
	return r.send(ctx, r.sub(1, i, ring.place), out)
}

// local reports whether a member is of the same task.
func (x *exec) local(rank int) bool { return x.g.members[rank].task == x.g.members[x.rank].task }

// reduceScatter leaves each member a part of the sum: sums go round once, and
// then one place on. TensorFlow has it for other devices than CPUs.
func (x *exec) reduceScatter() error {
	merge, finish, err := find(x.p)
	if err != nil {
		return err
	}
	n := x.g.size
	if x.p.Out.Len()*n != x.p.In.Len() {
		return core.Errorf(core.InvalidArgument, "the first dimension of what is reduced and scattered must be divisible by the size of the group, got %s for a group of %d", x.p.In.Shape().String(), n)
	}
	if n == 1 {
		copyTo(whole(x.p.Out))(whole(x.p.In))
		return nil
	}
	sums, err := x.c.Temp(x.p.In.DType(), x.p.In.Shape())
	if err != nil {
		return err
	}
	defer sums.Release()
	r := &reduction{exec: x, in: x.p.In, out: sums, rings: newRings(x.g.perTask, []int{0}, x.rank), chunks: chunks{sums.Len(), x.p.Out.Len()}, merge: merge, finish: finish}
	return x.each(n, r.scatter)
}

func (r *reduction) scatter(ctx context.Context, i int) error {
	sum, ring, n := r.chunks.of(r.out, i), &r.rings[0], r.g.size
	if sum.n == 0 {
		return nil
	}
	if err := r.collect(ctx, ring, i, i); err != nil {
		return err
	}
	switch ring.place {
	case i:
		out := whole(r.p.Out)
		return r.receive(ctx, ring.previous(), r.sub(1, i, r.before(ring)), out, copyTo(out))
	case (i + n - 1) % n:
		return r.send(ctx, r.sub(1, i, ring.place), sum)
	}
	return nil
}
