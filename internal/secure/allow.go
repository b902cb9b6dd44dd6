package secure

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/tf/core"
)

// caller is the identity behind a call.
type caller struct {
	name  string
	role  Role
	known bool // by a certificate or a token; a name may be any text
}

// Allow returns nil if the caller that ctx belongs to may call a method,
// "/package.Service/Method". It is for gRPC and links. Refusals are audited, and
// those calls that open, end or change something for others; steps are not.
func (k *Keeper) Allow(ctx context.Context, path string) error {
	m := method.Of(path)
	if m.Role == Nothing {
		return nil
	}
	who, err := k.identify(ctx)
	if err == nil && who.role < m.Role {
		err = refusal(who, m.Role, path)
	}
	if k.audit != nil && (err != nil || m.Audited) {
		k.record(ctx, path, addressOf(ctx), who, err)
	}
	if err != nil {
		return status.Error(codes.Code(core.CodeOf(err)), core.AsError(err).Msg)
	}
	return nil
}

func refusal(who caller, need Role, what string) error {
	if !who.known {
		return core.Errorf(core.Unauthenticated, "%s needs the role %v: a certificate or a token must say who calls", what, need)
	}
	return core.Errorf(core.PermissionDenied, "%s needs the role %v, %s has the role %v", what, need, who.name, who.role)
}

// identify finds the caller: by certificate or by token, whatever lets it
// do more.
func (k *Keeper) identify(ctx context.Context) (caller, error) {
	var header string
	if h := metadata.ValueFromIncomingContext(ctx, "authorization"); len(h) > 0 {
		header = h[0]
	}
	p, _ := peer.FromContext(ctx)
	if p == nil {
		return k.weigh(nil, header)
	}
	who, _ := p.AuthInfo.(*Peer)
	return k.weigh(who, header)
}

// weigh combines a certificate and a header. A certificate that is refused is not
// made good by a token.
func (k *Keeper) weigh(p *Peer, header string) (caller, error) {
	s := k.now.Load()
	who := caller{name: anonymous}
	if p != nil {
		v := p.judge(s)
		if v.err != nil {
			return caller{name: v.name}, v.err
		}
		if !v.until.IsZero() && time.Now().After(v.until) {
			return caller{name: v.name}, core.Errorf(core.Unauthenticated, "the certificate of %s, or one that it needs, has expired at %v", v.name, v.until)
		}
		who = caller{v.name, v.role, v.known}
	}
	token, ok := bearer(header)
	if !ok || s.tokens == nil {
		return who, nil
	}
	h, ok := s.tokens.find(token)
	if !ok {
		return who, core.Errorf(core.Unauthenticated, "the token is not one that is accepted")
	}
	if h.role > who.role || !who.known {
		who = caller{h.name, h.role, true}
	}
	return who, nil
}

func addressOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		return p.Addr.String()
	}
	return ""
}

// record writes a line of the audit log.
func (k *Keeper) record(ctx context.Context, what, from string, who caller, err error) {
	args := []any{"who", who.name, "role", who.role.String(), "what", what, "from", from, "allowed", err == nil}
	level := slog.LevelInfo
	if err != nil {
		level = slog.LevelWarn
		args = append(args, "why", core.AsError(err).Msg)
	}
	k.audit.Log(ctx, level, "call", args...)
}

// Tap refuses calls of those that may not make them before their messages are read: a
// stranger cannot fill the memory. It is gRPC's ServerInHandle. Streams must be watched
// besides, see WatchStream.
func (k *Keeper) Tap(ctx context.Context, call *tap.Info) (context.Context, error) {
	return ctx, k.Allow(ctx, call.FullMethodName)
}

// WatchStream looks at the peer of a stream that Tap has let in with each message.
func (k *Keeper) WatchStream(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	return handle(srv, &guarded{s, k, info.FullMethod})
}

// A guarded stream looks at its peer with each message: streams may last longer than
// certificates and roles.
type guarded struct {
	grpc.ServerStream
	k      *Keeper
	method string
}

// RecvMsg returns the next message if the caller still may send one.
func (g *guarded) RecvMsg(m any) error {
	if err := g.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return g.k.Allow(g.Context(), g.method)
}

// PerCall returns gRPC's credentials that send the process's token with each call;
// nil if it has none.
func (k *Keeper) PerCall() *TokenSender {
	if !k.SendsTokens() {
		return nil
	}
	return &TokenSender{k}
}

// A TokenSender adds the token that the process has at present to calls. It is
// gRPC's PerRPCCredentials.
type TokenSender struct{ k *Keeper }

// GetRequestMetadata returns the header with the token.
func (t *TokenSender) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": t.Header()}, nil
}

// Header returns what the header "authorization" is to say.
func (t *TokenSender) Header() string { return "Bearer " + t.k.Token() }

// RequireTransportSecurity keeps tokens from connections in plain text.
func (t *TokenSender) RequireTransportSecurity() bool { return true }
