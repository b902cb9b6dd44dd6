package memory

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// An account is what one session holds of the process's memory, in blocks large
// enough to be counted one by one, and each of its steps that holds any.
//
// Lock order: accounts.mu before account.mu; neither is held when anything is
// allocated by way of the budget.
type account struct {
	holder
	count atomic.Int32 // steps that hold something
	mu    sync.Mutex
	steps map[int64]*holder
}

// holder is a session, or a step of one.
type holder struct {
	name  string // of a session
	step  int64
	used  atomic.Int64
	peak  atomic.Int64 // of a step: the most that it has held at once
	since atomic.Int64 // the same, since it was last asked for
	whole *holder      // the session of a step
}

// String names h for reports.
func (h *holder) String() string {
	if h.whole == nil {
		return h.name
	}
	return fmt.Sprintf("step %d of %s", h.step, h.whole.name)
}

// The shares that there are.
const (
	sessionShare = iota
	stepShare
)

// SetShares bounds what one session and what one step may hold of the limit:
// parts in 0 to 1; 0 stands for all of it. It returns what they were.
func SetShares(session, step float64) (beforeSession, beforeStep float64) {
	set := func(i int, part float64) float64 {
		n := int64(0)
		if part > 0 { // what is too small for a unit is no 0, which means all
			n = max(1, int64(1000*min(part, 1)))
		}
		return float64(process.shares[i].Swap(n)) / 1000
	}
	return set(sessionShare, session), set(stepShare, step)
}

// share returns the bytes of a share.
func (b *budget) share(i int) int64 {
	part, most := b.shares[i].Load(), b.most()
	if part == 0 || part >= 1000 {
		return most
	}
	return int64(float64(most) * float64(part) / 1000)
}

func newAccount(name string) *account {
	a := &account{steps: map[int64]*holder{}}
	a.name = name
	return a
}

