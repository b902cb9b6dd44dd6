package secure

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// revocations holds certificates by issuer and serial number.
type revocations map[certID]struct{}

type certID struct{ issuer, serial string }

func idOf(issuer []byte, serial *big.Int) certID { return certID{string(issuer), serial.String()} }

// names reports whether one of a chain's certificates has been revoked.
func (r revocations) names(chain []*x509.Certificate) bool {
	for _, c := range chain {
		if _, found := r[idOf(c.RawIssuer, c.SerialNumber)]; found {
			return true
		}
	}
	return false
}

// parseCRL reads revocation lists, PEM or one in DER. Each must be signed by one of
// the CAs: the certificate of an intermediate CA that a peer shows comes too late to
// check its list, and that of one that shows none would count for nothing. It returns
// when the first of them wants to be replaced.
func parseCRL(b []byte, cas []*x509.Certificate) (out revocations, until time.Time, err error) {
	lists, err := revocationLists(b)
	if err != nil {
		return nil, until, core.Errorf(core.InvalidArgument, "a revocation list cannot be read: %v", err)
	}
	if len(lists) == 0 {
		return nil, until, core.Errorf(core.InvalidArgument, "a file of revocation lists must hold one at least, got none")
	}
	out = revocations{}
	for _, l := range lists {
		if !signed(l, cas) {
			return nil, until, core.Errorf(core.InvalidArgument, "a revocation list must be signed by one of the CAs, that of %v is not; the file of CAs must also hold an intermediate CA that has a list", l.Issuer)
		}
		for _, e := range l.RevokedCertificateEntries {
			out[idOf(l.RawIssuer, e.SerialNumber)] = struct{}{}
		}
		if !l.NextUpdate.IsZero() && (until.IsZero() || l.NextUpdate.Before(until)) {
			until = l.NextUpdate
		}
	}
	return out, until, nil
}

func revocationLists(b []byte) (out []*x509.RevocationList, err error) {
	if !bytes.Contains(b, []byte("-----BEGIN")) {
		l, err := x509.ParseRevocationList(b)
		if err != nil {
			return nil, err
		}
		return []*x509.RevocationList{l}, nil
	}
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "X509 CRL" {
			continue
		}
		l, err := x509.ParseRevocationList(block.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func signed(l *x509.RevocationList, cas []*x509.Certificate) bool {
	for _, ca := range cas {
		if bytes.Equal(l.RawIssuer, ca.RawSubject) && l.CheckSignatureFrom(ca) == nil {
			return true
		}
	}
	return false
}
