package soft

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// Options say how a device is reached.
type Options struct {
	// Listen is the TCP address for connections of peers; empty: a free port
	// of the loopback interface.
	Listen string
	// Advertise is the IP address that peers are told, where it is not the
	// one listened at. The device connects from there.
	Advertise netip.Addr
	// Timeout bounds the time that a queue pair takes to reach its peer, 0: 10
	// seconds.
	Timeout time.Duration
	// TLS, if not nil, secures connections. All devices need certificates that
	// lead to its roots.
	TLS *tls.Config
}

const (
	defaultTimeout = 10 * time.Second
	// maxMessage is the most that a reliable connection carries at once.
	maxMessage = 1 << 31
	// copyBelow is small because registering costs a map entry here.
	copyBelow = 4 << 10
	// maxInline is the like of what hardware has.
	maxInline = 256
)

// A Device is a software RDMA device: a listener with queue pairs behind it.
type Device struct {
	listener net.Listener
	attr     verbs.Attributes
	ip       netip.Addr // that peers are told
	timeout  time.Duration
	secrets  *secrets        // nil: connections are in plain text
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	events   chan verbs.Event
	unready  atomic.Int64   // requests of peers that found no receive posted
	wg       sync.WaitGroup // of accept and the connections that it has not handed over

	mu        sync.Mutex
	newcomers []net.Conn // that have not said yet which queue pair they are for, the oldest first
	pairs     map[uint32]*queuePair
	regions   map[uint32]*region
	nextQPN   uint32
	nextKey   uint32
}

// Open starts a device.
func Open(o Options) (*Device, error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("soft: cannot listen for queue pairs: %w", err)
	}
	at, err := advertised(l, o.Advertise)
	if err != nil {
		l.Close()
		return nil, err
	}
	d := &Device{listener: l, ip: at.Addr().Unmap(), timeout: o.Timeout, secrets: newSecrets(o.TLS), pairs: map[uint32]*queuePair{}, regions: map[uint32]*region{}, events: make(chan verbs.Event, 16)}
	// Numbers that start anywhere keep those of a device's earlier life from
	// being taken for its own.
	d.nextQPN, d.nextKey = rand.Uint32()&0xffffff, rand.Uint32()
	d.attr = verbs.Attributes{Name: "soft " + at.String(), LID: at.Port(), GID: at.Addr().As16(), MaxMessage: maxMessage, MaxInline: maxInline, CopyBelow: copyBelow}
	d.attr.Detail = "software provider over " + d.carrier() + ", at " + at.String()
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.wg.Go(d.accept)
	return d, nil
}

func (d *Device) carrier() string {
	if d.secrets != nil {
		return "TLS"
	}
	return "TCP"
}

// advertised returns where peers find the listener.
func advertised(l net.Listener, ip netip.Addr) (netip.AddrPort, error) {
	at := l.Addr().(*net.TCPAddr).AddrPort()
	if !ip.IsValid() {
		ip = at.Addr()
	}
	if ip.IsUnspecified() {
		return at, fmt.Errorf("soft: a device must tell peers an address, it listens at %v: set Advertise", at)
	}
	return netip.AddrPortFrom(ip, at.Port()), nil
}

// Attributes describes the device: its GID is its IP address, its LID the port.
func (d *Device) Attributes() verbs.Attributes { return d.attr }

// accept hands connections of peers to the queue pairs that they are for.
func (d *Device) accept() {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			if d.ctx.Err() != nil {
				return
			}
			time.Sleep(acceptPause)
			continue
		}
		d.expect(conn)
		d.wg.Go(func() { d.awaitHello(conn) })
	}
}

// acceptPause keeps a process that is out of file descriptors from spinning.
const acceptPause = 10 * time.Millisecond

// awaitHello waits for the peer to name the queue pair that it wants, and for that queue pair
// to know its peer: of the two that are being connected one is always first.
func (d *Device) awaitHello(raw net.Conn) {
	defer context.AfterFunc(d.ctx, func() { raw.Close() })()
	raw.SetDeadline(time.Now().Add(d.timeout))
	conn, err := d.secrets.accept(d.ctx, raw)
	var h hello
	if err == nil {
		h, err = readHello(conn)
	}
	d.heard(raw)
	if err != nil {
		conn.Close()
		return
	}
	q := d.pair(h.to)
	if q == nil || !q.await(d.timeout) || !q.adopt(conn, h) {
		conn.Write([]byte{refused})
		conn.Close()
	}
}

// maxNewcomers bounds the connections that have said nothing yet: a peer that opens many must
// not take the descriptors of the process. Peers send their hello at once.
const maxNewcomers = 256

// expect notes a connection that has not said its hello. Beyond the bound the oldest one
// is closed.
func (d *Device) expect(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.newcomers = append(d.newcomers, conn); len(d.newcomers) > maxNewcomers {
		d.newcomers[0].Close()
		d.newcomers = slices.Delete(d.newcomers, 0, 1)
	}
}

// heard is called when a connection has said its hello, or will say none.
func (d *Device) heard(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.newcomers, conn); i >= 0 {
		d.newcomers = slices.Delete(d.newcomers, i, i+1)
	}
}

func (d *Device) pair(num uint32) *queuePair {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pairs[num]
}

// CreateCQ returns a completion queue that holds the given number of entries.
func (d *Device) CreateCQ(entries int) (verbs.CompletionQueue, error) {
	if entries <= 0 {
		return nil, fmt.Errorf("soft: a completion queue needs a positive number of entries, got %d", entries)
	}
	return newCQ(entries), nil
}

// CreateQP returns a queue pair.
func (d *Device) CreateQP(cq verbs.CompletionQueue, depth int) (verbs.QueuePair, error) {
	own, ok := cq.(*completionQueue)
	if !ok || depth <= 0 {
		return nil, fmt.Errorf("soft: a queue pair needs a completion queue of the same provider and a positive depth, got %T and %d", cq, depth)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil {
		return nil, verbs.ErrClosed
	}
	for d.nextQPN == 0 || d.pairs[d.nextQPN] != nil {
		d.nextQPN = (d.nextQPN + 1) & 0xffffff
	}
	q := newPair(d, own, d.nextQPN, depth)
	d.pairs[q.num] = q
	d.nextQPN = (d.nextQPN + 1) & 0xffffff
	return q, nil
}

func (d *Device) forget(num uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.pairs, num)
}

// NextEvent waits for an event, of which there are only those that Raise makes.
func (d *Device) NextEvent() (verbs.Event, error) {
	select {
	case e := <-d.events:
		return e, nil
	case <-d.ctx.Done():
		return verbs.Event{}, verbs.ErrClosed
	}
}

// Raise tells of an event, as the driver of a card does. It reports false if
// too many wait to be read.
func (d *Device) Raise(e verbs.Event) bool {
	select {
	case d.events <- e:
		return true
	default:
		return false
	}
}

// NotReady is how many requests of peers have found no receive posted, each of
// which hardware would have turned away for a while (RNR).
func (d *Device) NotReady() int64 { return d.unready.Load() }

// Close ends the device. It refuses while there are queue pairs or regions.
func (d *Device) Close() error {
	d.mu.Lock()
	pairs, regions := len(d.pairs), len(d.regions)
	if pairs+regions == 0 {
		d.cancel()
	}
	d.mu.Unlock()
	if pairs+regions > 0 {
		return fmt.Errorf("soft: a device must not be in use when it is closed, it has %d queue pairs and %d memory regions", pairs, regions)
	}
	err := d.listener.Close()
	d.wg.Wait()
	return err
}
