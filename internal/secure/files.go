package secure

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// Verify says what a server asks of its clients' certificates.
type Verify string

// What servers ask for.
const (
	VerifyRequire Verify = "require" // a certificate that leads to a CA
	VerifyGiven   Verify = "given"   // one that is given must lead to a CA
	VerifyNone    Verify = "none"    // clients show no certificates
)

// Files names the files of a [Keeper], PEM unless said otherwise. All of them may
// be replaced while the process runs.
type Files struct {
	// Cert and Key are what this process shows: as a server, and as a client of
	// servers that ask. Intermediate certificates follow the first one.
	Cert, Key string
	// CA holds the certificates that peers' certificates have to lead to; "": those
	// of the machine.
	CA string
	// CRL holds revocation lists of the CAs, PEM or one in DER; "": none. CA must also hold
	// an intermediate CA that has a list here.
	CRL string
	// ClientVerify is what a server asks of clients; "": VerifyRequire if there is
	// a CA, else VerifyNone.
	ClientVerify Verify
	// ServerName is the name that servers' certificates must have; "": the host
	// that is connected to.
	ServerName string
	// MinVersion is the least version of TLS; 0: TLS 1.2.
	MinVersion uint16
	// Roles says which certificates' names have which role, see [ParseRoles]; "":
	// all clients that are let in may do all.
	Roles string
	// Tokens are those that the server accepts, see [ParseTokens]; "": none.
	Tokens string
	// Token is the one that this process sends with its calls; "": none.
	Token string
	// Poll is how often the files are looked at; 0: every ten seconds, negative: never.
	Poll time.Duration
}

// DefaultPoll is how often files are looked at unless Files says otherwise.
const DefaultPoll = 10 * time.Second

// maxFile bounds each of the files: they are small, unless an option names the
// wrong one.
const maxFile = 16 << 20

// texts are the contents of the files.
type texts struct{ cert, key, ca, crl, roles, tokens, token []byte }

// check finds what cannot work.
func (f *Files) check() error {
	switch f.ClientVerify {
	case "", VerifyRequire, VerifyGiven, VerifyNone:
	default:
		return core.Errorf(core.InvalidArgument, "what is asked of clients' certificates must be %q, %q or %q, got %q", VerifyRequire, VerifyGiven, VerifyNone, f.ClientVerify)
	}
	if (f.Cert == "") != (f.Key == "") {
		return core.Errorf(core.InvalidArgument, "a certificate and its key must be given together, got certificate %q and key %q", f.Cert, f.Key)
	}
	if f.CRL != "" && f.CA == "" {
		return core.Errorf(core.InvalidArgument, "a revocation list needs the certificate of its CA, got the list %q only", f.CRL)
	}
	if f.verify() != VerifyNone && f.CA == "" {
		return core.Errorf(core.InvalidArgument, "to verify clients' certificates a CA must be given, got none")
	}
	if f.Roles != "" && f.verify() == VerifyNone && f.Tokens == "" {
		return core.Errorf(core.InvalidArgument, "roles need clients that show certificates or tokens, clients show %q", VerifyNone)
	}
	return nil
}

func (f *Files) verify() Verify {
	switch {
	case f.ClientVerify != "":
		return f.ClientVerify
	case f.CA != "" && f.Cert != "":
		return VerifyRequire
	}
	return VerifyNone
}

// read reads all files.
func (f *Files) read() (t texts, err error) {
	for _, one := range []struct {
		path string
		to   *[]byte
	}{{f.Cert, &t.cert}, {f.Key, &t.key}, {f.CA, &t.ca}, {f.CRL, &t.crl}, {f.Roles, &t.roles}, {f.Tokens, &t.tokens}, {f.Token, &t.token}} {
		if one.path == "" {
			continue
		}
		if *one.to, err = readFile(one.path); err != nil {
			return t, err
		}
	}
	return t, nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		return nil, core.Errorf(core.InvalidArgument, "%s must be a regular file of up to %d bytes, it is %v with %d", path, maxFile, info.Mode().Type(), info.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, core.Errorf(core.CodeOf(core.FileError(path, err)), "cannot read a file of the TLS configuration: %v", err)
	}
	return b, nil
}

// sum tells contents apart.
func (t *texts) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, b := range [][]byte{t.cert, t.key, t.ca, t.crl, t.roles, t.tokens, t.token} {
		one := sha256.Sum256(b)
		h.Write(one[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// state is what the files say at one time. It does not change.
type state struct {
	files     *Files
	serial    uint64 // of the state, from 1
	sum       [sha256.Size]byte
	cert      *tls.Certificate // nil: none
	roots     *x509.CertPool   // nil: the machine's
	revoked   revocations
	roles     *Roles // nil: all may do all
	tokens    *Tokens
	token     string
	expiry    time.Time // of cert
	crlExpiry time.Time // the earliest of the lists; zero: there is none
}

// parse makes a state of files' contents.
func (f *Files) parse(t texts) (s *state, err error) {
	s = &state{files: f, sum: t.sum()}
	if f.Cert != "" {
		pair, err := tls.X509KeyPair(t.cert, t.key)
		if err != nil {
			return nil, core.Errorf(core.InvalidArgument, "%s and %s must be a certificate and its key: %v", f.Cert, f.Key, err)
		}
		s.cert, s.expiry = &pair, pair.Leaf.NotAfter
	}
	var cas []*x509.Certificate
	if f.CA != "" {
		if cas, err = certificates(t.ca); err != nil || len(cas) == 0 {
			return nil, core.Errorf(core.InvalidArgument, "%s must hold certificates of CAs: %v", f.CA, orNone(err))
		}
		s.roots = x509.NewCertPool()
		for _, c := range cas {
			s.roots.AddCert(c)
		}
	}
	if f.CRL != "" {
		if s.revoked, s.crlExpiry, err = parseCRL(t.crl, cas); err != nil {
			return nil, core.Errorf(core.InvalidArgument, "%s: %s", f.CRL, core.AsError(err).Msg)
		}
	}
	return s, s.parsePolicy(t)
}

func (s *state) parsePolicy(t texts) (err error) {
	f := s.files
	if f.Roles != "" {
		if s.roles, err = ParseRoles(t.roles); err != nil {
			return core.Errorf(core.InvalidArgument, "%s: %s", f.Roles, core.AsError(err).Msg)
		}
	}
	if f.Tokens != "" {
		if s.tokens, err = ParseTokens(t.tokens); err != nil {
			return core.Errorf(core.InvalidArgument, "%s: %s", f.Tokens, core.AsError(err).Msg)
		}
	}
	if f.Token != "" {
		s.token = string(bytes.TrimSpace(t.token))
		if err := checkToken(s.token); err != nil {
			return core.Errorf(core.InvalidArgument, "%s: %s", f.Token, core.AsError(err).Msg)
		}
	}
	return nil
}

func orNone(err error) any {
	if err == nil {
		return "it has none"
	}
	return err
}

// certificates reads all certificates of a PEM file.
func certificates(b []byte) (out []*x509.Certificate, err error) {
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}
