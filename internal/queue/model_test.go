package queue

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// model is a queue of numbers as one would explain it: lists, and a rule that is
// applied until nothing changes.
type model struct {
	kind     Kind
	capacity int
	least    int // of a RandomShuffle queue: how many stay in it while it is open
	closed   bool
	items    []int64
	puts     []*request
	takes    []*request
}

// request is an attempt of the model. Its state in the end is that of the real
// attempt.
type request struct {
	put    []int64 // that are still to be put in, of all
	all    []int64
	want   int
	upTo   bool
	close  bool
	got    []int64
	state  string // "", "ok", "cancelled", "closed", "short"
	cancel context.CancelFunc

	batch   Tuple
	answer  string
	answers int
	heard   func()
}

// settle serves all that can be: enqueues as long as there is room, then
// dequeues, and again.
func (m *model) settle() {
	for changed := true; changed; {
		changed = false
		for m.settlePuts() {
			changed = true
		}
		for m.settleTakes() {
			changed = true
		}
	}
}

func (m *model) settlePuts() bool {
	if len(m.puts) == 0 {
		return false
	}
	r := m.puts[0]
	switch {
	case r.close && m.closed, !r.close && m.closed:
		r.state = "closed"
	case r.close:
		m.closed, r.state = true, "ok"
	case len(r.put) == 0:
		r.state = "ok"
	case len(m.items) < m.capacity:
		m.items, r.put = append(m.items, r.put[0]), r.put[1:]
		return true
	default:
		return false
	}
	m.puts = m.puts[1:]
	return true
}

func (m *model) settleTakes() bool {
	if len(m.takes) == 0 {
		return false
	}
	r := m.takes[0]
	switch {
	case r.want == len(r.got):
		r.state = "ok"
	case m.closed && len(m.items) < r.want-len(r.got):
		m.giveBack(r)
		if r.upTo && len(m.items) > 0 {
			r.want = len(m.items)
			return true
		}
		r.state = "short"
	case m.available() < 1, m.kind == Priority && m.available() < r.want-len(r.got):
		return false
	default:
		i := m.next()
		r.got, m.items = append(r.got, m.items[i]), slices.Delete(m.items, i, i+1)
		return true
	}
	m.takes = m.takes[1:]
	return true
}

func (m *model) available() int {
	if m.closed {
		return len(m.items)
	}
	return len(m.items) - m.least
}

// next returns which item leaves next: of a RandomShuffle queue any.
func (m *model) next() int {
	if m.kind != Priority {
		return 0
	}
	first := slices.MinFunc(m.items, func(a, b int64) int { return cmp.Compare(priority(a), priority(b)) })
	return slices.Index(m.items, first)
}

// priority returns the priority of an element, no two of which have the same.
func priority(item int64) int64 { return int64(bits.Reverse16(uint16(item))) }

func (m *model) giveBack(r *request) {
	m.items, r.got = append(slices.Clone(r.got), m.items...), nil
}

func (m *model) cancel(r *request) {
	if r.state != "" {
		return
	}
	isIt := func(o *request) bool { return o == r }
	m.puts, m.takes = slices.DeleteFunc(m.puts, isIt), slices.DeleteFunc(m.takes, isIt)
	m.giveBack(r)
	r.state = "cancelled"
	m.settle()
}

// shut closes the queue at once.
func (m *model) shut() {
	m.closed = true
	for _, r := range m.puts {
		r.state = "closed"
	}
	m.puts = nil
}

// answered notes what the real queue said.
func (r *request) answered(t Tuple, err error) {
	r.answers++
	if r.heard != nil {
		defer r.heard()
	}
	r.answer = map[core.Code]string{core.OK: "ok", core.OutOfRange: "short"}[core.CodeOf(err)]
	if core.CodeOf(err) == core.Canceled {
		r.answer = "closed"
		if core.AsError(err).Derived {
			r.answer = "cancelled"
		}
	}
	r.batch = t
}

// A flavor says how elements of one kind of queue carry their numbers.
type flavor struct {
	kind   Kind
	types  []core.DType
	shapes []core.Shape
	// elements returns a batch of elements, numbers what they are in one that
	// came out.
	elements func(items []int64) Tuple
	numbers  func(t *testing.T, batch Tuple) []int64
}

var flavors = []flavor{
	{FIFO, []core.DType{core.Int64}, []core.Shape{{}}, func(items []int64) Tuple { return Tuple{vector(items...)} }, lastOf},
	{RandomShuffle, []core.DType{core.Int64}, []core.Shape{{}}, func(items []int64) Tuple { return Tuple{vector(items...)} }, lastOf},
	{Priority, []core.DType{core.Int64, core.Int64}, []core.Shape{{}, {}}, withPriorities, lastOf},
	{PaddingFIFO, []core.DType{core.Int64, core.Int64}, []core.Shape{{-1}, {}}, withTails, checkTails},
}

func lastOf(_ *testing.T, batch Tuple) []int64 { return core.Data[int64](batch[len(batch)-1]) }

func withPriorities(items []int64) Tuple {
	var p []int64
	for _, item := range items {
		p = append(p, priority(item))
	}
	return Tuple{vector(p...), vector(items...)}
}

// withTails gives elements a vector each, all of one size, of their numbers.
func withTails(items []int64) Tuple {
	width := int(items[0] % 3)
	tails := core.NewTensor(core.Int64, core.Shape{len(items), width})
	for i := range core.Data[int64](tails) {
		core.Data[int64](tails)[i] = items[i/width]
	}
	return Tuple{tails, vector(items...)}
}

