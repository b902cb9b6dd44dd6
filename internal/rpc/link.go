package rpc

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"github.com/gorge-tf/gorge/internal/inbound"
	"github.com/gorge-tf/gorge/internal/link"
	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/tf/pb"
)

// LinkHeader is where Gorge's servers say in their answers that they can be
// reached by links, too.
const LinkHeader = "gorge-link"

const (
	// dataLinks carry transfers, which may be large: other calls do not wait
	// behind them.
	dataLinks = 2
	linkDial  = 5 * time.Second
	// relink is how long a server is left alone when no link came about.
	relink = 2 * time.Second
)

// LinkServer serves links at the port of a gRPC server: the credentials that it
// is given tell them apart.
type LinkServer struct {
	*link.Server
	log *slog.Logger
}

// NewLinkServer returns a server of links that treats calls as a gRPC server with
// [ServerOptions] does.
func NewLinkServer(c ServerConfig) LinkServer {
	s := link.NewServer(Codec(), serverInterceptor(c.Logger, c.Observer), orDefault(c.Keepalive))
	s.Limits = link.Limits{Calls: int(min(c.Limits.Streams, math.MaxInt32)), Queued: c.Limits.Queued}
	if c.Guard != nil {
		s.Admit = c.Guard.Allow
	}
	if o := c.Observer; o != nil {
		s.Observe = func(ctx context.Context, method string) (context.Context, func(error)) {
			return o.Serve(ctx, method, "link")
		}
	}
	return LinkServer{s, c.Logger}
}

// A TensorStarter is a WorkerServer whose RecvTensor need not keep a goroutine
// waiting: done is called once, on whatever goroutine, and takes over the tensor.
type TensorStarter interface {
	StartRecvTensor(ctx context.Context, req *pb.RecvTensorRequest, done func(*TensorResponse, error))
}

// RegisterService adds the unary methods of a service. All services have to be
// there before the first link.
func (s LinkServer) RegisterService(desc *grpc.ServiceDesc, srv any) {
	s.Server.RegisterService(desc, srv)
	for _, m := range desc.Methods {
		if full := "/" + desc.ServiceName + "/" + m.MethodName; method.Of(full).Nonblocking {
			s.RegisterQuick(full)
		}
	}
	if t, ok := srv.(TensorStarter); ok && desc == &descWorker {
		s.RegisterStarter(method.WorkerRecvTensor, startRecv(t, s.log))
	}
}

// startRecv makes a starter of what starts RecvTensor. No interceptor stands before
// it, so it makes panics errors itself: on this goroutine, which reads the link.
func startRecv(t TensorStarter, l *slog.Logger) link.Starter {
	return func(ctx context.Context, dec func(any) error, done func(any, error)) {
		var ended atomic.Bool
		answer := func(resp any, err error) {
			if !ended.Swap(true) {
				done(resp, err)
			}
		}
		defer func() {
			if p := recover(); p != nil {
				answer(nil, panicked(ctx, l, p))
			}
		}()
		req := &pb.RecvTensorRequest{}
		if err := accept(dec, req); err != nil {
			answer(nil, toStatus(ctx, err))
			return
		}
		t.StartRecvTensor(ctx, req, func(resp *TensorResponse, err error) {
			if err != nil {
				err = toStatus(ctx, err)
			}
			answer(resp, err)
		})
	}
}

// Credentials returns c with links taken out: they never reach gRPC.
func (s LinkServer) Credentials(c credentials.TransportCredentials) credentials.TransportCredentials {
	return muxCredentials{c, &s, &connLimiter{}, newHandshakeLog(s.log)}
}

// muxCredentials are credentials that count connections and tell links from gRPC
// by their first byte.
type muxCredentials struct {
	credentials.TransportCredentials
	links   *LinkServer // nil: all is gRPC
	limiter *connLimiter
	failed  *handshakeLog
}

// ServerHandshake shakes hands as the credentials do and looks at what the
// client says first.
func (s muxCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	over, err := s.limiter.acquire()
	if err != nil {
		raw.Close()
		return nil, nil, err
	}
	if s.Info().SecurityProtocol == "tls" {
		raw = link.Beneath(raw)
	}
	nc, auth, err := s.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		s.limiter.release()
		s.failed.tell(raw.RemoteAddr(), err)
		return nc, auth, err
	}
	return s.dispatch(nc, auth, over)
}

func (s muxCredentials) dispatch(nc net.Conn, auth credentials.AuthInfo, over bool) (net.Conn, credentials.AuthInfo, error) {
	g := &countedConn{Conn: nc, release: s.limiter.release}
	if s.links != nil {
		b := make([]byte, 1)
		n, err := nc.Read(b)
		if err != nil || over && n == 1 && b[0] == link.Preface[0] { // the client goes on by gRPC
			g.Close()
			return nil, nil, cmp.Or(err, s.limiter.errLimit())
		}
		if g.first = b[:n]; n == 1 && b[0] == link.Preface[0] {
			go func() {
				defer s.limiter.release()
				s.links.Serve(nc, auth, b)
			}()
			return nil, nil, credentials.ErrConnDispatched
		}
	}
	if over {
		time.AfterFunc(refusalTimeout, func() { g.Close() })
		auth = refusedConn{auth, s.limiter}
	}
	return inbound.NewConn(&deadlineConn{Conn: g}), auth, nil
}

// Clone copies the credentials.
func (s muxCredentials) Clone() credentials.TransportCredentials {
	return muxCredentials{s.TransportCredentials.Clone(), s.links, s.limiter, s.failed}
}

// announce tells clients of links with each answer that gRPC carries.
func announce(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	_ = grpc.SetHeader(ctx, metadata.Pairs(LinkHeader, "1")) // nothing depends on it
	return handle(ctx, req)
}

