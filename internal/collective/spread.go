package collective

import (
	"context"
	"strconv"

	"github.com/gorge-tf/gorge/tf/core"
)

// gather puts the values of all members one after the other. Each goes round the
// ring once.
func (x *exec) gather() error {
	out, n := x.p.Out, x.g.size
	each := out.Len() / n
	own := span{out, x.rank * each, each}
	if x.p.In.Len() != each {
		return core.Errorf(core.Internal, "Tensor Size Mismatch: a member of %d gathers %d elements, expected: %d", n, x.p.In.Len(), each)
	}
	if each == 0 {
		return nil
	}
	copyTo(own)(whole(x.p.In))
	r := newRing(x.g.perTask, 0, x.rank)
	return x.each(n, func(ctx context.Context, i int) error {
		v := span{out, i * each, each}
		if i != r.place {
			before := (r.place + n - 1) % n
			if err := x.receive(ctx, r.previous(), x.sub(0, i, before), v, copyTo(v)); err != nil {
				return err
			}
		}
		if r.place == (i+n-1)%n {
			return nil
		}
		return x.send(ctx, x.sub(0, i, r.place), v)
	})
}

// broadcast hands the source's value on, tree by tree.
func (x *exec) broadcast() error {
	out := whole(x.p.Out)
	v := out
	if x.p.Source {
		v = whole(x.p.In)
		copyTo(out)(v)
	}
	for _, t := range trees(x.g.perTask, x.source, x.rank) {
		if from := t.from(); from >= 0 {
			if err := x.receive(x.ctx, t.members[from], x.sub(t.number, from, t.place), out, copyTo(out)); err != nil {
				return err
			}
		}
		to := t.to()
		if err := x.each(len(to), func(ctx context.Context, i int) error {
			return x.send(ctx, x.sub(t.number, t.place, to[i]), out)
		}); err != nil {
			return err
		}
	}
	return nil
}

// allToAll sends each member a part of the input, and makes the output of what
// they send. Parts go to members in their order, and come to the places of their
// ranks.
func (x *exec) allToAll() error {
	in, out, n := x.p.In, x.p.Out, x.g.size
	if in.Rank() == 0 || in.Dim(0) != n {
		return core.Errorf(core.InvalidArgument, "input to all-to-all first dimension size (%d) must be the same as the group size (%d)", dim0(in), n)
	}
	each := in.Len() / n
	if each == 0 {
		return nil
	}
	if in.Buffer() == out.Buffer() {
		t, err := x.c.Temp(out.DType(), out.Shape())
		if err != nil {
			return err
		}
		defer t.Release()
		copyTo(whole(t))(whole(in))
		in = t
	}
	return x.each(2*n, func(ctx context.Context, i int) error {
		member := i / 2
		if i%2 == 0 {
			return x.send(ctx, x.between(x.rank, member), span{in, member * each, each})
		}
		v := span{out, x.g.members[member].rank * each, each}
		return x.receive(ctx, member, x.between(member, x.rank), v, copyTo(v))
	})
}

// between is the key of what one member sends another. TensorFlow's has nothing
// between the numbers.
func (x *exec) between(from, to int) string {
	return x.key + strconv.Itoa(from) + strconv.Itoa(to)
}

func dim0(t *core.Tensor) int {
	if t.Rank() == 0 {
		return 1
	}
	return t.Dim(0)
}
