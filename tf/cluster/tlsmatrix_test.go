package cluster_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	links "github.com/gorge-tf/gorge/internal/link"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/internal/secure/securetest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A door is something that a client connects to: it returns nil if the client got
// in. A nil configuration is plain text.
type door func(ctx context.Context, c *tls.Config) error

// doors are the protocols; a nil keeper serves plain text.
var doors = map[string]func(t *testing.T, k *secure.Keeper) door{"gRPC": grpcDoor, "links": linkDoor, "verbs": verbsDoor, "HTTP": httpDoor}

func guarded(t *testing.T, k *secure.Keeper) string {
	c := cluster.Local("127.0.0.1:0")
	c.Security = k
	return serve(t, c).Target()[len("grpc://"):]
}

func grpcDoor(t *testing.T, k *secure.Keeper) door {
	addr := guarded(t, k)
	return func(ctx context.Context, c *tls.Config) error {
		dial := rpc.DialConfig{NoLinks: true}
		if c != nil {
			dial.Credentials = credentials.NewTLS(c)
		}
		ch, err := rpc.Dial(addr, dial)
		if err != nil {
			return err
		}
		defer ch.Close()
		_, _, err = rpc.NewWorkerClient(ch).Probe(ctx)
		return err
	}
}

func linkDoor(t *testing.T, k *secure.Keeper) door {
	addr := guarded(t, k)
	return func(ctx context.Context, c *tls.Config) error {
		nc, err := connect(ctx, addr, c)
		if err != nil {
			return err
		}
		l, err := links.NewClient(nc, rpc.Codec(), links.Keepalive{})
		if err != nil {
			return err
		}
		defer l.Close()
		return l.Invoke(ctx, "/tensorflow.WorkerService/GetStatus", &pb.GetStatusRequest{}, &pb.GetStatusResponse{})
	}
}

// connect opens a connection that ends with ctx's deadline.
func connect(ctx context.Context, addr string, c *tls.Config) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	nc.SetDeadline(deadline)
	if c == nil {
		return nc, nil
	}
	s := tls.Client(nc, c)
	if err := s.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, err
	}
	return s, nil
}

// verbsDoor is a queue pair that waits for its peer.
func verbsDoor(t *testing.T, k *secure.Keeper) door {
	o := soft.Options{Timeout: 5 * time.Second}
	if k != nil {
		o.TLS = k.Verbs()
	}
	d, err := soft.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return func(ctx context.Context, c *tls.Config) error {
		const qpn, psn = 0x1234, 0x5678
		cq, err := d.CreateCQ(4)
		if err != nil {
			return err
		}
		defer cq.Close()
		qp, err := d.CreateQP(cq, 2)
		if err != nil {
			return err
		}
		defer qp.Destroy()
		a, nobody := d.Attributes(), listen(t) // takes the connection that the queue pair opens
		defer nobody.Close()
		if err := qp.Connect(1, verbs.Address{GID: a.GID, LID: uint16(nobody.Addr().(*net.TCPAddr).Port), QPN: qpn, PSN: psn}); err != nil {
			return err
		}
		nc, err := connect(ctx, netip.AddrPortFrom(netip.AddrFrom16(a.GID).Unmap(), a.LID).String(), c)
		if err != nil {
			return err
		}
		defer nc.Close()
		hello := []byte("gorge-qp")
		for _, v := range []uint32{qpn, qp.Num(), psn} {
			hello = binary.LittleEndian.AppendUint32(hello, v)
		}
		if _, err := nc.Write(hello); err != nil {
			return err
		}
		answer := []byte{0xff}
		if _, err := io.ReadFull(nc, answer); err != nil || answer[0] != 0 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
}

func httpDoor(t *testing.T, k *secure.Keeper) door {
	s := httptest.NewUnstartedServer(k.Protect(secure.Observe, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {})))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	if s.TLS = nil; k != nil {
		s.TLS = k.HTTPServer()
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return func(ctx context.Context, c *tls.Config) error {
		tr := &http.Transport{TLSClientConfig: c}
		defer tr.CloseIdleConnections()
		scheme := "http://"
		if c != nil {
			scheme = "https://"
		}
		req, err := http.NewRequestWithContext(ctx, "GET", scheme+s.Listener.Addr().String(), nil)
		if err != nil {
			return err
		}
		resp, err := (&http.Client{Transport: tr}).Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return http.ErrNotSupported
		}
		return nil
	}
}

