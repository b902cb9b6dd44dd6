package rnn

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// CTCBeamOpts are the optional attributes of CTCBeamSearchDecoder.
type CTCBeamOpts struct {
	// KeepRepeated keeps equal labels that follow each other, which are made
	// one else.
	KeepRepeated bool
}

// Apply sets the attribute.
func (o CTCBeamOpts) Apply(s *tf.Spec) { s.Set("merge_repeated", !o.KeepRepeated) }

// CTCBeamSearchDecoder returns the topPaths most probable sequences of labels
// given logits x [time batch classes], the last class being the blank, and the
// logarithms of their probabilities, [batch topPaths]. It looks at the
// beamWidth best beginnings at each step. The search is that of Graves and
// Jaitly (ICML 2014). x is float32 or float64; labels and indices are int64.
// A topPaths above beamWidth, or more paths than the search finds, are
// refused with INVALID_ARGUMENT in the step; other errors are those of
// CTCGreedyDecoder. Its options are [CTCBeamOpts].
func CTCBeamSearchDecoder(x, lengths tf.Output, beamWidth, topPaths int, opts ...tf.Option) (d []Decoded, logProbability tf.Output) {
	op := tf.Apply(nil, "CTCBeamSearchDecoder", []tf.Output{x, lengths}, tf.Join(opts, tf.Attr("beam_width", beamWidth), tf.Attr("top_paths", topPaths))...)
	topPaths = author.Results(op, topPaths)
	d = make([]Decoded, topPaths)
	for p := range d {
		d[p] = Decoded{op.Output(p), op.Output(topPaths + p), op.Output(2*topPaths + p)}
	}
	return d, op.Output(3 * topPaths)
}

// A chance says how probable a labeling is, as logarithms: all the ways to it,
// those that end in a blank and those that end in its last label.
type chance[T numeric.Float] struct{ total, blank, label T }

// noWay is the logarithm of zero.
func noWay[T numeric.Float]() T { return T(math.Inf(-1)) }

// logAdd returns log(eᵃ+eᵇ), rounded as often as TensorFlow does: it decides which
// of two labelings that are equally probable is the better one.
func logAdd[T numeric.Float](a, b T) T {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(float64(b), -1) {
		return a
	}
	return a + T(math.Log1p(float64(T(math.Exp(float64(b-a))))))
}

func noChance[T numeric.Float]() chance[T] {
	return chance[T]{noWay[T](), noWay[T](), noWay[T]()}
}

// A prefix is a labeling as the labeling before its last label and that.
type prefix[T numeric.Float] struct {
	parent   *prefix[T]
	label    int // -1 for that without labels
	children map[int]*prefix[T]
	old, now chance[T] // at the step before, and at this one
}

// active reports whether p is among the beginnings that are looked at.
func (p *prefix[T]) active() bool { return p.now.total != noWay[T]() }

// from returns how probable it was that another label comes next.
func (p *prefix[T]) from(label int) T {
	if label == p.label {
		return p.old.blank
	}
	return p.old.total
}

// labels returns the labeling, if so asked with runs of equal labels as one.
func (p *prefix[T]) labels(merge bool) []int {
	var out []int
	last := -1
	for ; p.parent != nil; p = p.parent {
		if !merge || p.label != last {
			out = append(out, p.label)
		}
		last = p.label
	}
	slices.Reverse(out)
	return out
}

// A beam holds the best beginnings of labelings.
type beam[T numeric.Float] struct {
	width  int
	leaves *topN[*prefix[T]]
}

func newBeam[T numeric.Float](width int) *beam[T] {
	b := &beam[T]{width: width, leaves: newTopN(width, likelier[T])}
	root := &prefix[T]{label: -1, old: noChance[T](), now: noChance[T]()}
	root.now.total, root.now.blank = 0, 0
	b.leaves.push(root)
	return b
}

func likelier[T numeric.Float](p, q *prefix[T]) bool { return p.now.total > q.now.total }

