package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
)

// Serve gives what this task sends under key in a step to done, when it is
// there or ctx ends.
type Serve func(ctx context.Context, step int64, key string, done rendezvous.Done)

// A Channel is the connection to one peer. Receives can begin before it is
// connected; what they have to say waits until then. When the connection is
// lost the channel is over: all that waits on it fails, and its peer gets a
// new one.
//
// Work requests are made under mu, completions come on the adapter's
// goroutine, and nothing that belongs to others (Serve, the done functions of
// receives) is called with mu held.
type Channel struct {
	adapter *Adapter
	peer    string
	serve   Serve
	cache   *metaCache
	limit   int // bytes of a tensor
	log     *slog.Logger

	qp    QueuePair
	older *older // nil: the channel speaks the last generation
	psn   uint32
	nonce nonce // that the peer has to repeat
	bufs  buffers
	stats counters

	// Used by the adapter's goroutine alone, while it handles a batch of completions.
	inBatch bool
	usedUp  int    // receives
	posted  uint64 // receives, since the channel was made
	arrival uint64 // number of the receive that is used up next
	lost    bool   // another one was
	message []byte // the last write of messages that has come
	flushed bool   // a request failed with others

	ctx    context.Context // of what is served to the peer, ends with the channel
	cancel context.CancelFunc
	closed sync.Once
	wg     sync.WaitGroup // of what uses the device outside of the adapter's goroutine

	mu        sync.Mutex
	err       error // why the channel is over
	connected bool
	sendable  bool // the peer is connected too, so that it can be sent to
	pingSeen  bool // the peer's ping has come
	extended  bool // the peer understands what Gorge has added
	remote    endpoint
	out       sendQueue
	tx        messageQueue
	credits   credits
	staging   staging
	seen      uint64 // completions at the last keepalive
	silent    int    // keepalives in a row without one
	requests  requestTable
	held      []*request           // of those, what waits for the ping
	responses map[uint32]*response // by the peer's index
}

// buffers is the registered memory of a channel that no tensor uses.
type buffers struct {
	memory         *memory.Buffer
	local, landing MemoryRegion // what we send from, what the peer writes to
}

// The layout of buffers.
const (
	pingSize  = 1024
	batchRoom = 64 << 10 // of messages, at each end
	atTx      = 0
	atPingOut = atTx + batchRoom
	atAckOut  = atPingOut + pingSize // of the older generation
	atRx      = atAckOut + fixedSize // landing begins here
	atPingIn  = atRx + batchRoom
	allBuffer = atPingIn + pingSize + fixedSize
	atAckIn   = allBuffer - fixedSize // of the older generation
)

// newChannel returns a channel whose queue pair waits for the peer's address.
func newChannel(a *Adapter, peer string, serve Serve, cache *metaCache, limit int) (*Channel, error) {
	c := &Channel{
		adapter: a, peer: peer, serve: serve, cache: cache, limit: limit, log: a.config.Log.With("peer", peer),
		psn: rand.Uint32() & 0xffffff, nonce: newNonce(), responses: map[uint32]*response{},
	}
	c.staging.limit = a.config.StagingBytes
	if a.config.Generation == firstGeneration {
		c.older = newOlder(c)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if err := c.setUp(); err != nil {
		c.cancel()
		return nil, errors.Join(fmt.Errorf("verbs: cannot make a channel to %s: %w", peer, err), c.tearDown())
	}
	return c, nil
}

func (c *Channel) setUp() (err error) {
	dev := c.adapter.dev
	c.bufs.memory = memory.New(allBuffer)
	b := c.bufs.memory.Bytes()
	if c.bufs.local, err = dev.Register(b[:atRx], 0); err != nil {
		return err
	}
	if c.bufs.landing, err = dev.Register(b[atRx:], LocalWrite|RemoteWrite); err != nil {
		return err
	}
	depth := c.adapter.config.QueueDepth
	if c.qp, err = dev.CreateQP(c.adapter.cq, depth); err != nil {
		return err
	}
	if err = c.adapter.add(c); err != nil {
		return err
	}
	if c.older != nil {
		(&olderMessage{typ: olderAck, key: olderAckBuffer}).put(b[atAckOut:][:fixedSize])
	}
	c.out = newSendQueue(c.qp, depth, &c.stats)
	return c.postReceives(depth)
}

// postReceives gives the peer something to send to before it can: the first
// receive is for its ping, all others for immediate values.
func (c *Channel) postReceives(n int) error {
	ping := SGE{Addr: c.bufs.landing.Addr() + (atPingIn - atRx), Length: pingSize, LKey: c.bufs.landing.LKey()}
	if err := c.qp.PostRecv(RecvWR{ID: c.numberRecv(), SGE: ping}); err != nil {
		return err
	}
	return c.replenish(n - 1)
}

func (c *Channel) numberRecv() uint64 {
	c.posted++
	return recvID + c.posted - 1
}

// replenish posts n receives for immediate values.
func (c *Channel) replenish(n int) error {
	wrs := make([]RecvWR, n)
	for i := range wrs {
		wrs[i].ID = c.numberRecv()
	}
	return c.qp.PostRecv(wrs...)
}

// endpoint is what the peer has to know of the channel.
func (c *Channel) endpoint() endpoint {
	attr := c.adapter.dev.Attributes()
	return endpoint{
		Address: Address{LID: attr.LID, GID: attr.GID, QPN: c.qp.Num(), PSN: c.psn},
		tx:      remoteMR{c.bufs.local.Addr(), c.bufs.local.RKey()},
		rx:      remoteMR{c.bufs.landing.Addr(), c.bufs.landing.RKey()},
		txAck:   remoteMR{c.bufs.local.Addr() + atAckOut, c.bufs.local.RKey()},
		rxAck:   remoteMR{c.bufs.landing.Addr() + atAckIn - atRx, c.bufs.landing.RKey()},
		hello:   c.hello(),
	}
}

// hello is what the peer is told beside TensorFlow's fields.
func (c *Channel) hello() hello {
	a := c.adapter
	room := batchRoom
	if c.older != nil {
		room = 0
	}
	return hello{
		generation: a.config.Generation, version: helloVersion, incarnation: a.life, nonce: c.nonce, depth: a.config.QueueDepth,
		arena: remoteMR{a.mr.Addr(), a.mr.RKey()}, arenaBytes: a.arenaBytes,
		room: room,
	}
}

// connect tells the channel where its peer is. Being told the same again
// changes nothing. What is sent to a peer that is not connected itself is lost
// at first, and sent again only after a while: the end that was asked for its address is
// silent until the other one, which got the answer, has sent its ping.
func (c *Channel) connect(remote endpoint, asked bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case c.connected && c.remote != remote:
		return unavailable(c.peer, errMoved)
	case !c.connected:
		if err := c.qp.Connect(c.psn, remote.Address); err != nil {
			return unavailable(c.peer, err)
		}
		c.connected, c.remote = true, remote
		if c.older == nil {
			c.credits.count(c.adapter.config.QueueDepth, &remote.hello)
		}
		c.log.Info("RDMA channel is connected", "device", c.adapter.dev.Attributes().Name, "qpn", c.qp.Num(), "peer qpn", remote.QPN)
	}
	if !asked {
		c.markSendable()
	}
	return nil
}

