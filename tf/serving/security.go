package serving

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/gorge-tf/gorge/internal/inbound"
	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/tf"
)

// Security has certificates, revocations, roles and tokens, which it reads from
// files again when these change. The role observe may ask for states and
// metadata, the role run may predict, the role administer may replace the
// configuration. All methods may be called from any goroutine; Close ends it.
type Security = secure.Keeper

// SecurityFiles names the files of a Security, PEM unless said otherwise. Its fields are
//
//	Cert, Key    string        // what this process shows, intermediate certificates behind the first
//	CA           string        // certificates that peers' have to lead to; "": those of the machine
//	CRL          string        // revocation lists of the CAs; "": none
//	ClientVerify secure.Verify // what a server asks of clients, "require", "given" or "none"; "": "require" if there is a CA, else "none"
//	ServerName   string        // the name that servers' certificates must have; "": the host that is connected to
//	MinVersion   uint16        // of TLS; 0: 1.2
//	Roles        string        // which certificates' names have which role; "": all clients may do all
//	Tokens       string        // those that the server accepts; "": none
//	Token        string        // the one that this process sends; "": none
//	Poll         time.Duration // how often the files are looked at; 0: every ten seconds, negative: never
type SecurityFiles = secure.Files

// OpenSecurity reads files and looks after them until the Security is closed. Log
// gets records about the files, audit one for each call that is refused or that replaces
// the configuration. Both may be nil: then nothing is written.
func OpenSecurity(f SecurityFiles, log, audit slog.Handler) (*Security, error) {
	var l *slog.Logger
	if log != nil {
		l = slog.New(log)
	}
	return secure.Open(f, l, audit)
}

// Credentials returns c for a gRPC server of a program that has no [Config.Security];
// nil stands for plain text. They bound the memory of messages of which only a part has
// come: all connections of the process together may have half of its memory limit of
// them, beyond which the connection with the most is ended. A server without them has
// no such bound, because no other option of gRPC sees a message before it is whole.
//
//	grpc.NewServer(append(s.GRPCOptions(), grpc.Creds(serving.Credentials(nil)))...)
func Credentials(c credentials.TransportCredentials) credentials.TransportCredentials {
	if c == nil {
		c = insecure.NewCredentials()
	}
	return inbound.Credentials(c)
}

// An Observer is told of calls. Its methods are called from many goroutines.
type Observer interface {
	// Serve is told of a call that has come, by "grpc" or "http". Method is
	// "/package.Service/Method" for both. The context is the call's; the function that
	// Serve returns is told how the call ended, by an error whose code tf.CodeOf and
	// status.Code of gRPC give. The headers of requests by HTTP that say which trace they
	// belong to are among the context's incoming metadata.
	Serve(ctx context.Context, method, by string) (context.Context, func(error))
}

// admit refuses calls of those that may not make them. It sees a call before its
// message is read: a caller without the role cannot fill the memory.
func (s *Server) admit(ctx context.Context, call *tap.Info) (context.Context, error) {
	err := s.cfg.Security.Allow(ctx, call.FullMethodName)
	if err != nil && s.cfg.Observer != nil {
		_, end := s.cfg.Observer.Serve(ctx, call.FullMethodName, "grpc")
		end(toldError(err))
	}
	return ctx, err
}

// observe tells of calls by gRPC that have been admitted.
func (s *Server) observe(ctx context.Context, r any, call *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	ctx, end := s.cfg.Observer.Serve(ctx, call.FullMethod, "grpc")
	out, err := handle(ctx, r)
	end(toldError(err))
	return out, err
}

// roleOf returns what a request of the REST API needs.
func roleOf(method string) secure.Role {
	if method == http.MethodGet {
		return secure.Observe
	}
	return secure.Run
}

// callOf returns the method of gRPC that does what a request of the REST API asks
// for.
func callOf(what string) string {
	switch what = lower(what); {
	case what == "predict":
		return method.PredictionPredict
	case what == "classify":
		return method.PredictionClassify
	case what == "regress":
		return method.PredictionRegress
	case what == "metadata":
		return method.PredictionGetModelMetadata
	}
	return method.ModelGetModelStatus
}

// traceHeaders are those by which a request says which trace it belongs to.
var traceHeaders = []string{"traceparent", "tracestate"}

// observeHTTP tells of a request. What it returns has the context of the call; end
// must be called with what became of it.
func (s *Server) observeHTTP(r *http.Request, method string) (_ *http.Request, end func(error)) {
	if s.cfg.Observer == nil {
		return r, func(error) {}
	}
	md := metadata.MD{}
	for _, name := range traceHeaders {
		if v := r.Header.Get(name); v != "" {
			md.Set(name, v)
		}
	}
	ctx := metadata.NewIncomingContext(r.Context(), md)
	if a, err := net.ResolveTCPAddr("tcp", r.RemoteAddr); err == nil {
		ctx = peer.NewContext(ctx, &peer.Peer{Addr: a})
	}
	ctx, done := s.cfg.Observer.Serve(ctx, method, "http")
	return r.WithContext(ctx), func(err error) { done(toldError(err)) }
}

// A told error is what observers get of one, by HTTP as by gRPC.
type told struct{ err *tf.Error }

func (e told) Error() string { return e.err.Error() }

// Unwrap is for tf.CodeOf.
func (e told) Unwrap() error { return e.err }

// GRPCStatus is for status.Code.
func (e told) GRPCStatus() *status.Status {
	return status.New(codes.Code(e.err.Code), e.err.Message())
}

// toldError returns what observers are told of err.
func toldError(err error) error {
	if err == nil {
		return nil
	}
	var of interface{ GRPCStatus() *status.Status }
	if errors.As(err, &of) && tf.CodeOf(err) == tf.Unknown {
		s := of.GRPCStatus()
		return told{&tf.Error{Code: tf.Code(s.Code()), Msg: s.Message()}}
	}
	return told{tf.AsError(err)}
}