// checkTails wants a number in front of each tail, as often as it may be, and
// zeros behind it.
func checkTails(t *testing.T, batch Tuple) []int64 {
	items, tails := core.Data[int64](batch[1]), core.Data[int64](batch[0])
	width, widest := len(tails)/len(items), 0
	for i, item := range items {
		tail := tails[i*width : (i+1)*width]
		own := 0
		for own < width && tail[own] == item && item != 0 {
			own++
		}
		widest = max(widest, own)
		if own < width && slices.Max(tail[own:]) != 0 {
			t.Fatalf("element %d is padded to %v", item, tail)
		}
	}
	if !slices.Contains(items, 0) && widest != width {
		t.Fatalf("elements %v are padded to %d", items, width)
	}
	return items
}

// TestModel drives a queue and the model with the same random requests and
// cancellations; after each of them, all answers must be the same. In the end
// each element that went in must have come out once.
func TestModel(t *testing.T) {
	for _, f := range flavors {
		for seed := range uint64(300) {
			t.Run(fmt.Sprint(f.kind, seed), func(t *testing.T) { newDriver(t, f, seed).drive() })
		}
	}
}

// A driver asks a queue and its model for the same.
type driver struct {
	*testing.T
	flavor
	rnd  *rand.Rand
	m    *model
	q    *Queue
	all  []*request
	next int64 // number of the next element
}

func newDriver(t *testing.T, f flavor, seed uint64) *driver {
	rnd := rand.New(rand.NewPCG(seed, 7))
	m := &model{kind: f.kind, capacity: 1 + rnd.IntN(6)}
	if f.kind == RandomShuffle {
		m.least = rnd.IntN(m.capacity)
	}
	q := mustNew(t, Spec{Kind: f.kind, Name: "q", Capacity: m.capacity, MinAfterDequeue: m.least, Seed: int64(seed), Seed2: 1, Types: f.types, Shapes: f.shapes})
	return &driver{T: t, flavor: f, rnd: rnd, m: m, q: q}
}

func (d *driver) drive() {
	for range 80 {
		if len(d.all) > 0 && d.rnd.IntN(5) == 0 {
			r := d.all[d.rnd.IntN(len(d.all))]
			d.m.cancel(r)
			cancelNow(d.q, r)
		} else {
			r := &request{}
			d.all = append(d.all, r)
			d.issue(r)
			d.m.settle()
		}
		d.compare()
	}
	d.drain()
}

// issue sends a random request to both.
func (d *driver) issue(r *request) {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	done := func(err error) { r.answered(nil, err) }
	switch n := d.rnd.IntN(5); d.rnd.IntN(12) {
	case 0, 1, 2, 3, 4:
		for range n + 1 {
			r.put = append(r.put, d.next)
			d.next++
		}
		r.all = r.put
		d.m.puts = append(d.m.puts, r)
		d.q.EnqueueMany(ctx, d.elements(r.put), done)
	case 5, 6, 7, 8:
		r.want = n + 1
		d.m.takes = append(d.m.takes, r)
		d.q.DequeueMany(ctx, r.want, false, r.answered)
	case 9, 10:
		r.want, r.upTo = n+1, true
		d.m.takes = append(d.m.takes, r)
		d.q.DequeueMany(ctx, r.want, true, r.answered)
	default:
		d.issueRare(ctx, r, done)
	}
}

// issueRare closes the queue, or takes one element.
func (d *driver) issueRare(ctx context.Context, r *request, done func(error)) {
	switch d.rnd.IntN(16) {
	case 0:
		r.close = true
		d.m.puts = append(d.m.puts, r)
		d.q.CloseQueue(ctx, false, done)
	case 1:
		r.close, r.state = true, "ok"
		d.m.shut()
		d.q.CloseQueue(ctx, true, done)
	default:
		r.want = 1
		d.m.takes = append(d.m.takes, r)
		d.q.Dequeue(ctx, r.answered)
	}
}

// cancelNow cancels r and waits until the queue has heard of it.
func cancelNow(q *Queue, r *request) {
	if r.answers > 0 {
		r.cancel()
		return
	}
	heard := make(chan struct{})
	r.heard = func() { close(heard) }
	r.cancel()
	<-heard
}

func (d *driver) compare() {
	d.Helper()
	for i, r := range d.all {
		if r.answer != r.state || r.answers > 1 || r.state == "ok" && !d.same(r) {
			d.Fatalf("request %d is %q with %v (answers %d), want %q with %v", i, r.answer, r.batch, r.answers, r.state, r.got)
		}
	}
	if d.q.Size() != len(d.m.items) || d.q.Closed() != d.m.closed {
		d.Fatalf("size %d, closed %v, want %d, %v", d.q.Size(), d.q.Closed(), len(d.m.items), d.m.closed)
	}
}

// same reports whether a request has got what it should.
func (d *driver) same(r *request) bool {
	if r.want == 0 {
		return r.batch == nil
	}
	real := d.numbers(d.T, r.batch)
	return len(real) == len(r.got) && (d.kind == RandomShuffle || slices.Equal(real, r.got))
}

// drain takes out what is left. Each element must have come out once, if it ever
// was in the queue.
func (d *driver) drain() {
	d.m.shut() // only to know what of the requests to put something in was done
	d.q.CloseQueue(context.Background(), true, func(error) {})
	rest := &request{}
	d.q.DequeueMany(context.Background(), 1000, true, rest.answered)
	var in, out []int64
	for _, r := range append(d.all, rest) {
		in = append(in, r.all[:len(r.all)-len(r.put)]...)
		if r.answer == "ok" && r.batch != nil {
			out = append(out, d.numbers(d.T, r.batch)...)
		}
	}
	slices.Sort(in)
	slices.Sort(out)
	if !slices.Equal(in, out) {
		d.Fatalf("the elements %v came out, %v went in", out, in)
	}
}