// markSendable begins to send; the caller holds the lock.
func (c *Channel) markSendable() {
	if c.sendable || c.err != nil {
		return
	}
	c.sendable, c.silent = true, 0
	c.ping()
	c.pump()
}

var errMoved = errors.New("the peer has another address now")

// over returns why the channel is over, nil while it is not.
func (c *Channel) over() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// knows reports whether the channel is connected to the given queue pair, or
// can still be.
func (c *Channel) knows(remote endpoint) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err == nil && (!c.connected || c.remote == remote)
}

// enter keeps the device open for a goroutine that is not the adapter's, until
// it calls c.wg.Done.
func (c *Channel) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.wg.Add(1)
	}
	return c.err
}

// fail ends the channel with err. Only the first call counts.
func (c *Channel) fail(err error) {
	c.closed.Do(func() {
		c.mu.Lock()
		c.err = err
		c.mu.Unlock()
		c.cancel()
		c.log.Info("RDMA channel is closed", "reason", err)
		if err := c.tearDown(); err != nil {
			c.log.Warn("RDMA channel did not close cleanly", "error", err)
		}
		c.endWork()
		c.failRequests(err)
		c.dropResponses()
		if c.older != nil {
			c.older.drop()
		}
	})
}

// close ends the channel and waits for what it does on goroutines of its own.
func (c *Channel) close(err error) {
	c.fail(err)
	c.wg.Wait()
}

// tearDown destroys the queue pair. Only after that the device does not use memory that
// is named in work requests or known to the peer.
func (c *Channel) tearDown() error {
	var errs []error
	if c.qp != nil {
		errs = append(errs, c.qp.Destroy())
		c.adapter.remove(c)
	}
	for _, mr := range []MemoryRegion{c.bufs.local, c.bufs.landing} {
		if mr != nil {
			errs = append(errs, mr.Deregister())
		}
	}
	return errors.Join(errs...)
}

// endWork ends the work requests of a queue pair that is no more.
func (c *Channel) endWork() {
	c.mu.Lock()
	all := append(c.out.drop(), c.credits.drop()...)
	copies := c.staging.drop()
	c.mu.Unlock()
	for _, x := range copies {
		x.v.release()
	}
	for _, w := range all {
		w.finish()
	}
}

// post sends a work request. If that cannot be, neither can anything else; the
// caller holds the lock that fail takes.
func (c *Channel) post(w work) {
	if err := c.out.post(w); err != nil {
		c.failLater(err)
	}
}

// failLater is fail for a caller that holds the channel's lock.
func (c *Channel) failLater(why error) {
	c.wg.Go(func() { c.fail(unavailable(c.peer, why)) })
}
