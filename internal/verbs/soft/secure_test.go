package soft_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"math/big"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/internal/verbs/verbstest"
)

// family returns a configuration of tasks that trust each other and nobody else.
func family(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, RootCAs: pool}
}

func secureDevice(t *testing.T, c *tls.Config) verbs.Device {
	t.Helper()
	d, err := soft.Open(soft.Options{TLS: c, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestSecureSuite: under TLS a device is as good as any.
func TestSecureSuite(t *testing.T) {
	c := family(t)
	verbstest.Run(t, func(t *testing.T) verbs.Device { return secureDevice(t, c) })
}

// The peer that a queue pair under test has been told of.
const peerQPN, peerPSN = 0x1234, 0x5678

// awaiting returns where a queue pair waits for that peer at 127.0.0.1, and what
// the peer has to say first.
func awaiting(t *testing.T, d verbs.Device) (at string, hello []byte) {
	t.Helper()
	cq, err := d.CreateCQ(4)
	if err != nil {
		t.Fatal(err)
	}
	qp, err := d.CreateQP(cq, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { qp.Destroy(); cq.Close() })
	a := d.Attributes()
	nobody, err := net.Listen("tcp", "127.0.0.1:0") // takes the connection of the queue pair
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nobody.Close() })
	port := nobody.Addr().(*net.TCPAddr).Port
	if err := qp.Connect(1, verbs.Address{GID: a.GID, LID: uint16(port), QPN: peerQPN, PSN: peerPSN}); err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(a.GID).Unmap(), a.LID).String(), greeting(qp.Num(), peerPSN)
}

func greeting(to, psn uint32) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("gorge-qp"), peerQPN)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, to), psn)
}

// isAccepted says hello from an address, under TLS unless c is nil.
func isAccepted(t *testing.T, from, at string, c *tls.Config, hello []byte) bool {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: time.Second}
	conn, err := dialer.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(3 * time.Second))
	if c != nil {
		c = c.Clone()
		c.InsecureSkipVerify = true
		conn = tls.Client(conn, c)
	}
	if _, err := conn.Write(hello); err != nil {
		return false
	}
	answer := []byte{0xff}
	_, err = io.ReadFull(conn, answer)
	return err == nil && answer[0] == 0
}

// TestOnlyNamedPeers: a queue pair takes the connection of the peer that it has
// been told of, and of nobody else.
func TestOnlyNamedPeers(t *testing.T) {
	ours, theirs := family(t), family(t)
	bare := ours.Clone()
	bare.Certificates = nil
	for _, c := range []struct {
		name       string
		by, device *tls.Config
		from       string
		psn        uint32
		ok         bool
	}{
		{"named", nil, nil, "127.0.0.1", peerPSN, true},
		{"other packet number", nil, nil, "127.0.0.1", peerPSN + 1, false},
		{"other address", nil, nil, "127.0.0.2", peerPSN, false},
		{"named under TLS", ours, ours, "127.0.0.1", peerPSN, true},
		{"plain text", nil, ours, "127.0.0.1", peerPSN, false},
		{"certificate of others", theirs, ours, "127.0.0.1", peerPSN, false},
		{"no certificate", bare, ours, "127.0.0.1", peerPSN, false},
		{"other address under TLS", ours, ours, "127.0.0.2", peerPSN, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.from != "127.0.0.1" && runtime.GOOS != "linux" {
				t.Skip("loopback has one address here")
			}
			at, hello := awaiting(t, secureDevice(t, c.device))
			binary.LittleEndian.PutUint32(hello[len(hello)-4:], c.psn)
			if got := isAccepted(t, c.from, at, c.by, hello); got != c.ok {
				t.Errorf("accepted: %v, want %v", got, c.ok)
			}
		})
	}
}
