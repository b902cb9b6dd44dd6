package secure_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/internal/secure/securetest"
	"github.com/gorge-tf/gorge/tf/core"
)

// joined writes the contents of files to another one.
func joined(t *testing.T, to string, from ...string) {
	t.Helper()
	var all []byte
	for _, path := range from {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	securetest.Write(t, to, all)
}

// TestListOfIntermediate: a list of an intermediate CA counts if the CAs have its certificate,
// and is refused otherwise, with words that say so; a CA that its root revokes is one no more.
func TestListOfIntermediate(t *testing.T) {
	root := securetest.New(t)
	sub := root.Sub(t)
	sub.Issue(t, securetest.Cert{Name: "server"})
	cert := sub.Issue(t, securetest.Cert{Name: "job"})
	sub.Issue(t, securetest.Cert{Name: "other"})
	f := sub.Files("server")
	f.CA, f.CRL = root.Path("ca.pem"), root.Path("lists.pem")
	lists := func() { joined(t, f.CRL, root.Path("crl.pem"), sub.Path("crl.pem")) }
	lists()
	if _, err := secure.Open(f, nil, nil); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), "must also hold an intermediate CA that has a list") {
		t.Errorf("without the certificate of the intermediate CA: %v", err)
	}
	f.CA = root.Path("cas.pem")
	joined(t, f.CA, root.Path("ca.pem"), sub.Path("ca.pem"))
	k := securetest.Open(t, f)
	job, next := shown(t, sub, k, "job"), shown(t, sub, k, "other")
	expect := func(when string, ofJob, ofOther core.Code) {
		t.Helper()
		lists()
		if err := k.Reload(); err != nil {
			t.Fatal(err)
		}
		if a, b := allowed(t, k, job, runStep), allowed(t, k, next, runStep); a != ofJob || b != ofOther {
			t.Errorf("%s: %v and %v, want %v and %v", when, a, b, ofJob, ofOther)
		}
	}
	expect("at first", core.OK, core.OK)
	sub.Revoke(t, cert)
	expect("one is revoked", core.Unauthenticated, core.OK)
	root.Revoke(t, sub.Cert())
	expect("the intermediate CA is revoked", core.Unauthenticated, core.Unauthenticated)
}
