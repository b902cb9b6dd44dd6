package rpc

import (
	"log/slog"
	"slices"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/gorge-tf/gorge/internal/inbound"
	"github.com/gorge-tf/gorge/internal/secure"
)

// Flow control: a tensor is read as a whole anyway, so windows only have to be
// too large to ever hold up a sender. Those of requests are [inbound.Window].
const (
	streamWindow     = 256 << 20
	connectionWindow = 1 << 30
	ioBuffer         = 256 << 10
)

// maxHeaders bounds what comes with a call beside its message.
const maxHeaders = 256 << 10

// connectTimeout bounds an attempt to connect.
const connectTimeout = 20 * time.Second

// maxReconnectDelay is TensorFlow's: a worker that comes back is found soon.
const maxReconnectDelay = time.Second

// A ServerConfig says how a server talks.
type ServerConfig struct {
	Credentials credentials.TransportCredentials // nil: plain text, as TensorFlow's own servers
	Logger      *slog.Logger                     // of calls; nil: none
	Keepalive   Keepalive                        // of clients; negative times: they are never asked
	Links       *LinkServer                      // of the same port; nil: none
	Guard       *secure.Keeper                   // gives the credentials and says who may call what; nil: all may
	Limits      Limits
	Observer    Observer            // of calls; nil: none
	Options     []grpc.ServerOption // more of them
}

// ServerOptions returns the options of a gRPC server for both services.
func ServerOptions(c ServerConfig) []grpc.ServerOption {
	interceptors := []grpc.UnaryServerInterceptor{serverInterceptor(c.Logger, c.Observer)}
	if c.Links != nil {
		interceptors = append(interceptors, announce)
	}
	if c.Observer != nil {
		interceptors = slices.Insert(interceptors, 0, observeUnary(c.Observer))
	}
	opts := []grpc.ServerOption{
		grpc.Creds(muxCredentials{c.credentials(), c.Links, &connLimiter{limit: c.Limits.Connections}, newHandshakeLog(c.Logger)}),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.ForceServerCodecV2(Codec()),
		grpc.MaxRecvMsgSize(inbound.MaxMessage(maxMessage)),
		grpc.MaxSendMsgSize(maxMessage),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.StaticStreamWindowSize(inbound.Window),
		grpc.StaticConnWindowSize(connectionWindow),
		grpc.ReadBufferSize(ioBuffer),
		grpc.WriteBufferSize(ioBuffer),
		grpc.KeepaliveParams(serverPings(c.Keepalive)),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(interceptors...),
	}
	if taps := c.taps(); taps != nil {
		opts = append(opts, grpc.InTapHandle(inTurn(taps)))
	}
	if c.Limits.Streams > 0 {
		opts = append(opts, grpc.MaxConcurrentStreams(c.Limits.Streams))
	}
	if c.Observer != nil {
		opts = append(opts, grpc.ChainStreamInterceptor(observeStream(c.Observer)))
	}
	if c.Guard != nil {
		opts = append(opts, grpc.ChainStreamInterceptor(c.Guard.WatchStream))
	}
	opts = append(opts, grpc.ChainStreamInterceptor(recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(recovered(c.Logger)))))
	return append(opts, c.Options...)
}

func (c *ServerConfig) credentials() credentials.TransportCredentials {
	switch {
	case c.Guard != nil:
		return secure.NewCredentials(c.Guard)
	case c.Credentials != nil:
		return c.Credentials
	}
	return insecure.NewCredentials()
}

// A DialConfig says how a client talks.
type DialConfig struct {
	Credentials credentials.TransportCredentials // nil: plain text, as TensorFlow's own servers
	Keepalive   Keepalive                        // of the server; negative times: it is never asked
	Control     ControlConfig
	Guard       *secure.Keeper    // gives the credentials and the token that calls carry; nil: Credentials do
	Observer    Observer          // of calls; nil: none
	NoLinks     bool              // all goes by gRPC, also to servers that have links
	Options     []grpc.DialOption // more of them
}

// A ControlConfig bounds the control calls that can be repeated without harm.
type ControlConfig struct {
	Retries int           // attempts after the first one, when the peer cannot be reached
	Timeout time.Duration // of each attempt that the peer answers at once; 0: none
}

// DialOptions returns the options of a channel to a server of both services.
func DialOptions(c DialConfig) []grpc.DialOption {
	creds := c.credentials()
	if creds == nil {
		creds = insecure.NewCredentials()
	}
	delay := backoff.DefaultConfig
	delay.BaseDelay, delay.MaxDelay = maxReconnectDelay/10, maxReconnectDelay
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(Codec()),
			grpc.MaxCallRecvMsgSize(maxMessage),
			grpc.MaxCallSendMsgSize(maxMessage),
		),
		grpc.WithStaticStreamWindowSize(streamWindow),
		grpc.WithStaticConnWindowSize(connectionWindow),
		grpc.WithReadBufferSize(ioBuffer),
		grpc.WithWriteBufferSize(ioBuffer),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: delay, MinConnectTimeout: connectTimeout}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: clientPing, Timeout: orDefault(c.Keepalive).Timeout}),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(), // the library reads no environment
		grpc.WithIdleTimeout(0),
	}
	if c.Observer != nil {
		opts = append(opts, grpc.WithChainUnaryInterceptor(observeCalls(c.Observer)))
	}
	opts = append(opts, grpc.WithChainUnaryInterceptor(clientInterceptors(c.Control)...))
	if t := c.token(); t != nil {
		opts = append(opts, grpc.WithPerRPCCredentials(t))
	}
	return append(opts, c.Options...)
}

// credentials of connections; nil: plain text.
func (c *DialConfig) credentials() credentials.TransportCredentials {
	if c.Guard != nil {
		return secure.NewCredentials(c.Guard)
	}
	return c.Credentials
}

func (c *DialConfig) token() *secure.TokenSender {
	if c.Guard == nil {
		return nil
	}
	return c.Guard.PerCall()
}
