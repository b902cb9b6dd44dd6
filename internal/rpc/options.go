package rpc

import (
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// Flow control: a tensor is read as a whole anyway, so windows only have to be
// too large to ever hold up a sender.
const (
	streamWindow     = 256 << 20
	connectionWindow = 1 << 30
	ioBuffer         = 256 << 10
)

// A peer that does not answer a ping within pingTimeout is gone. Clients ping
// no more often than every five minutes because TensorFlow's servers hang up
// on those who do; ours allow pings every minPing.
const (
	clientPing  = 5*time.Minute + 30*time.Second
	serverPing  = 2 * time.Minute
	minPing     = 10 * time.Second
	pingTimeout = 20 * time.Second
)

// maxReconnectDelay is TensorFlow's: a worker that comes back is found soon.
const maxReconnectDelay = time.Second

// A ServerConfig says how a server talks.
type ServerConfig struct {
	Credentials credentials.TransportCredentials // nil: plain text, as TensorFlow's own servers
	Logger      *slog.Logger                     // of calls; nil: none
	Links       *LinkServer                      // of the same port; nil: none
	Options     []grpc.ServerOption              // more of them
}

// ServerOptions returns the options of a gRPC server for both services.
func ServerOptions(c ServerConfig) []grpc.ServerOption {
	creds := c.Credentials
	if creds == nil {
		creds = insecure.NewCredentials()
	}
	interceptors := []grpc.UnaryServerInterceptor{serverInterceptor(c.Logger)}
	if c.Links != nil {
		creds = c.Links.Credentials(creds)
		interceptors = append(interceptors, announce)
	}
	opts := []grpc.ServerOption{
		grpc.Creds(creds),
		grpc.ForceServerCodecV2(Codec()),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(maxMessage),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		grpc.ReadBufferSize(ioBuffer),
		grpc.WriteBufferSize(ioBuffer),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: serverPing, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(interceptors...),
	}
	return append(opts, c.Options...)
}

// A DialConfig says how a client talks.
type DialConfig struct {
	Credentials credentials.TransportCredentials // nil: plain text, as TensorFlow's own servers
	Ping        time.Duration                    // between pings of an idle peer; 0: as often as TensorFlow's servers allow
	Control     ControlConfig
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
	creds := c.Credentials
	if creds == nil {
		creds = insecure.NewCredentials()
	}
	ping := c.Ping
	if ping == 0 {
		ping = clientPing
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
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: delay, MinConnectTimeout: pingTimeout}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: ping, Timeout: pingTimeout}),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(), // the library reads no environment
		grpc.WithIdleTimeout(0),
		grpc.WithChainUnaryInterceptor(clientInterceptors(c.Control)...),
	}
	return append(opts, c.Options...)
}
