package secure_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/internal/secure/securetest"
)

// TestOutOfDate: a certificate and a revocation list that run out while their files stay
// are logged, once.
func TestOutOfDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := securetest.New(t)
		ca.Issue(t, securetest.Cert{Name: "server"})
		var out bytes.Buffer
		k, err := secure.Open(ca.Files("server"), slog.New(slog.NewTextHandler(&out, nil)), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		for _, want := range []int{0, 1, 1} {
			if err := k.Reload(); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"the certificate has expired", "a revocation list is older"} {
				if got := strings.Count(out.String(), text); got != want {
					t.Errorf("%q is logged %d times, want %d: %s", text, got, want, out.String())
				}
			}
			time.Sleep(2 * time.Hour) // both last an hour
		}
	})
}