// logSumExp returns log(Σ eˣ).
func logSumExp[T numeric.Float](x []T) T {
	most := x[highest(x)]
	sum := T(0)
	for _, v := range x {
		sum += T(math.Exp(float64(v - most)))
	}
	return most + T(math.Log(float64(sum)))
}

// step goes on by one step of logits x.
func (b *beam[T]) step(x []T) {
	norm, blank := logSumExp(x), x[len(x)-1]
	branches := b.leaves.extract()
	for _, p := range branches {
		p.old = p.now
	}
	for _, p := range branches {
		p.stay(x, blank, norm)
		b.leaves.push(p)
	}
	for _, p := range branches {
		if b.candidate(p.old) {
			b.grow(p, x[:len(x)-1], norm)
		}
	}
}

// stay updates the chances of a labeling that gets no other label.
func (p *prefix[T]) stay(x []T, blank, norm T) {
	if p.parent != nil {
		if p.parent.active() {
			p.now.label = logAdd(p.now.label, p.parent.from(p.label))
		}
		p.now.label += x[p.label] - norm
	}
	p.now.blank = p.old.total + blank - norm
	p.now.total = logAdd(p.now.blank, p.now.label)
}

// candidate reports whether something so probable has a place in the beam.
func (b *beam[T]) candidate(c chance[T]) bool {
	return c.total > noWay[T]() && (b.leaves.len() < b.width || c.total > b.leaves.bottom().now.total)
}

// grow adds labels to p where that makes candidates.
func (b *beam[T]) grow(p *prefix[T], x []T, norm T) {
	for l, v := range x {
		child := p.children[l]
		if child != nil && child.active() {
			continue
		}
		now := noChance[T]()
		now.label = v - norm + p.from(l)
		now.total = now.label
		switch {
		case !b.candidate(now) && child != nil:
			child.old, child.now = noChance[T](), noChance[T]()
		case b.candidate(now):
			b.add(p.child(l), now)
		}
	}
}

// child returns the labeling that has one label more than p.
func (p *prefix[T]) child(l int) *prefix[T] {
	if p.children == nil {
		p.children = map[int]*prefix[T]{}
	}
	if p.children[l] == nil {
		p.children[l] = &prefix[T]{parent: p, label: l, old: noChance[T](), now: noChance[T]()}
	}
	return p.children[l]
}

// add puts p into the beam, from which the worst falls if it is full.
func (b *beam[T]) add(p *prefix[T], now chance[T]) {
	p.now = now
	if b.leaves.len() == b.width {
		b.leaves.bottom().now = noChance[T]()
	}
	b.leaves.push(p)
}

// best returns the n most probable labelings.
func (b *beam[T]) best(n int) ([]*prefix[T], error) {
	switch {
	case n > b.width:
		return nil, invalid("requested more paths than the beam width.")
	case n > b.leaves.len():
		return nil, invalid("Less leaves in the beam search than requested.")
	}
	top := newTopN(n, likelier[T])
	for _, p := range b.leaves.unsorted() {
		top.push(p)
	}
	return top.extract(), nil
}

func beamKernel[T interface {
	numeric.Float
	tf.Elem
}](n *core.Node) (core.Kernel, error) {
	width, paths, merge := n.Int("beam_width"), n.Int("top_paths"), n.Bool("merge_repeated")
	return core.Compute(func(c *core.OpContext) error {
		d, err := decoderOf[T](c)
		if err != nil {
			return err
		}
		errs := make([]error, d.batch)
		c.ParallelFor(d.batch, 1, func(lo, hi int) {
			for b := lo; b < hi; b++ {
				errs[b] = d.search(b, width, paths, merge)
			}
		})
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return d.store(c)
	}), nil
}

// search decodes sequence b by beam search.
func (d *decoder[T]) search(b, width, paths int, merge bool) error {
	beam := newBeam[T](width)
	for t := range max(0, int(d.lengths[b])) {
		beam.step(d.step(t, b))
	}
	best, err := beam.best(paths)
	for p, found := range best {
		d.found[b] = append(d.found[b], found.labels(merge))
		d.scores[b*paths+p] = found.now.total
	}
	return err
}
