package link

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/internal/inbound"
)

// A Server answers calls that come through links by the services that have
// been registered, as a [grpc.Server] does.
type Server struct {
	codec     encoding.CodecV2
	intercept grpc.UnaryServerInterceptor
	keepalive Keepalive
	methods   map[string]method // by full name
	starters  map[string]Starter
	quick     map[string]bool

	// Admit, if not nil, says whether the caller may make a call; its error is
	// the answer. It is asked on the goroutine that reads the link, before the
	// message is looked at. Admit and Limits are set before the first link.
	Admit  func(ctx context.Context, method string) error
	Limits Limits
	// Observe, if not nil, is told of each call and notification as it begins, and what
	// it returns of how it ended. It is set before the first link, too.
	Observe func(ctx context.Context, method string) (context.Context, func(error))

	mu      sync.Mutex
	links   map[*serverConn]struct{}
	stopped bool
	serving sync.WaitGroup
}

// Limits bound what one link may hold; 0: there is no bound.
type Limits struct {
	Calls  int   // under way; one more is answered ResourceExhausted
	Queued int64 // bytes of replies that the peer has not taken; while there are more nothing is read from it
}

type method struct {
	impl   any
	handle grpc.MethodHandler
}

// NewServer returns a server without services. Calls go through intercept, if
// there is one.
func NewServer(codec encoding.CodecV2, intercept grpc.UnaryServerInterceptor, k Keepalive) *Server {
	return &Server{codec: codec, intercept: intercept, keepalive: k, methods: map[string]method{}, starters: map[string]Starter{}, quick: map[string]bool{}, links: map[*serverConn]struct{}{}}
}

// RegisterService adds the unary methods of a service. All services have to be
// there before the first link.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	for _, m := range desc.Methods {
		s.methods["/"+desc.ServiceName+"/"+m.MethodName] = method{impl, m.Handler}
	}
}

// A Starter begins a call and calls done once when it has ended, on whatever
// goroutine. It does not wait. Its context has what grpc.SetTrailer needs.
type Starter func(ctx context.Context, dec func(req any) error, done func(resp any, err error))

// RegisterStarter makes a method one that needs no goroutine while it waits.
// Interceptors do not see it.
func (s *Server) RegisterStarter(method string, f Starter) { s.starters[method] = f }

// RegisterQuick makes a method one that the link's reader may run itself, when it is
// called without asking for an answer: it must not wait.
func (s *Server) RegisterQuick(method string) { s.quick[method] = true }

// Serve answers the calls of one link until it ends, and closes nc then. Auth is
// what its handshake has shown of the peer; calls find it in their context. The
// first bytes that the peer says have been read already.
func (s *Server) Serve(nc net.Conn, auth credentials.AuthInfo, first []byte) {
	c := &serverConn{conn: newConn(nc), server: s, calls: map[uint32]context.CancelFunc{}, pool: handlerPool{work: make(chan func())}}
	c.ctx, c.cancel = context.WithCancel(peer.NewContext(context.Background(), &peer.Peer{Addr: nc.RemoteAddr(), LocalAddr: nc.LocalAddr(), AuthInfo: auth}))
	if !s.add(c) {
		nc.Close()
		return
	}
	defer s.remove(c)
	c.inbound = inbound.Open(func() { _ = nc.SetReadDeadline(time.Unix(1, 0)) }) // fails only on one that has ended
	defer c.inbound.Close()
	late := time.AfterFunc(prefaceTimeout, func() { c.end(status.Error(codes.DeadlineExceeded, "a client must greet")) })
	err := errors.Join(readPreface(io.MultiReader(bytes.NewReader(first), nc)), writePreface(nc))
	if !late.Stop() || err != nil {
		c.end(err)
		c.cancel()
		return
	}
	c.startKeepalive(s.keepalive)
	c.serve()
}

// Stats say what links hold now.
type Stats struct {
	Links  int
	Calls  int   // under way
	Queued int64 // bytes of replies that peers have not taken
}

// Stats returns what the server's links hold.
func (s *Server) Stats() (out Stats) {
	s.mu.Lock()
	links := make([]*serverConn, 0, len(s.links))
	for c := range s.links {
		links = append(links, c)
	}
	s.mu.Unlock()
	out.Links = len(links)
	for _, c := range links {
		c.mu.Lock()
		out.Calls += c.active
		c.mu.Unlock()
		out.Queued += c.queued.Load()
	}
	return out
}

// prefaceTimeout is how long a client may take for the preface.
const prefaceTimeout = 10 * time.Second

func (s *Server) add(c *serverConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.links[c] = struct{}{}
	s.serving.Add(1)
	return true
}

func (s *Server) remove(c *serverConn) {
	s.mu.Lock()
	delete(s.links, c)
	s.mu.Unlock()
	s.serving.Done()
}

