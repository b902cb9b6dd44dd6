package secure

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Peer is the other end of a connection under TLS, as gRPC's AuthInfo.
type Peer struct {
	credentials.TLSInfo
	k       *Keeper
	verdict atomic.Pointer[verdict] // of the state that it was found by; nil: none yet
}

// A verdict is what a peer may do according to one state.
type verdict struct {
	serial uint64
	name   string
	role   Role
	known  bool      // a certificate was shown
	until  time.Time // the end of the certificate, or of one that it needs; zero: there is none
	err    error
}

// judge returns what the peer may do now.
func (p *Peer) judge(s *state) *verdict {
	v := p.verdict.Load()
	if v == nil || v.serial != s.serial {
		v = s.judge(p.State.PeerCertificates)
		p.verdict.Store(v)
	}
	return v
}

// judge looks at certificates as if they had just been shown.
func (s *state) judge(certs []*x509.Certificate) *verdict {
	v := &verdict{serial: s.serial}
	if len(certs) == 0 {
		v.name = anonymous
		if s.files.verify() == VerifyNone && s.roles == nil && s.tokens == nil {
			v.role = Administer // there is no policy
		}
		return v
	}
	if n := namesOf(certs[0]); len(n) > 0 {
		v.name = n[0]
	}
	v.name, v.known = cmp.Or(v.name, "(a certificate without names)"), true
	var err error
	switch v.until, err = s.verifyPeer(certs); {
	case err != nil:
		v.err = core.Errorf(core.Unauthenticated, "the certificate of %s is not accepted any more: %v", v.name, err)
	case s.roles == nil:
		v.role = Administer
	default:
		v.role = s.roles.ofCertificate(certs[0])
	}
	return v
}

const anonymous = "anonymous"

// NewCredentials returns gRPC's credentials for both ends, which links use, too.
func NewCredentials(k *Keeper) credentials.TransportCredentials { return &creds{k: k} }

type creds struct {
	k    *Keeper
	name string // overrides the server's
}

// ClientHandshake shows the server what it asks for and checks its certificate.
func (c *creds) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	host, _, err := net.SplitHostPort(authority)
	if err != nil {
		host = authority
	}
	return credentials.NewTLS(c.k.Client(cmp.Or(c.name, host), "h2")).ClientHandshake(ctx, authority, raw)
}

// ServerHandshake accepts a client by the files as they are now.
func (c *creds) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if _, err := c.k.certificate(); err != nil {
		raw.Close()
		return nil, nil, err
	}
	s := c.k.now.Load()
	conn, info, err := credentials.NewTLS(s.server(c.k.files.verify(), []string{"h2"})).ServerHandshake(raw)
	if err != nil {
		return conn, info, err
	}
	return conn, &Peer{TLSInfo: info.(credentials.TLSInfo), k: c.k}, nil
}

// Info describes the credentials.
func (c *creds) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls", SecurityVersion: "1.2", ServerName: cmp.Or(c.name, c.k.files.ServerName)}
}

// Clone copies the credentials.
func (c *creds) Clone() credentials.TransportCredentials { return &creds{c.k, c.name} }

// OverrideServerName sets the name that the server's certificate must have.
func (c *creds) OverrideServerName(name string) error {
	c.name = name
	return nil
}
