package secure

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"
)

// issued returns a certificate that parent has signed, itself if that is nil.
func issued(t *testing.T, name string, ca bool, hours int, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(int64(hours)), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Duration(hours) * time.Hour), IsCA: ca, BasicConstraintsValid: true}
	if parent == nil {
		parent, by = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return c, key
}

// TestVerdictEnds: a peer is accepted as long as all certificates that lead to the CA are good.
func TestVerdictEnds(t *testing.T) {
	root, rootKey := issued(t, "root", true, 30, nil, nil)
	for _, hours := range []int{1, 10} {
		between, betweenKey := issued(t, "between", true, hours, root, rootKey)
		leaf, _ := issued(t, "peer", false, 5, between, betweenKey)
		s := &state{files: &Files{CA: "ca.pem"}, roots: x509.NewCertPool()}
		s.roots.AddCert(root)
		v := s.judge([]*x509.Certificate{leaf, between})
		want := leaf.NotAfter
		if hours == 1 {
			want = between.NotAfter
		}
		if v.err != nil || !v.until.Equal(want) {
			t.Errorf("%d hours: until %v, %v, want %v", hours, v.until, v.err, want)
		}
	}
}