// Stop asks all callers to leave, waits up to patience for the calls under way
// and ends the links.
func (s *Server) Stop(patience time.Duration) {
	s.mu.Lock()
	s.stopped = true
	links := make([]*serverConn, 0, len(s.links))
	for c := range s.links {
		links = append(links, c)
	}
	s.mu.Unlock()
	for _, c := range links {
		_ = c.send(newFrame(kindGoodbye, 0, nil, nil), false) // one that has ended needs no goodbye
	}
	var goodbyes sync.WaitGroup
	for _, c := range links {
		goodbyes.Go(c.leave)
	}
	late := time.AfterFunc(patience, func() {
		for _, c := range links {
			c.end(errStopped)
		}
	})
	defer late.Stop()
	goodbyes.Wait()
	s.serving.Wait()
}

var errStopped = status.Error(codes.Unavailable, "the server has stopped")

// A serverConn is the server's end of a link.
type serverConn struct {
	*conn
	server *Server
	ctx    context.Context // ends with the link
	cancel context.CancelFunc

	handlers sync.WaitGroup // only serve waits, and adds
	pool     handlerPool
	inbound  *inbound.Holder // counts what has come of a message; of the reader only

	// Guarded by conn.mu:
	calls   map[uint32]context.CancelFunc
	active  int  // calls whose reply is not out
	leaving bool // the link ends with the last of them
}

// serve reads the link until it ends, then ends its goroutines in order: the context
// tells handlers to stop, none starts after work is closed, and writers are waited for
// last, since handlers hand frames over to them.
func (c *serverConn) serve() {
	for {
		if err := c.next(); err != nil {
			c.end(err)
			break
		}
	}
	c.cancel()
	close(c.pool.work)
	c.handlers.Wait()
	c.writers.Wait()
}

// leave ends the link as soon as no call is under way.
func (c *serverConn) leave() {
	_ = c.send(newFrame(kindGoodbye, 0, nil, nil), true) // one that has ended needs no goodbye
	c.mu.Lock()
	c.leaving = true
	idle := c.active == 0
	c.mu.Unlock()
	if idle {
		c.endWritten(errStopped)
	}
}

// finished counts a call whose reply is out, or on its way there.
func (c *serverConn) finished() {
	c.mu.Lock()
	c.active--
	last := c.leaving && c.active == 0
	c.mu.Unlock()
	if last {
		c.endWritten(errStopped)
	}
}

func (c *serverConn) next() error {
	c.awaitQueueBelow(c.server.Limits.Queued)
	h, head, err := readHead(c.br)
	if err != nil {
		return err
	}
	switch h.kind {
	case kindCall:
		return c.call(h, head)
	case kindNotify:
		return c.notice(h, head)
	}
	if _, err := c.br.Discard(h.body); err != nil {
		return err
	}
	switch h.kind {
	case kindCancel:
		c.stop(h.call)
	case kindPing:
		// Not here: a peer that takes nothing must not keep the reader from its cancels.
		c.handlers.Go(func() { _ = c.send(newFrame(kindPong, 0, nil, nil), true) })
	case kindPong:
	default:
		err = status.Errorf(codes.Internal, "a link's client must not send frames of kind %d", h.kind)
	}
	return err
}

// body reads the body of a call. What comes of a long one is counted until all has.
func (c *serverConn) body(h header) (mem.BufferSlice, error) {
	if h.body <= readBuffer {
		return readBody(c.br, h, unbounded)
	}
	taken := 0
	defer func() { c.inbound.Give(int64(taken)) }()
	out, err := readBody(c.br, h, func(n int) error {
		taken += n
		return c.inbound.Take(int64(n))
	})
	if crowded := c.inbound.Take(0); err != nil && crowded != nil {
		err = status.Error(codes.ResourceExhausted, crowded.Error())
	}
	return out, err
}

// notice runs a method that was called without asking for an answer: there is no reply
// that could carry an error, only the observer hears of it.
func (c *serverConn) notice(h header, head []byte) error {
	name, _, md, err := parseCallHead(head)
	if err != nil {
		return err
	}
	ctx, observed := c.server.observe(withPairs(c.ctx, md), name)
	quick := c.server.quick[name]
	refused := cmp.Or(c.server.admit(ctx, name), checkBody(h))
	if refused == nil && !quick {
		refused = c.admitNotice(name)
	}
	if refused != nil {
		observed(refused)
		_, err := c.br.Discard(h.body)
		return err
	}
	body, err := c.body(h)
	if err != nil {
		observed(err)
		if !quick {
			c.finished()
		}
		return err
	}
	run := func() {
		_, err := c.server.invoke(grpc.NewContextWithServerTransportStream(ctx, &stream{method: name}), name, body)
		observed(err)
	}
	if quick {
		run()
		return nil
	}
	c.startHandler(func() {
		defer c.finished()
		run()
	})
	return nil
}

// admitNotice counts a notification among the calls under way, until finished, unless
// there are too many.
func (c *serverConn) admitNotice(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if most := c.server.Limits.Calls; most > 0 && c.active >= most {
		return c.server.mayCall(c.ctx, name, true)
	}
	c.active++
	c.deferredEnd = nil // until this one is over, too
	return nil
}

