package verbs

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// Config says how much an adapter may use. Zero fields stand for defaults.
type Config struct {
	// Generation of TensorFlow's protocol: 1, or 2, the last one, which is the default.
	Generation int
	QueueDepth int // requests of each kind that a queue pair holds: 1024
	Channels   int // that there can be at a time, one for each peer: 1
	ArenaBytes int // of registered memory: 64 MiB
	// CacheBytes is how much memory outside of that is kept registered after
	// tensors were sent from it; 0: 256 MiB, negative: none.
	CacheBytes int
	// StagingBytes is how much memory each channel has for copies of tensors whose own
	// memory is not registered; 0: 8 MiB. What finds no room waits.
	StagingBytes int
	// BusyPoll is how often completions are looked for before the processor is
	// given away; 0: 100 times, negative: once.
	BusyPoll int
	// PortGrace is how long the port of the device may be down before what waits
	// for it fails; 0: 5 seconds.
	PortGrace time.Duration
	// Pulse is how often the peer of a channel is looked after that has to send
	// something; 0: every second.
	Pulse time.Duration
	// Patience is how long a peer may be silent to what is sent to it, whatever
	// the device makes of that; 0: 30 seconds.
	Patience time.Duration
	Log      *slog.Logger
}

const (
	defaultDepth = 1024
	defaultArena = 64 << 20
	// minCompletions is what TensorFlow's completion queue holds.
	minCompletions = 2000
	defaultPoll    = 100
	defaultStaging = 8 << 20
	defaultCache   = 256 << 20
	defaultGrace   = 5 * time.Second
	defaultPulse   = time.Second
	defaultPatient = 30 * time.Second
	// minDepth is below what steps with a few tensors need at a time.
	minDepth = 16
)

func (c Config) withDefaults() Config {
	if c.QueueDepth <= 0 {
		c.QueueDepth = defaultDepth
	}
	if c.ArenaBytes <= 0 {
		c.ArenaBytes = defaultArena
	}
	c.Channels = max(c.Channels, 1)
	if c.Generation == 0 {
		c.Generation = lastGeneration
	}
	if c.CacheBytes == 0 {
		c.CacheBytes = defaultCache
	}
	if c.StagingBytes <= 0 {
		c.StagingBytes = defaultStaging
	}
	if c.BusyPoll == 0 {
		c.BusyPoll = defaultPoll
	}
	for _, d := range []struct {
		v *time.Duration
		d time.Duration
	}{{&c.PortGrace, defaultGrace}, {&c.Pulse, defaultPulse}, {&c.Patience, defaultPatient}} {
		if *d.v <= 0 {
			*d.v = d.d
		}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// An Adapter is an opened device, the memory registered with it, and one
// completion queue for all channels, which a goroutine of the adapter's
// watches.
type Adapter struct {
	dev        Device
	config     Config
	cq         CompletionQueue
	arena      *memory.Arena
	mr         MemoryRegion   // the arena's
	arenaBytes uint64         // of its region, also when that is closed
	sources    *mrCache       // other memory that tensors are sent from
	done       chan struct{}  // closed when the goroutine has ended
	events     sync.WaitGroup // of the goroutine that hears of the device's events
	life       uint64         // this one of the task, as its incarnation
	batch      []*Channel     // of the goroutine: the channels of the completions at hand

	mu       sync.Mutex
	channels map[uint32]*Channel // by number of the queue pair
	broken   error               // why completions are not read any more
	grace    *time.Timer         // runs while the port is down
}

// NewAdapter puts dev, which it owns from then on, to use.
func NewAdapter(dev Device, c Config) (*Adapter, error) {
	if c.Generation < 0 || c.Generation > lastGeneration {
		_ = dev.Close() // the setting is what has to be told
		return nil, core.Errorf(core.InvalidArgument, "the generation of the RDMA protocol must be %d or %d, got %d", firstGeneration, lastGeneration, c.Generation)
	}
	a := &Adapter{dev: dev, config: c.withDefaults(), sources: newMRCache(dev, c.withDefaults().CacheBytes), channels: map[uint32]*Channel{}, life: rand.Uint64() | 1, done: make(chan struct{})}
	if err := a.setUp(); err != nil {
		close(a.done)
		return nil, errors.Join(err, a.tearDown())
	}
	go a.pollCompletions()
	a.events.Add(1)
	go a.pollEvents()
	return a, nil
}

// fit makes queue pairs no deeper than the device has room for their completions.
// A channel can have its depth of requests on each side, and one more of its
// kind is being destroyed when a peer comes back.
func (a *Adapter) fit() (entries int, err error) {
	attr, want := a.dev.Attributes(), a.config.QueueDepth
	share := 2 * (a.config.Channels + 1)
	if attr.MaxDepth > 0 {
		a.config.QueueDepth = min(a.config.QueueDepth, attr.MaxDepth)
	}
	if attr.MaxCQE > 0 {
		a.config.QueueDepth = min(a.config.QueueDepth, attr.MaxCQE/share)
	}
	depth := a.config.QueueDepth
	if depth < min(want, minDepth) {
		return 0, fmt.Errorf("verbs: %s holds %d completions, which is too few for %d channels: queues would be %d deep", attr.Name, attr.MaxCQE, a.config.Channels, depth)
	}
	if depth < want {
		a.config.Log.Warn("the RDMA device has less room than was asked for", "device", attr.Name, "queue depth", depth, "instead of", want)
	}
	entries = max(minCompletions, depth*share)
	if attr.MaxCQE > 0 {
		entries = min(entries, attr.MaxCQE)
	}
	return entries, nil
}

func (a *Adapter) setUp() (err error) {
	entries, err := a.fit()
	if err != nil {
		return err
	}
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
	a.arenaBytes = uint64(len(a.arena.Region().Base))
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
	errs = append(errs, a.sources.close())
	if a.mr != nil {
		errs = append(errs, a.mr.Deregister())
	}
	if a.arena != nil && a.arena.Close() != nil {
		a.config.Log.Debug("RDMA memory stays mapped: tensors are still in it")
	}
	err := errors.Join(append(errs, a.dev.Close())...)
	a.events.Wait()
	a.portActive() // ends the timer
	return err
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
