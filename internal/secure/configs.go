package secure

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"
)

// errRevoked ends handshakes with peers whose certificate has been revoked.
var errRevoked = errors.New("the certificate has been revoked")

// Server returns the configuration of a server of any protocol; protocols are those
// of ALPN. Each connection is served by the files as they are when it begins.
func (k *Keeper) Server(protocols ...string) *tls.Config {
	return k.server(k.files.verify(), protocols)
}

// HTTPServer is Server for HTTP: clients without certificates get in, because what
// asks whether a process is healthy has none. [Keeper.Protect] asks for them where
// they are needed.
func (k *Keeper) HTTPServer() *tls.Config {
	v := k.files.verify()
	if v == VerifyRequire {
		v = VerifyGiven
	}
	return k.server(v, []string{"h2", "http/1.1"})
}

func (k *Keeper) server(v Verify, protocols []string) *tls.Config {
	return &tls.Config{
		MinVersion: k.minVersion(), NextProtos: protocols,
		GetCertificate:     func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return k.certificate() },
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return k.now.Load().server(v, protocols), nil },
	}
}

func (k *Keeper) minVersion() uint16 { return cmp.Or(k.files.MinVersion, tls.VersionTLS12) }

// server is the configuration of one connection. Without tickets each connection
// shows its certificate.
func (s *state) server(v Verify, protocols []string) *tls.Config {
	c := &tls.Config{
		MinVersion: cmp.Or(s.files.MinVersion, tls.VersionTLS12), NextProtos: protocols, ClientCAs: s.roots, SessionTicketsDisabled: true,
		VerifyConnection: func(cs tls.ConnectionState) error { return s.checkRevoked(cs.VerifiedChains) },
	}
	if s.cert != nil {
		c.Certificates = []tls.Certificate{*s.cert}
	}
	switch v {
	case VerifyRequire:
		c.ClientAuth = tls.RequireAndVerifyClientCert
	case VerifyGiven:
		c.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return c
}

// Client returns the configuration of one connection to a host, a name or an IP
// address. Protocols are those of ALPN.
func (k *Keeper) Client(host string, protocols ...string) *tls.Config {
	s := k.now.Load()
	return &tls.Config{
		MinVersion: k.minVersion(), NextProtos: protocols, RootCAs: s.roots, ServerName: cmp.Or(k.files.ServerName, host),
		VerifyConnection:     func(cs tls.ConnectionState) error { return s.checkRevoked(cs.VerifiedChains) },
		GetClientCertificate: k.clientCertificate,
	}
}

// clientCertificate is shown to servers that ask; an empty one says that there is
// none.
func (k *Keeper) clientCertificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if c := k.now.Load().cert; c != nil {
		return c, nil
	}
	return &tls.Certificate{}, nil
}

// Verbs returns the configuration of the software provider of RDMA, which accepts
// and opens connections with one. Peers show certificates that lead to a CA; their
// names are not compared, because the handshake of the tasks has named them.
func (k *Keeper) Verbs() *tls.Config {
	c := k.server(VerifyRequire, nil)
	c.GetClientCertificate = k.clientCertificate
	c.InsecureSkipVerify = true // the standard check would compare names; VerifyConnection is the rest of it
	c.VerifyConnection = func(cs tls.ConnectionState) error {
		_, err := k.now.Load().verifyPeer(cs.PeerCertificates)
		return err
	}
	return c
}

// verifyPeer checks that certificates lead to a CA and are not revoked, whatever
// they are meant for. It returns until when that is so: to the end of the first of a chain.
func (s *state) verifyPeer(certs []*x509.Certificate) (until time.Time, err error) {
	if len(certs) == 0 {
		return until, errors.New("the peer has shown no certificate")
	}
	o := x509.VerifyOptions{Roots: s.roots, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	for _, c := range certs[1:] {
		o.Intermediates.AddCert(c)
	}
	chains, err := certs[0].Verify(o)
	if err != nil {
		return until, err
	}
	for _, chain := range chains {
		if end := endOf(chain); !s.revoked.names(chain) && end.After(until) {
			until = end
		}
	}
	return until, s.checkRevoked(chains)
}

// endOf returns when the first certificate of a chain ends.
func endOf(chain []*x509.Certificate) time.Time {
	end := chain[0].NotAfter
	for _, c := range chain[1:] {
		if c.NotAfter.Before(end) {
			end = c.NotAfter
		}
	}
	return end
}

// checkRevoked accepts a peer that has a chain without revoked certificates, or has
// shown none.
func (s *state) checkRevoked(chains [][]*x509.Certificate) error {
	if len(chains) == 0 || len(s.revoked) == 0 {
		return nil
	}
	for _, chain := range chains {
		if !s.revoked.names(chain) {
			return nil
		}
	}
	return errRevoked
}