// A linker moves the calls of a channel to links as soon as the server has told
// that it serves them, and back to gRPC when they end.
type linker struct {
	addr  string
	creds credentials.TransportCredentials // nil: plain text
	k     Keepalive
	token *secure.TokenSender // nil: calls have none
	see   Observer            // nil: there is no observer
	ctx   context.Context     // ends with close
	stop  context.CancelFunc
	links atomic.Pointer[linkSet]

	mu      sync.Mutex
	dialing bool
	work    sync.WaitGroup
}

// A linkSet is the links to one server.
type linkSet struct {
	control *link.Client
	data    [dataLinks]*link.Client
	turn    atomic.Uint32
}

func (b *linkSet) all() []*link.Client { return append(b.data[:], b.control) }

// carrier returns the link for a method.
func (b *linkSet) carrier(full string) *link.Client {
	if method.Of(full).Transfer {
		return b.data[b.turn.Add(1)%dataLinks]
	}
	return b.control
}

// leave waits for the calls under way, until ctx ends, and closes the links.
func (b *linkSet) leave(ctx context.Context) {
	for _, l := range b.all() {
		l.Leave(ctx)
	}
	b.close()
}

func (b *linkSet) close() {
	for _, l := range b.all() {
		if l != nil {
			l.Close()
		}
	}
}

func newLinker(addr string, c DialConfig, k Keepalive) *linker {
	l := &linker{addr: addr, creds: c.credentials(), k: k, token: c.token(), see: c.Observer}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

// intercept makes calls by links, as long as there are some.
func (l *linker) intercept(ctx context.Context, method string, req, resp any, cc *grpc.ClientConn, byGRPC grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if b := l.links.Load(); b != nil && !isProbe(ctx) {
		err := b.carrier(method).Invoke(ctx, method, req, resp, opts...)
		if err == nil || !errors.As(err, new(link.ErrNotSent)) {
			return err
		}
	}
	var header metadata.MD
	err := byGRPC(ctx, method, req, resp, cc, append(opts, grpc.Header(&header))...)
	if len(header.Get(LinkHeader)) > 0 {
		l.dial()
	}
	return err
}

// start makes a call without waiting, if there is a link for it.
func (l *linker) start(ctx context.Context, method string, req, resp any, done func(error)) bool {
	b := l.links.Load()
	if b == nil {
		return false
	}
	var end func(error)
	if l.see != nil {
		told := done
		ctx, end = l.see.Call(ctx, method)
		done = func(err error) {
			end(err)
			told(err)
		}
	}
	err := b.carrier(method).Start(ctx, method, req, resp, func(r link.Reply) { done(fromStatus(r.Err, r.Trailer)) })
	if err != nil && !errors.As(err, new(link.ErrNotSent)) {
		done(fromStatus(err, nil))
		return true
	}
	if err != nil && l.see != nil {
		end(err) // what follows is another call
	}
	return err == nil
}

// notify makes a call without asking for an answer, if there is a link for it.
func (l *linker) notify(method string, req any) bool {
	b := l.links.Load()
	if b == nil {
		return false
	}
	ctx, end := context.Background(), func(error) {}
	if l.see != nil {
		ctx, end = l.see.Call(ctx, method)
	}
	err := b.carrier(method).Notify(ctx, method, req)
	end(err)
	return err == nil
}

// dial begins to make links, unless they are there or being made.
func (l *linker) dial() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dialing || l.ctx.Err() != nil {
		return
	}
	l.dialing = true
	l.work.Go(l.keep)
}

// keep makes links and waits for their end.
func (l *linker) keep() {
	b, err := l.connect()
	if err == nil {
		l.links.Store(b)
		l.watch(b)
		l.links.Store(nil)
		b.leave(l.ctx)
	} else {
		sleep(l.ctx, relink)
	}
	l.mu.Lock()
	l.dialing = false
	l.mu.Unlock()
}

// watch waits until one of the links takes no more calls.
func (l *linker) watch(b *linkSet) {
	select {
	case <-b.control.Gone():
	case <-b.data[0].Gone():
	case <-b.data[1].Gone():
	case <-l.ctx.Done():
	}
}

func (l *linker) connect() (*linkSet, error) {
	ctx, cancel := context.WithTimeout(l.ctx, linkDial)
	defer cancel()
	b := &linkSet{}
	for _, to := range []**link.Client{&b.control, &b.data[0], &b.data[1]} {
		c, err := l.open(ctx)
		if err != nil {
			b.close()
			return nil, err
		}
		*to = c
	}
	return b, nil
}

func (l *linker) open(ctx context.Context) (*link.Client, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return nil, err
	}
	if l.creds != nil {
		secure, _, err := l.creds.ClientHandshake(ctx, l.addr, link.Beneath(nc))
		if err != nil {
			nc.Close()
			return nil, err
		}
		nc = secure
	}
	deadline, _ := ctx.Deadline()
	defer context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })()
	if err := nc.SetDeadline(deadline); err != nil {
		nc.Close()
		return nil, err
	}
	c, err := link.NewClient(nc, Codec(), l.k)
	if err != nil {
		return nil, err
	}
	c.Outgoing = l.outgoing()
	if err := errors.Join(ctx.Err(), nc.SetDeadline(time.Time{})); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// outgoing returns what adds to each call what goes with it; nil: nothing does.
func (l *linker) outgoing() func(context.Context) []string {
	if l.token == nil && l.see == nil {
		return nil
	}
	return func(ctx context.Context) (out []string) {
		if l.see != nil {
			out = l.see.Outgoing(ctx)
		}
		if l.token != nil {
			out = append(out, "authorization", l.token.Header())
		}
		return out
	}
}

func (l *linker) close() {
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	l.work.Wait()
}