func (c *serverConn) stop(id uint32) {
	c.mu.Lock()
	cancel := c.calls[id]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// call begins a call. Its context ends with the link, its time limit, a cancel frame or
// its reply. active counts it until the reply has been given to the connection (finished),
// calls until the reply is formed: after that its number may come again.
// The body of a call that is refused is not kept.
func (c *serverConn) call(h header, head []byte) error {
	name, limit, md, err := parseCallHead(head)
	if err != nil {
		return err
	}
	id := h.call
	ctx, cancel := bounded(c.ctx, limit)
	c.mu.Lock()
	if c.calls[id] != nil {
		c.mu.Unlock()
		cancel()
		return status.Errorf(codes.Internal, "calls under way must have different numbers, %d came twice", id)
	}
	c.calls[id] = cancel
	c.active++
	crowded := c.server.Limits.Calls > 0 && c.active > c.server.Limits.Calls
	c.deferredEnd = nil // until this one is answered, too
	c.mu.Unlock()
	q := &request{c: c, id: id, cancel: cancel, stream: stream{method: name}}
	ctx = grpc.NewContextWithServerTransportStream(withPairs(ctx, md), &q.stream)
	ctx, q.observed = c.server.observe(ctx, name)
	if err := cmp.Or(c.server.mayCall(ctx, name, crowded), checkBody(h)); err != nil {
		q.reply(nil, err, false)
		_, err := c.br.Discard(h.body)
		return err
	}
	body, err := c.body(h)
	if err != nil {
		q.reply(nil, err, false)
		return err
	}
	if start := c.server.starters[name]; start != nil {
		c.handlers.Add(1)
		start(ctx, c.server.decoder(name, body), func(resp any, err error) {
			defer c.handlers.Done()
			q.reply(resp, err, false)
		})
		return nil
	}
	c.startHandler(func() {
		resp, err := c.server.invoke(ctx, name, body)
		q.reply(resp, err, true)
	})
	return nil
}

// checkBody refuses a message for which there will be no memory when it is whole.
func checkBody(h header) error {
	if most := inbound.MaxMessage(maxBody); h.body > most {
		return status.Errorf(codes.ResourceExhausted, "a message must have at most %d bytes here, half of the memory limit, got %d", most, h.body)
	}
	return nil
}

// withPairs returns a context with what came with a call, where gRPC's handlers
// look for it.
func withPairs(ctx context.Context, md metadata.MD) context.Context {
	if md == nil {
		return ctx
	}
	return metadata.NewIncomingContext(ctx, md)
}

// observe tells of a call that has come, and returns what is told of its end.
func (s *Server) observe(ctx context.Context, method string) (context.Context, func(error)) {
	if s.Observe == nil {
		return ctx, unobserved
	}
	return s.Observe(ctx, method)
}

func unobserved(error) {}

func (s *Server) admit(ctx context.Context, method string) error {
	if s.Admit == nil {
		return nil
	}
	return s.Admit(ctx, method)
}

// mayCall is admit for a link that may have too many calls under way.
func (s *Server) mayCall(ctx context.Context, method string, crowded bool) error {
	if crowded {
		return status.Errorf(codes.ResourceExhausted, "a connection must not have more than %d calls under way (the limit of streams), %s is one more", s.Limits.Calls, method)
	}
	return s.admit(ctx, method)
}

// bounded returns a context of a call; limit 0 is none.
func bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}

// A request is a call that has not been answered.
type request struct {
	c      *serverConn
	id     uint32
	cancel context.CancelFunc
	stream stream

	observed func(error) // is told how the call ended
}

// reply answers the call.
func (q *request) reply(resp any, err error, mayWait bool) {
	c := q.c
	defer c.finished()
	c.mu.Lock()
	delete(c.calls, q.id)
	c.mu.Unlock()
	q.cancel()
	var body mem.BufferSlice
	if err == nil {
		body, err = encode(c.server.codec, "a reply of "+q.stream.method, resp)
	}
	o := outcome{}
	if err != nil {
		o = outcomeOf(err)
	}
	q.observed(err)
	o.header, o.trailer = q.stream.taken()
	_ = c.send(newFrame(kindReply, q.id, o.append(make([]byte, 0, 16)), body), mayWait) // fails only on a link that has ended, where the caller has gone
}

// decoder returns the function that reads a request once.
func (s *Server) decoder(name string, body mem.BufferSlice) func(any) error {
	return func(req any) error {
		defer body.Free()
		if err := s.codec.Unmarshal(body, req); err != nil {
			return status.Errorf(codes.Internal, "decoding a request of %s: %v", name, err)
		}
		return nil
	}
}

func (s *Server) invoke(ctx context.Context, name string, body mem.BufferSlice) (any, error) {
	m, ok := s.methods[name]
	if !ok {
		body.Free()
		return nil, status.Errorf(codes.Unimplemented, "unknown method %s", name)
	}
	return m.handle(m.impl, ctx, s.decoder(name, body), s.intercept)
}
