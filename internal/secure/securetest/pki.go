// Package securetest makes certificates for tests of what is secured by them.
package securetest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/secure"
)

// A CA signs certificates and revokes them.
type CA struct {
	Dir    string // where its files are
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	serial int64
	gone   []x509.RevocationListEntry
	chain  []byte // what certificates come with, PEM; nil: nothing
}

// New returns a CA in a new directory, with its certificate in ca.pem and an empty
// revocation list in crl.pem.
func New(t testing.TB) *CA {
	t.Helper()
	return newCA(t, nil)
}

// Sub returns a CA below ca, as New does; certificates that it issues come with its own.
func (ca *CA) Sub(t testing.TB) *CA {
	t.Helper()
	return newCA(t, ca)
}

// newCA returns a CA below another one; nil: one that signs for itself.
func newCA(t testing.TB, above *CA) *CA {
	t.Helper()
	ca := &CA{Dir: t.TempDir(), key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "CA " + filepath.Base(ca.Dir)}, NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	parent, key := template, ca.key
	if above != nil {
		parent, key = above.cert, above.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, ca.key.Public(), key)
	check(t, err)
	ca.cert, err = x509.ParseCertificate(der)
	check(t, err)
	Write(t, ca.Path("ca.pem"), encode("CERTIFICATE", der))
	if above != nil {
		ca.chain = encode("CERTIFICATE", der)
	}
	ca.Revoke(t)
	return ca
}

// Cert returns the CA's own certificate.
func (ca *CA) Cert() *x509.Certificate { return ca.cert }

// Path returns that of a file of the CA's.
func (ca *CA) Path(name string) string { return filepath.Join(ca.Dir, name) }

// A Cert says what a certificate is like.
type Cert struct {
	Name  string        // common name
	Hosts []string      // alternative names; nil: 127.0.0.1 and localhost
	For   time.Duration // 0: an hour; negative: it has expired
}

// Issue writes a certificate and its key to NAME.pem and NAME.key, over those that
// were there, and returns it.
func (ca *CA) Issue(t testing.TB, c Cert) *x509.Certificate {
	t.Helper()
	if c.For == 0 {
		c.For = time.Hour
	}
	if c.Hosts == nil {
		c.Hosts = []string{"127.0.0.1", "localhost"}
	}
	ca.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(ca.serial), Subject: pkix.Name{CommonName: c.Name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(c.For),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range c.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	check(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	Write(t, ca.Path(c.Name+".key"), encode("PRIVATE KEY", secret))
	Write(t, ca.Path(c.Name+".pem"), append(encode("CERTIFICATE", der), ca.chain...))
	cert, err := x509.ParseCertificate(der)
	check(t, err)
	return cert
}

// Revoke adds certificates to the list in crl.pem.
func (ca *CA) Revoke(t testing.TB, certs ...*x509.Certificate) {
	t.Helper()
	for _, c := range certs {
		ca.gone = append(ca.gone, x509.RevocationListEntry{SerialNumber: c.SerialNumber, RevocationTime: time.Now()})
	}
	ca.serial++
	list := &x509.RevocationList{Number: big.NewInt(ca.serial), ThisUpdate: time.Now(), NextUpdate: time.Now().Add(time.Hour), RevokedCertificateEntries: ca.gone}
	der, err := x509.CreateRevocationList(rand.Reader, list, ca.cert, ca.key)
	check(t, err)
	Write(t, ca.Path("crl.pem"), encode("X509 CRL", der))
}

// Files returns those of somebody whose certificate has been issued, without looking
// at them now and then; tests reload them.
func (ca *CA) Files(name string) secure.Files {
	return secure.Files{Cert: ca.Path(name + ".pem"), Key: ca.Path(name + ".key"), CA: ca.Path("ca.pem"), CRL: ca.Path("crl.pem"), Poll: -1}
}

// Open returns a keeper of files, which ends with the test.
func Open(t testing.TB, f secure.Files) *secure.Keeper {
	t.Helper()
	k, err := secure.Open(f, nil, nil)
	check(t, err)
	t.Cleanup(func() { k.Close() })
	return k
}

// Write replaces a file as a whole.
func Write(t testing.TB, path string, b []byte) {
	t.Helper()
	check(t, os.WriteFile(path+".new", b, 0o600))
	check(t, os.Rename(path+".new", path))
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	return key
}

func encode(typ string, b []byte) []byte {
	var out bytes.Buffer
	_ = pem.Encode(&out, &pem.Block{Type: typ, Bytes: b}) // a buffer takes all
	return out.Bytes()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