// of returns the holder for a step, for the session itself if step is 0.
func (a *account) of(step int64) *holder {
	if a == nil || step == 0 {
		return a.session()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.steps[step]
	if h == nil {
		h = &holder{step: step, whole: &a.holder}
		a.steps[step] = h
		a.count.Add(1)
	}
	return h
}

func (a *account) session() *holder {
	if a == nil {
		return nil
	}
	return &a.holder
}

// endStep forgets a step and returns the most that it has held at once. What it leaves
// behind, in variables say, is the session's.
func (a *account) endStep(step int64) (peak int64) {
	if a == nil || a.count.Load() == 0 {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.steps[step]
	if h == nil {
		return 0
	}
	delete(a.steps, step)
	a.count.Add(-1)
	return h.peak.Load()
}

// passing returns how much more a step has held, since this was last asked for, than it does now.
func (a *account) passing(step int64) int64 {
	if a == nil || step == 0 {
		return 0
	}
	a.mu.Lock()
	h := a.steps[step]
	a.mu.Unlock()
	if h == nil {
		return 0
	}
	now := h.used.Load()
	return max(0, h.since.Swap(now)-now)
}

// What has been dropped without a release counts until it is collected, and a little longer:
// it is looked so often, with pauses, whether that is over.
const (
	claimLooks = 20
	claimPause = 500 * time.Microsecond
)

// charge counts n bytes to h, and to its session, unless that exceeds a share, also without
// what is garbage.
func (h *holder) charge(n int64) error {
	err := h.tryCharge(n)
	if err == nil {
		return nil
	}
	if x := (*Exhausted)(nil); !errors.As(err, &x) || n > x.Limit {
		return err
	}
	garbage.collect()
	for range claimLooks {
		if err = h.tryCharge(n); err == nil {
			break
		}
		time.Sleep(claimPause)
	}
	return err
}

// A collector collects garbage once for all who ask for it before it begins: what becomes garbage
// while it does may stay.
type collector struct {
	mu    sync.Mutex // held while garbage is collected
	begun atomic.Int64
}

var garbage collector

func (c *collector) collect() {
	next := c.begun.Load() + 1
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun.Load() < next {
		c.begun.Add(1)
		process.collect()
	}
}

// tryCharge is charge that looks once.
func (h *holder) tryCharge(n int64) error {
	if h == nil {
		return nil
	}
	if h.whole == nil {
		return h.add(n, process.share(sessionShare))
	}
	if err := h.add(n, process.share(stepShare)); err != nil {
		return err
	}
	if err := h.whole.add(n, process.share(sessionShare)); err != nil {
		h.used.Add(-n)
		return err
	}
	return nil
}

// add counts n bytes. What exceeds most by itself is not added, not even for a moment: the sum would
// overflow.
func (h *holder) add(n, most int64) error {
	if n > most {
		return h.exhausted(n, h.used.Load(), most)
	}
	used := h.used.Add(n)
	if used <= most {
		if h.whole != nil {
			raise(&h.peak, used)
			raise(&h.since, used)
		}
		return nil
	}
	h.used.Add(-n)
	return h.exhausted(n, used-n, most)
}

func (h *holder) exhausted(n, used, most int64) error {
	return &Exhausted{Asked: n, InUse: used, Limit: most, Of: h.String(), Holders: holders()}
}

// raise makes v at least n.
func raise(v *atomic.Int64, n int64) {
	for was := v.Load(); was < n && !v.CompareAndSwap(was, n); was = v.Load() {
	}
}

func (h *holder) give(n int64) {
	for ; h != nil; h = h.whole {
		h.used.Add(-n)
	}
}

// claim is the holder of a block. It is dropped with the last reference, when the
// block goes to the program, or when it is collected.
type claim struct {
	n  int64
	by atomic.Pointer[holder] // nil: no holder, it is idle or the program's
}

// newClaim is the claim on a block of n bytes at p, which h has been charged for.
func newClaim(p *byte, n int64, h *holder) *claim {
	c := &claim{n: n}
	c.by.Store(h)
	runtime.AddCleanup(p, (*claim).drop, c)
	return c
}

// hold makes h, which has been charged, the holder of a block that was idle.
func (c *claim) hold(h *holder) {
	if c != nil {
		c.by.Store(h)
	}
}

// drop gives up the claim, once.
func (c *claim) drop() {
	if c == nil {
		return
	}
	if h := c.by.Swap(nil); h != nil {
		h.give(c.n)
	}
}

// accounts are the pools of the process.
var accounts struct {
	mu    sync.Mutex
	pools []weak.Pointer[Pool]
	full  int // the length of pools at which those that are gone are dropped
}

// enlist adds p. Each time that the list has doubled it drops what is gone, so that a
// new pool costs little however many there have been.
func enlist(p *Pool) {
	accounts.mu.Lock()
	defer accounts.mu.Unlock()
	if len(accounts.pools) >= accounts.full {
		accounts.pools = slices.DeleteFunc(accounts.pools, gone)
		accounts.full = max(64, 2*len(accounts.pools))
	}
	accounts.pools = append(accounts.pools, weak.Make(p))
}

func gone(w weak.Pointer[Pool]) bool { return w.Value() == nil }

// pools returns those that are still there.
func pools() (all []*Pool) {
	accounts.mu.Lock()
	defer accounts.mu.Unlock()
	for _, w := range accounts.pools {
		if p := w.Value(); p != nil {
			all = append(all, p)
		}
	}
	return all
}

// trimPools gives the idle memory of all pools to the garbage collector.
func trimPools() (freed int64) {
	for _, p := range pools() {
		freed += p.Stats().IdleBytes
		p.Trim()
	}
	return freed
}

// shown is how many holders a report names.
const shown = 6

// holders returns the sessions and steps that hold most, and idle memory.
func holders() []Holder {
	var list []Holder
	idle := int64(0)
	for _, p := range pools() {
		idle += p.Stats().IdleBytes
		list = p.account.report(list)
	}
	list = append(list, Holder{"idle", idle})
	return Largest(list)
}

// Sessions returns what sessions hold now in blocks that are counted, in no order.
func Sessions() (list []Holder) {
	for _, p := range pools() {
		if a := p.account; a != nil {
			list = append(list, Holder{a.name, a.used.Load()})
		}
	}
	return list
}

// Largest returns the largest of a list, in order.
func Largest(list []Holder) []Holder {
	list = slices.DeleteFunc(list, func(h Holder) bool { return h.Bytes <= 0 })
	sort.SliceStable(list, func(i, j int) bool { return list[i].Bytes > list[j].Bytes })
	return list[:min(shown, len(list))]
}

func (a *account) report(list []Holder) []Holder {
	if a == nil {
		return list
	}
	list = append(list, Holder{a.String(), a.used.Load()})
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.steps {
		list = append(list, Holder{h.String(), h.used.Load()})
	}
	return list
}
