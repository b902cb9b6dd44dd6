package secure

import (
	"crypto/x509"
	"strings"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Role is what a client may do; a higher one may do all that a lower one may.
type Role = method.Role

// The roles.
const (
	Nothing    = method.Nothing
	Observe    = method.Observe
	Run        = method.Run
	Administer = method.Administer
)

func parseRole(s string) (Role, error) {
	for r := Observe; r <= Administer; r++ {
		if s == r.String() {
			return r, nil
		}
	}
	return Nothing, core.Errorf(core.InvalidArgument, "a role must be observe, run or administer, got %q", s)
}

// Roles maps the names in certificates to roles.
type Roles struct{ names map[string]Role }

// ParseRoles reads lines of the form
//
//	ROLE NAME NAME…
//
// where ROLE is observe, run or administer, and NAME is one that a certificate
// has: its common name, or a DNS name, IP address, mail address or URI of its
// alternative names. "*.example.org" stands for all names that end so, "*" for
// every certificate that is accepted. What follows a # is a comment. If several
// lines fit, the highest role counts; if none does, the certificate may do
// nothing.
func ParseRoles(b []byte) (*Roles, error) {
	r := &Roles{names: map[string]Role{}}
	err := eachLine(b, func(fields []string) error {
		role, err := parseRole(fields[0])
		if err != nil {
			return err
		}
		if len(fields) < 2 {
			return core.Errorf(core.InvalidArgument, "a role must be followed by names, %q has none", fields[0])
		}
		for _, n := range fields[1:] {
			r.names[n] = max(role, r.names[n])
		}
		return nil
	})
	return r, err
}

// eachLine calls f with the fields of each line that says something.
func eachLine(b []byte, f func(fields []string) error) error {
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if err := f(fields); err != nil {
			return core.Errorf(core.InvalidArgument, "line %d: %s", n, core.AsError(err).Msg)
		}
	}
	return nil
}

// of returns the highest role of a name.
func (r *Roles) of(name string) Role {
	role := max(r.names["*"], r.names[name])
	for i := range len(name) {
		if name[i] == '.' {
			role = max(role, r.names["*"+name[i:]])
		}
	}
	return role
}

// ofCertificate returns the highest role of a certificate's names.
func (r *Roles) ofCertificate(c *x509.Certificate) (role Role) {
	for _, n := range namesOf(c) {
		role = max(role, r.of(n))
	}
	return max(role, r.names["*"])
}

// namesOf returns all names of a certificate; the first one is what it is called
// in logs.
func namesOf(c *x509.Certificate) (out []string) {
	for _, u := range c.URIs {
		out = append(out, u.String())
	}
	out = append(append(out, c.DNSNames...), c.EmailAddresses...)
	for _, ip := range c.IPAddresses {
		out = append(out, ip.String())
	}
	if c.Subject.CommonName != "" {
		out = append([]string{c.Subject.CommonName}, out...)
	}
	return out
}
