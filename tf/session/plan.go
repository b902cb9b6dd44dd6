package session

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// plan is a step as the backend runs it, and how its results answer the fetches.
type plan struct {
	call  Call
	slots []slot
	// into is memory of the program's for the first fetch; nil: there is none.
	into *core.Tensor
	room struct { // where the slices of call, and slots, lie while they are short
		feedNames, fetches [1]string
		feeds              [1]*core.Tensor
		slots              [1]slot
	}
}

// slot says where the answer to a fetch comes from.
type slot struct {
	from source
	i    int
}

type source uint8

const (
	nowhere  source = iota // an operation, which is only run
	returned               // result i
	fed                    // the value of feed i
)

// plan translates feeds and fetches to names.
func (s *Session) plan(feeds Feeds, fetches []tf.Fetchable) (*plan, error) {
	p := &plan{}
	p.call.FeedNames, p.call.Feeds, p.call.Fetches = p.room.feedNames[:0], p.room.feeds[:0], p.room.fetches[:0]
	if err := p.call.addFeeds(s.g, feeds); err != nil {
		return nil, err
	}
	return p, p.addFetches(s.g, fetches)
}

func (p *plan) addFetches(g *tf.Graph, fetches []tf.Fetchable) (err error) {
	if len(fetches) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Must specify at least one target to fetch or execute.")
	}
	if p.slots = p.room.slots[:min(len(fetches), len(p.room.slots))]; len(p.slots) < len(fetches) {
		p.slots = make([]slot, len(fetches))
	}
	for i, f := range fetches {
		if f == nil || f.Operation() == nil {
			return tf.Errorf(tf.InvalidArgument, "a fetch must be an output or operation of the graph, fetch %d of %d is none", i+1, len(fetches))
		}
		if v, ok := f.(*tf.Variable); ok {
			f = v.Value()
		}
		if p.slots[i], err = p.addFetch(g, f); err != nil {
			return err
		}
	}
	return nil
}

// addFetch adds f and returns where its answer will come from.
func (p *plan) addFetch(g *tf.Graph, f tf.Fetchable) (slot, error) {
	if err := fetchable(g, f); err != nil {
		return slot{}, err
	}
	c := &p.call
	x, ok := f.(tf.Output)
	if !ok {
		if name := f.Operation().Name; !slices.Contains(c.Targets, name) {
			c.Targets = append(c.Targets, name)
		}
		return slot{}, nil
	}
	name := x.Name()
	if k := slices.Index(c.FeedNames, name); k >= 0 {
		return slot{fed, k}, nil
	}
	k := slices.Index(c.Fetches, name)
	if k < 0 {
		k = len(c.Fetches)
		c.Fetches = append(c.Fetches, name)
	}
	return slot{returned, k}, nil
}

// fetchable reports as an error that f cannot be fetched in sessions on g.
func fetchable(g *tf.Graph, f tf.Fetchable) error {
	op := f.Operation()
	if err := op.Err(); err != nil {
		return err
	}
	if op.Graph() != g {
		return core.AtNode(tf.Errorf(tf.InvalidArgument, "a fetch must belong to the session's graph, %s does not", op.Name), &op.Node, nil)
	}
	if err := op.CheckFetchable(); err != nil {
		return core.AtNode(err, &op.Node, nil)
	}
	if x, ok := f.(tf.Output); ok {
		return x.Err()
	}
	return nil
}

// answered reports whether all that is fetched has been fed: then nothing has to
// be run.
func (p *plan) answered() bool { return len(p.call.Fetches)+len(p.call.Targets) == 0 }

// deliver writes the answer to the first fetch to the memory that the program
// has given for it, unless the backend has done so.
func (p *plan) deliver(got []*core.Tensor) error {
	into := p.into
	if into == nil {
		return nil
	}
	from, i := got, p.slots[0].i
	if p.slots[0].from == fed {
		from = p.call.Feeds
	}
	return from[i].CopyTo(into)
}

// answer puts results where they were asked for, and returns what the step reports.
func (p *plan) answer(got []*core.Tensor) ([]*tf.Tensor, *RunMetadata, error) {
	if err := p.deliver(got); err != nil {
		return nil, nil, err
	}
	out, err := p.spread(got)
	if err != nil {
		return nil, nil, err
	}
	return out, p.call.Metadata, nil
}

// spread puts results where they were asked for.
func (p *plan) spread(got []*core.Tensor) ([]*tf.Tensor, error) {
	return spread(p.slots, got, p.call.Feeds)
}

// spread answers each fetch with a tensor of its own: one that is asked for
// twice is copied, for which there may be no memory.
func spread(slots []slot, got, feeds []*core.Tensor) ([]*tf.Tensor, error) {
	out := make([]*tf.Tensor, len(slots))
	for i, s := range slots {
		var t *core.Tensor
		var err error
		switch {
		case s.from == fed:
			t, err = feeds[s.i].TryClone()
		case s.from == returned && slices.Contains(slots[:i], s):
			t, err = got[s.i].TryClone()
		case s.from == returned:
			t = got[s.i]
		}
		if err != nil {
			return nil, err
		}
		out[i] = (*tf.Tensor)(t)
	}
	return out, nil
}
