package verbs

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/gorge-tf/gorge/internal/memory"
)

// Config says how much an adapter may use. Zero fields stand for defaults.
type Config struct {
	QueueDepth int // requests of each kind that a queue pair holds: 1024
	Channels   int // that there can be at a time, one for each peer: 1
	ArenaBytes int // of registered memory: 64 MiB
	Log        *slog.Logger
}

const (
	defaultDepth = 1024
	defaultArena = 64 << 20
	// minCompletions is what TensorFlow's completion queue holds.
	minCompletions = 2000
)

func (c Config) withDefaults() Config {
	if c.QueueDepth <= 0 {
		c.QueueDepth = defaultDepth
	}
	if c.ArenaBytes <= 0 {
		c.ArenaBytes = defaultArena
	}
	c.Channels = max(c.Channels, 1)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// An Adapter is an opened device, the memory registered with it, and one
// completion queue for all channels, which a goroutine of the adapter's
// watches.
type Adapter struct {
	dev    Device
	config Config
	cq     CompletionQueue
	arena  *memory.Arena
	mr     MemoryRegion  // the arena's
	done   chan struct{} // closed when the goroutine has ended

	mu       sync.Mutex
	channels map[uint32]*Channel // by number of the queue pair
	broken   error               // why completions are not read any more
}

// NewAdapter puts dev, which it owns from then on, to use.
func NewAdapter(dev Device, c Config) (*Adapter, error) {
	a := &Adapter{dev: dev, config: c.withDefaults(), channels: map[uint32]*Channel{}, done: make(chan struct{})}
	if err := a.setUp(); err != nil {
		close(a.done)
		return nil, errors.Join(err, a.tearDown())
	}
	go a.watch()
	return a, nil
}

func (a *Adapter) setUp() (err error) {
	// A channel can have its depth of requests on each side, and one more of
	// its kind is being destroyed when a peer comes back.
	entries := max(minCompletions, 2*a.config.QueueDepth*(a.config.Channels+1))
	if a.cq, err = a.dev.CreateCQ(entries); err != nil {
		return fmt.Errorf("verbs: cannot create a completion queue of %d entries: %w", entries, err)
	}
	if a.arena, err = memory.NewArena(a.config.ArenaBytes); err != nil {
		return err
	}
	if a.mr, err = a.dev.Register(a.arena.Region().Base, LocalWrite|RemoteWrite); err != nil {
		return fmt.Errorf("verbs: cannot register %d bytes: %w", a.config.ArenaBytes, err)
	}
	a.arena.Region().Key = a.mr
	return nil
}

// Close ends the adapter and closes its device. All channels must be closed.
// Tensors that are still in the arena keep it mapped.
func (a *Adapter) Close() error { return a.tearDown() }

func (a *Adapter) tearDown() error {
	var errs []error
	if a.cq != nil {
		errs = append(errs, a.cq.Close())
	}
	<-a.done
	if a.mr != nil {
		errs = append(errs, a.mr.Deregister())
	}
	if a.arena != nil && a.arena.Close() != nil {
		a.config.Log.Debug("RDMA memory stays mapped: tensors are still in it")
	}
	return errors.Join(append(errs, a.dev.Close())...)
}

// watch reads completions until the queue is closed. It is the one goroutine
// on which channels hear of what their queue pairs do.
func (a *Adapter) watch() {
	defer close(a.done)
	wc := make([]Completion, 64)
	armed := false
	for {
		n, err := a.cq.Poll(wc)
		switch {
		case err != nil:
		case n > 0:
			a.dispatch(wc[:n])
			continue
		case !armed: // what came before is polled once more
			err = a.cq.Arm()
			armed = true
		default:
			err = a.cq.Wait()
			armed = false
		}
		if err != nil {
			a.abandon(err)
			return
		}
	}
}

func (a *Adapter) dispatch(wc []Completion) {
	for _, w := range wc {
		a.mu.Lock()
		c := a.channels[w.QPN]
		a.mu.Unlock()
		if c != nil { // else a channel that has been closed
			c.complete(w)
		}
	}
}

// abandon fails what depends on completions that will never be read.
func (a *Adapter) abandon(err error) {
	a.mu.Lock()
	a.broken = err
	var all []*Channel
	for _, c := range a.channels {
		all = append(all, c)
	}
	a.mu.Unlock()
	for _, c := range all {
		c.fail(unavailable(c.peer, err))
	}
}

// add makes the completions of a channel's queue pair reach it.
func (a *Adapter) add(c *Channel) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.broken != nil {
		return a.broken
	}
	a.channels[c.qp.Num()] = c
	return nil
}

func (a *Adapter) remove(c *Channel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.channels, c.qp.Num())
}
