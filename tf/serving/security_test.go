package serving

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/secure/securetest"
)

// TestEmbeddedSecurity: a program that embeds a server gives it certificates and
// tokens, and its handler lets in whom these name.
func TestEmbeddedSecurity(t *testing.T) {
	security := guard(t)
	server := serve(t, Config{Security: security}, models(t, 1))
	h := httptest.NewUnstartedServer(server.Handler())
	h.TLS = security.Server()
	h.StartTLS()
	defer h.Close()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for token, want := range map[string]int{"": 401, "a-token-of-another": 401, "a-token-that-may-look": 403, "a-token-that-may-run": 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/v1/models/m:predict", strings.NewReader(`{"instances": [2]}`))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("with the token %q: %d, want %d", token, answer.StatusCode, want)
		}
	}
	if s, err := OpenSecurity(SecurityFiles{Cert: filepath.Join(t.TempDir(), "none")}, nil, nil); err == nil {
		s.Close()
		t.Error("a certificate that is not there was taken")
	}
}

// guard asks for tokens, of which it knows two.
func guard(t *testing.T) *Security {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	tokens := ca.Path("tokens")
	securetest.Write(t, tokens, []byte("observe watcher a-token-that-may-look\nrun robot a-token-that-may-run\n"))
	security, err := OpenSecurity(SecurityFiles{Cert: ca.Path("server.pem"), Key: ca.Path("server.key"), Tokens: tokens, Poll: -1}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { security.Close() })
	return security
}