// TestTLSMatrix: each transport admits the clients that it should, and no others.
func TestTLSMatrix(t *testing.T) {
	ca, foreign := securetest.New(t), securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	ca.Issue(t, securetest.Cert{Name: "client", Hosts: []string{}})
	ca.Issue(t, securetest.Cert{Name: "elsewhere", Hosts: []string{"elsewhere.example.org", "127.0.0.9"}})
	ca.Issue(t, securetest.Cert{Name: "expired", For: -time.Minute})
	foreign.Issue(t, securetest.Cert{Name: "client"})
	foreign.Issue(t, securetest.Cert{Name: "server"})
	strange := foreign.Files("client")
	strange.CA, strange.CRL = ca.Path("ca.pem"), ca.Path("crl.pem")
	bare := ca.Files("client")
	bare.Cert, bare.Key = "", ""
	modern := ca.Files("server")
	modern.MinVersion = tls.VersionTLS13
	mine := foreign.Files("server")
	mine.CA, mine.CRL = ca.Path("ca.pem"), ca.Path("crl.pem")
	type side = *secure.Files
	files := func(f secure.Files) side { return &f }
	for _, c := range []struct {
		name           string
		server, client side
		max            uint16
		unnamed        bool // names do not matter: verbs
		ok             bool
	}{
		{name: "both as they should be", server: files(ca.Files("server")), client: files(ca.Files("client")), ok: true},
		{name: "plain", ok: true},
		{name: "TLS 1.2", server: files(ca.Files("server")), client: files(ca.Files("client")), max: tls.VersionTLS12, ok: true},
		{name: "TLS 1.2 where 1.3 is least", server: files(modern), client: files(ca.Files("client")), max: tls.VersionTLS12},
		{name: "TLS 1.1", server: files(ca.Files("server")), client: files(ca.Files("client")), max: tls.VersionTLS11},
		{name: "server of another name", server: files(ca.Files("elsewhere")), client: files(ca.Files("client")), unnamed: true},
		{name: "server has expired", server: files(ca.Files("expired")), client: files(ca.Files("client"))},
		{name: "client has expired", server: files(ca.Files("server")), client: files(ca.Files("expired"))},
		{name: "client of another CA", server: files(ca.Files("server")), client: files(strange)},
		{name: "server of another CA", server: files(mine), client: files(ca.Files("client"))},
		{name: "no certificate", server: files(ca.Files("server")), client: files(bare)},
		{name: "plain to TLS", server: files(ca.Files("server"))},
		{name: "TLS to plain", client: files(ca.Files("client"))},
	} {
		for protocol, open := range doors {
			t.Run(c.name+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				var server *secure.Keeper
				if c.server != nil {
					server = securetest.Open(t, *c.server)
				}
				err := through(t, open(t, server), protocol, c.client, c.max)
				if want := c.ok || c.unnamed && protocol == "verbs"; (err == nil) != want {
					t.Errorf("got in: %v (%v), want %v", err == nil, err, want)
				}
			})
		}
	}
}

// through tries a door with what a client has.
func through(t *testing.T, d door, protocol string, f *secure.Files, most uint16) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if f == nil {
		return d(ctx, nil)
	}
	k := securetest.Open(t, *f)
	c := k.Client("127.0.0.1", map[string][]string{"gRPC": {"h2"}, "links": {"h2"}}[protocol]...)
	if protocol == "verbs" {
		c = k.Verbs()
	}
	if c.MaxVersion = most; most != 0 {
		c.MinVersion = tls.VersionTLS10
	}
	return d(ctx, c)
}

// TestRevokedByReload: a client that got in at all ports is refused once its
// certificate has been revoked, and one with a new certificate gets in.
func TestRevokedByReload(t *testing.T) {
	for protocol, open := range doors {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			ca := securetest.New(t)
			ca.Issue(t, securetest.Cert{Name: "server"})
			cert := ca.Issue(t, securetest.Cert{Name: "client"})
			f := ca.Files("client")
			server := securetest.Open(t, ca.Files("server"))
			d := open(t, server)
			if err := through(t, d, protocol, &f, 0); err != nil {
				t.Fatalf("before: %v", err)
			}
			ca.Revoke(t, cert)
			if err := server.Reload(); err != nil {
				t.Fatal(err)
			}
			f.CRL = "" // the client does not know
			if err := through(t, d, protocol, &f, 0); err == nil {
				t.Error("a certificate that has been revoked got in")
			}
			ca.Issue(t, securetest.Cert{Name: "client"})
			if err := through(t, d, protocol, &f, 0); err != nil {
				t.Errorf("with a new certificate: %v", err)
			}
		})
	}
}
