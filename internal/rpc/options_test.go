package rpc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// certificate returns a self-signed certificate of a loopback server.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "worker"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestCredentials: a server that asks for certificates talks only to those who
// have one.
func TestCredentials(t *testing.T) {
	cert, pool := certificate(t)
	server := &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	addr := serve(t, ServerConfig{Credentials: credentials.NewTLS(server)}, withWorker(echo{}))
	for name, c := range map[string]struct {
		creds credentials.TransportCredentials
		want  core.Code
	}{
		"known":     {credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}}), core.OK},
		"anonymous": {credentials.NewTLS(&tls.Config{RootCAs: pool}), core.Unavailable},
		"distrusts": {credentials.NewTLS(&tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{cert}}), core.Unavailable},
		"in clear":  {nil, core.Unavailable},
	} {
		w := NewWorkerClient(dial(t, addr, DialConfig{Credentials: c.creds}))
		if _, err := w.RunGraph(context.Background(), &pb.RunGraphRequest{}); core.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
