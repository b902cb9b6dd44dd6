package link

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// A BodyReader is a message that reads itself from a link: exactly n bytes, of
// which it can peek at the first few thousand. An error is one of the connection and
// ends the link.
type BodyReader interface {
	ReadBody(r *bufio.Reader, n int) error
	// Abandon frees a message that was read, but whose caller had gone.
	Abandon()
}

// A Client makes calls through a link. All methods may be called from any
// goroutine.
type Client struct {
	*conn
	codec      encoding.CodecV2
	spinPolicy spinPolicy
	// Outgoing, if not nil, returns names and values by turns that go with a call,
	// as metadata goes with gRPC's. It is set before the first call.
	Outgoing func(ctx context.Context) []string

	// Guarded by conn.mu:
	calls   map[uint32]*call
	last    uint32 // number of a call
	leaving bool   // no more calls are to be made

	gone    chan struct{} // closed when no call can be made any more
	drained chan struct{} // has room for one: no call is under way after leaving
	ended   chan struct{} // closed with the link
	leave   sync.Once
	reading sync.WaitGroup
}

// A Reply is what a call ended with, besides its message.
type Reply struct {
	Err             error // a status of gRPC
	Header, Trailer metadata.MD
}

// A call is one that waits for its reply.
type call struct {
	resp any
	done func(Reply) // called once, unless the caller has left
	stop func() bool // detaches the call from its context; nil: it is not attached

	// Guarded by conn.mu:
	filling  bool // the reply is being read
	decoding bool // resp is being written to, which does not take long: its caller may own what it points to
	answered bool
	left     bool // by its caller
}

// NewClient makes a link of a connection that has just been opened. It waits
// for the peer's preface, until the connection's deadline.
func NewClient(nc net.Conn, codec encoding.CodecV2, k Keepalive) (*Client, error) {
	if err := errors.Join(writePreface(nc), readPreface(nc)); err != nil {
		nc.Close()
		return nil, err
	}
	c := &Client{conn: newConn(nc), codec: codec, calls: map[uint32]*call{}, gone: make(chan struct{}), drained: make(chan struct{}, 1), ended: make(chan struct{})}
	c.startKeepalive(k)
	c.reading.Go(c.read)
	return c, nil
}

// Gone is closed when the link takes no more calls.
func (c *Client) Gone() <-chan struct{} { return c.gone }

func (c *Client) refuseCalls() { c.leave.Do(func() { close(c.gone) }) }

// Leave waits until no call is under way, or ctx ends. No more can be made.
func (c *Client) Leave(ctx context.Context) {
	c.mu.Lock()
	c.leaving = true
	c.mu.Unlock()
	c.refuseCalls()
	for c.busy() {
		select {
		case <-c.ended:
			return
		case <-ctx.Done():
			return
		case <-c.drained:
		}
	}
	c.signalDrained() // others may wait, too
}

func (c *Client) signalDrained() {
	select {
	case c.drained <- struct{}{}:
	default:
	}
}

func (c *Client) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls) > 0
}

// Close ends the link and all calls on it.
func (c *Client) Close() error {
	c.end(status.Error(codes.Canceled, "the link is closed"))
	c.reading.Wait()
	c.writers.Wait()
	return nil
}

// ErrNotSent is in the error of a call that the peer cannot have heard of.
type ErrNotSent struct{ error }

// GRPCStatus makes it an error of gRPC.
func (e ErrNotSent) GRPCStatus() *status.Status { return status.Convert(e.error) }

// Invoke makes a call, see [grpc.ClientConnInterface]. The options that
// ask for headers and trailers are obeyed, the others ignored.
func (c *Client) Invoke(ctx context.Context, method string, req, resp any, opts ...grpc.CallOption) error {
	answer, sent := make(chan Reply, 1), time.Now()
	p := &call{resp: resp, done: func(r Reply) { answer <- r }}
	id, err := c.begin(ctx, method, req, p)
	if err != nil {
		return err
	}
	spun := c.spin(ctx, answer)
	var r Reply
	select {
	case r = <-answer:
	case <-ctx.Done():
		if c.giveUp(id, p) {
			c.spinPolicy.record(spun, time.Since(sent))
			return status.FromContextError(ctx.Err()).Err()
		}
		r = <-answer
	}
	c.spinPolicy.record(spun, time.Since(sent))
	for _, o := range opts {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = r.Header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = r.Trailer
		}
	}
	return r.Err
}

// Start makes a call and does not wait: done hears how it ended, on the link's
// own goroutine, which must not be held up, or on the goroutine that ends ctx. If there
// is an error, the peer cannot have heard of the call, and done is not called.
func (c *Client) Start(ctx context.Context, method string, req, resp any, done func(Reply)) error {
	p := &call{resp: resp, done: done}
	id, err := c.begin(ctx, method, req, p)
	if err != nil || ctx.Done() == nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		if c.giveUp(id, p) {
			done(Reply{Err: status.FromContextError(ctx.Err()).Err()})
		}
	})
	c.mu.Lock()
	p.stop = stop
	over := p.answered
	c.mu.Unlock()
	if over {
		stop()
	}
	return nil
}

// Notify makes a call that has no answer, soon: with the next one that goes
// out, or by itself a little later. Outgoing is asked with ctx, whose end changes
// nothing.
func (c *Client) Notify(ctx context.Context, method string, req any) error {
	body, err := encode(c.codec, "a request of "+method, req)
	if err != nil {
		return err
	}
	return c.sendLater(newFrame(kindNotify, 0, callHead(method, 0, c.outgoing(ctx)...), body))
}

func (c *Client) begin(ctx context.Context, method string, req any, p *call) (uint32, error) {
	if err := ctx.Err(); err != nil {
		return 0, status.FromContextError(err).Err()
	}
	body, err := encode(c.codec, "a request of "+method, req)
	if err != nil {
		return 0, err
	}
	id, err := c.add(p)
	if err != nil {
		body.Free()
		return 0, ErrNotSent{err}
	}
	if err := c.send(newFrame(kindCall, id, callHead(method, limit(ctx), c.outgoing(ctx)...), body), false); err != nil && c.drop(id, p) {
		return 0, ErrNotSent{err}
	}
	return id, nil
}

func (c *Client) outgoing(ctx context.Context) []string {
	if c.Outgoing == nil {
		return nil
	}
	return c.Outgoing(ctx)
}

func limit(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline), time.Microsecond)
}

// NewStream is not possible: links carry unary calls.
func (c *Client) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "a link carries no streams")
}

func (c *Client) add(p *call) (uint32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.leaving {
		return 0, errEnded(c.err)
	}
	for c.last++; c.calls[c.last] != nil; {
		c.last++
	}
	c.calls[c.last] = p
	return c.last, nil
}

// drop takes back a call that was not sent, unless the end of the link has
// answered it.
func (c *Client) drop(id uint32, p *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.answered {
		return false
	}
	p.left = true
	c.remove(id)
	return true
}

// remove forgets a call; c.mu is held.
func (c *Client) remove(id uint32) {
	delete(c.calls, id)
	if c.leaving && len(c.calls) == 0 {
		c.signalDrained()
	}
}

// giveUp leaves a call, unless it has been answered or soon will be.
func (c *Client) giveUp(id uint32, p *call) bool {
	c.mu.Lock()
	if p.answered || p.left || p.decoding {
		c.mu.Unlock()
		return false
	}
	p.left = true
	filling := p.filling
	c.remove(id)
	c.mu.Unlock()
	if !filling {
		_ = c.send(newFrame(kindCancel, id, nil, nil), false) // a link that has ended has no calls
	}
	return true
}
