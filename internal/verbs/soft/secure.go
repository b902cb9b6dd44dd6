package soft

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
)

// secrets are what the two roles of a device need under TLS: it accepts
// connections and opens them. Both ends show certificates, which have to lead to
// the roots of the configuration. Their names are not compared with anything:
// the handshake of the tasks names peers by address, queue pair and packet
// number.
type secrets struct{ accepting, opening *tls.Config }

// newSecrets returns the roles in which c is used; nil: there is no TLS.
func newSecrets(c *tls.Config) *secrets {
	if c == nil {
		return nil
	}
	opening := c.Clone()
	opening.NextProtos, opening.ServerName = nil, ""
	opening.InsecureSkipVerify = true // of names; VerifyConnection sees to the rest
	if !c.InsecureSkipVerify {
		opening.VerifyConnection = verify(c, c.RootCAs)
	}
	return &secrets{accepting(c), opening}
}

// accepting is the role of the end that is connected to.
func accepting(c *tls.Config) *tls.Config {
	a := c.Clone()
	a.NextProtos, a.ClientAuth = nil, tls.RequireAnyClientCert
	roots := c.ClientCAs
	if roots == nil {
		roots = c.RootCAs
	}
	a.VerifyConnection = verify(c, roots)
	if choose := c.GetConfigForClient; choose != nil {
		a.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := choose(h)
			if err != nil || chosen == nil {
				return nil, err
			}
			return accepting(chosen), nil
		}
	}
	return a
}

// verify returns the check that a peer's certificate leads to roots, whatever it
// is meant for, and passes c's own check.
func verify(c *tls.Config, roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
		if c.Time != nil {
			o.CurrentTime = c.Time()
		}
		for _, cert := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(cert)
		}
		chains, err := s.PeerCertificates[0].Verify(o)
		if err != nil || c.VerifyConnection == nil {
			return err
		}
		s.VerifiedChains = chains
		return c.VerifyConnection(s)
	}
}

// accept shakes hands with the end that has connected, before conn's deadline.
func (s *secrets) accept(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if s == nil {
		return conn, nil
	}
	t := tls.Server(conn, s.accepting)
	return secured{t, conn}, t.HandshakeContext(ctx)
}

// open shakes hands with the end that was connected to, before conn's deadline.
func (s *secrets) open(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if s == nil {
		return conn, nil
	}
	t := tls.Client(conn, s.opening)
	return secured{t, conn}, t.HandshakeContext(ctx)
}

// secured is a connection under TLS that closes without a farewell, for which its
// peer might have to read.
type secured struct {
	*tls.Conn
	raw net.Conn
}

// Close closes the connection.
func (s secured) Close() error { return s.raw.Close() }
