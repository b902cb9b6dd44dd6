package cluster

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"

	"google.golang.org/grpc/credentials"

	"github.com/gorge-tf/gorge/internal/remote"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster/client"
	"github.com/gorge-tf/gorge/tf/session"
)

// Security is what secures the connections of a process and says who may do what:
// certificates, revocations, roles and tokens, read from files, and read again when
// these change. All methods may be called from any goroutine; Close ends it.
type Security = client.Security

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
type SecurityFiles = client.SecurityFiles

// OpenSecurity reads files and looks after them until the Security is closed. Log
// gets records about the files (nil: none are written), audit those of who called what,
// JSON if it is a slog.JSONHandler (nil: there is no audit log).
func OpenSecurity(f SecurityFiles, log, audit slog.Handler) (*Security, error) {
	return client.OpenSecurity(f, log, audit)
}

// Secured secures the connections of a session on a cluster. Unlike with
// [session.TLS], files may be replaced while the session is open.
func Secured(s *Security) session.Option { return client.Secured(s) }

// serving is how the server is reached.
func (c *Config) serving(log *slog.Logger) rpc.ServerConfig {
	return rpc.ServerConfig{Logger: log, Credentials: c.serverCredentials(), Guard: c.Security, Keepalive: c.keepalive(), Limits: c.Quotas.transport(), Observer: c.Observer}
}

func (c *Config) serverCredentials() credentials.TransportCredentials {
	if c.TLS == nil {
		return nil
	}
	return credentials.NewTLS(c.TLS)
}

// dialing is how the server reaches others.
func (c *Config) dialing() rpc.DialConfig {
	d := remote.DialConfig(c.TLS, c.Security)
	d.NoLinks, d.Keepalive, d.Observer = c.NoLinks, c.keepalive(), c.Observer
	return d
}

// verbsTLS is what secures the software provider of RDMA; nil: nothing does.
func (c *Config) verbsTLS() *tls.Config {
	if c.Security != nil {
		return c.Security.Verbs()
	}
	return c.TLS
}

// checkSecurity finds what cannot work.
func (c *Config) checkSecurity() error {
	if c.Security == nil {
		return nil
	}
	if c.TLS != nil {
		return tf.Errorf(tf.InvalidArgument, "a server must have TLS or Security, not both")
	}
	if !c.Security.HasCertificate() {
		return tf.Errorf(tf.InvalidArgument, "a server under TLS must have a certificate and its key, it has none")
	}
	return nil
}

// warnOpen tells of a server that everybody on the network can use.
func (s *Server) warnOpen(c *Config) {
	a, ok := s.listener.Addr().(*net.TCPAddr)
	if ok && !a.IP.IsLoopback() && c.TLS == nil && c.Security == nil {
		s.log.Warn("the server can be reached from other machines in plain text: whoever reaches it can run anything as this process; give it certificates, or an address of the loopback interface", "address", a.String())
	}
}

// ListDevicesSecured is [ListDevices] over connections that s secures.
func ListDevicesSecured(ctx context.Context, target string, s *Security) ([]DeviceInfo, error) {
	return listDevices(ctx, target, remote.DialConfig(nil, s))
}

// ProbeSecured is [Probe] over connections that s secures.
func ProbeSecured(ctx context.Context, spec Spec, s *Security) ([]TaskStatus, error) {
	return probe(ctx, spec, remote.DialConfig(nil, s))
}
