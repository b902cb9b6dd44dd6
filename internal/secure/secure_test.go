package secure_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/internal/secure/securetest"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	runStep = "/tensorflow.MasterService/RunStep"
	reset   = "/tensorflow.MasterService/Reset"
	list    = "/tensorflow.MasterService/ListDevices"
)

// shown returns the context of a call by whoever has shown a certificate.
func shown(t *testing.T, ca *securetest.CA, server *secure.Keeper, client string) context.Context {
	t.Helper()
	a, b := pipe(t)
	k := securetest.Open(t, ca.Files(client))
	type end struct {
		auth credentials.AuthInfo
		err  error
	}
	served := make(chan end, 1)
	go func() {
		_, auth, err := secure.NewCredentials(server).ServerHandshake(b)
		served <- end{auth, err}
	}()
	if _, _, err := secure.NewCredentials(k).ClientHandshake(t.Context(), "127.0.0.1:1", a); err != nil {
		t.Fatal(err)
	}
	s := <-served
	if s.err != nil {
		t.Fatal(s.err)
	}
	return peer.NewContext(t.Context(), &peer.Peer{AuthInfo: s.auth})
}

func allowed(t *testing.T, k *secure.Keeper, ctx context.Context, method string) core.Code {
	t.Helper()
	return core.Code(codeOf(k.Allow(ctx, method)))
}

// TestRoles: what a certificate's names may do, and no more.
func TestRoles(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	for _, c := range []securetest.Cert{{Name: "boss"}, {Name: "job", Hosts: []string{"job.train.example.org"}}, {Name: "viewer", Hosts: []string{}}, {Name: "stranger", Hosts: []string{"train.example.org.evil"}}} {
		ca.Issue(t, c)
	}
	f := ca.Files("server")
	f.Roles = ca.Path("roles")
	securetest.Write(t, f.Roles, []byte("# who may what\nadminister boss\nrun *.example.org # tasks\nobserve viewer\n"))
	k := securetest.Open(t, f)
	for _, c := range []struct {
		who                       string
		list, run, reset, unknown core.Code
	}{
		{"boss", core.OK, core.OK, core.OK, core.OK},
		{"job", core.OK, core.OK, core.PermissionDenied, core.PermissionDenied},
		{"viewer", core.OK, core.PermissionDenied, core.PermissionDenied, core.PermissionDenied},
		{"stranger", core.PermissionDenied, core.PermissionDenied, core.PermissionDenied, core.PermissionDenied},
	} {
		ctx := shown(t, ca, k, c.who)
		got := []core.Code{allowed(t, k, ctx, list), allowed(t, k, ctx, runStep), allowed(t, k, ctx, reset), allowed(t, k, ctx, "/x.Y/New")}
		want := []core.Code{c.list, c.run, c.reset, c.unknown}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s may list, run, reset, call what is unknown: %v, want %v", c.who, got, want)
		}
		if got := allowed(t, k, ctx, "/grpc.health.v1.Health/Check"); got != core.OK {
			t.Errorf("%s asks whether the server is healthy: %v", c.who, got)
		}
	}
}

// TestRevokedWhileConnected: a connection that was fine loses its calls when its
// certificate is revoked, when its role goes, and gets them back with the role.
func TestRevokedWhileConnected(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	cert := ca.Issue(t, securetest.Cert{Name: "job"})
	f := ca.Files("server")
	f.Roles = ca.Path("roles")
	roles := func(text string) { securetest.Write(t, f.Roles, []byte(text)) }
	roles("run job")
	k := securetest.Open(t, f)
	ctx := shown(t, ca, k, "job")
	expect := func(when string, want core.Code) {
		t.Helper()
		if err := k.Reload(); err != nil {
			t.Fatal(err)
		}
		if got := allowed(t, k, ctx, runStep); got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	expect("at first", core.OK)
	roles("observe job")
	expect("with a lower role", core.PermissionDenied)
	roles("run job")
	expect("with the role again", core.OK)
	ca.Revoke(t, cert)
	expect("revoked", core.Unauthenticated)
}

// stream is one whose messages are nothing.
type stream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *stream) Context() context.Context { return s.ctx }
func (s *stream) RecvMsg(any) error        { return nil }

// TestRevokedInStream: a stream that is open ends when its peer's certificate is
// revoked.
func TestRevokedInStream(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	cert := ca.Issue(t, securetest.Cert{Name: "job"})
	k := securetest.Open(t, ca.Files("server"))
	n := 0
	err := k.WatchStream(nil, &stream{ctx: shown(t, ca, k, "job")}, &grpc.StreamServerInfo{FullMethod: "/tensorflow.eager.EagerService/StreamingEnqueue"}, func(_ any, s grpc.ServerStream) error {
		for {
			if err := s.RecvMsg(nil); err != nil {
				return err
			}
			if n++; n == 2 {
				ca.Revoke(t, cert)
				if err := k.Reload(); err != nil {
					return err
				}
			}
		}
	})
	if codeOf(err) != codes.Unauthenticated || n != 2 {
		t.Errorf("after %d messages the stream ended with %v", n, err)
	}
}

// TestBadReload: files that make no sense leave in force what was before.
func TestBadReload(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	other := securetest.New(t)
	f := ca.Files("server")
	f.Roles, f.Tokens = ca.Path("roles"), ca.Path("tokens")
	good := map[string][]byte{}
	securetest.Write(t, f.Roles, []byte("run *"))
	securetest.Write(t, f.Tokens, []byte("run a "+strings.Repeat("x", 20)))
	for _, p := range []string{f.Cert, f.Key, f.CA, f.CRL, f.Roles, f.Tokens} {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		good[p] = b
	}
	k := securetest.Open(t, f)
	foreign, err := os.ReadFile(other.Path("crl.pem"))
	if err != nil {
		t.Fatal(err)
	}
	for p, texts := range map[string][]string{
		f.Cert: {"", "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, f.Key: {"", "x"}, f.CA: {"", "x"},
		f.CRL: {"", "x", string(foreign), "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n"}, f.Roles: {"owner x", "run"}, f.Tokens: {"run a", "run a short", "run a sha256:zz", "x y " + strings.Repeat("x", 20)},
	} {
		for _, text := range texts {
			securetest.Write(t, p, []byte(text))
			if err := k.Reload(); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), p) {
				t.Errorf("%s with %.20q: %v", p, text, err)
			}
		}
		securetest.Write(t, p, good[p])
	}
	if err := os.Remove(f.Roles); err != nil {
		t.Fatal(err)
	}
	if err := k.Reload(); core.CodeOf(err) != core.NotFound {
		t.Errorf("without a file: %v", err)
	}
	if k.Serial() != 1 {
		t.Errorf("the files have been taken %d times", k.Serial())
	}
}

// TestPoll: files are looked at now and then.
func TestPoll(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	synctest.Test(t, func(t *testing.T) {
		f := ca.Files("server")
		f.Poll = 0
		k := securetest.Open(t, f)
		ca.Issue(t, securetest.Cert{Name: "server"})
		time.Sleep(secure.DefaultPoll + time.Second)
		if k.Serial() != 2 {
			t.Errorf("after the files have changed the state is number %d", k.Serial())
		}
		k.Close()
	})
}

// TestTokens: tokens give roles, several at a time while one is replaced, and what
// is wrong is refused even where nothing would be.
func TestTokens(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	ca.Issue(t, securetest.Cert{Name: "job"})
	f := ca.Files("server")
	f.ClientVerify, f.Tokens = secure.VerifyGiven, ca.Path("tokens")
	old, next := strings.Repeat("o", 20), strings.Repeat("n", 20)
	write := func(text string) { securetest.Write(t, f.Tokens, []byte(text)) }
	write("observe watcher " + old + "\nrun watcher sha256:" + hexOf(next))
	k := securetest.Open(t, f)
	with := func(ctx context.Context, header string) context.Context {
		return metadata.NewIncomingContext(ctx, metadata.Pairs("authorization", header))
	}
	nobody, job := t.Context(), shown(t, ca, k, "job")
	for _, c := range []struct {
		name string
		ctx  context.Context
		want core.Code
	}{
		{"nothing", nobody, core.Unauthenticated},
		{"a token without the role", with(nobody, "Bearer "+old), core.PermissionDenied},
		{"a token with it", with(nobody, "bearer "+next), core.OK},
		{"the hash of a token", with(nobody, "Bearer sha256:"+hexOf(next)), core.Unauthenticated},
		{"no token", with(nobody, "Basic "+next), core.Unauthenticated},
		{"a certificate", job, core.OK},
		{"a certificate and a wrong token", with(job, "Bearer "+strings.Repeat("w", 20)), core.Unauthenticated},
	} {
		if got := allowed(t, k, c.ctx, runStep); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	write("run watcher " + old)
	if err := k.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := allowed(t, k, with(nobody, "Bearer "+next), runStep); got != core.Unauthenticated {
		t.Errorf("a token that has been taken back: %v", got)
	}
}

// TestNamedAnonymous: who is called anonymous has said who it is.
func TestNamedAnonymous(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	ca.Issue(t, securetest.Cert{Name: "anonymous"})
	f := ca.Files("server")
	f.ClientVerify, f.Tokens, f.Roles = secure.VerifyGiven, ca.Path("tokens"), ca.Path("roles")
	token := strings.Repeat("t", 20)
	securetest.Write(t, f.Roles, []byte("run anonymous"))
	securetest.Write(t, f.Tokens, []byte("observe anonymous "+token))
	k := securetest.Open(t, f)
	with := func(ctx context.Context) context.Context {
		return metadata.NewIncomingContext(ctx, metadata.Pairs("authorization", "Bearer "+token))
	}
	cert := shown(t, ca, k, "anonymous")
	got := []core.Code{allowed(t, k, cert, reset), allowed(t, k, with(t.Context()), runStep), allowed(t, k, with(cert), runStep), allowed(t, k, t.Context(), list)}
	if want := []core.Code{core.PermissionDenied, core.PermissionDenied, core.OK, core.Unauthenticated}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAudit: who did what is told, steps are not.
func TestAudit(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	ca.Issue(t, securetest.Cert{Name: "job"})
	f := ca.Files("server")
	f.Roles = ca.Path("roles")
	securetest.Write(t, f.Roles, []byte("run job"))
	var out bytes.Buffer
	k, err := secure.Open(f, nil, slog.NewJSONHandler(&out, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	ctx := shown(t, ca, k, "job")
	for _, m := range []string{runStep, reset, "/tensorflow.MasterService/CreateSession"} {
		_ = k.Allow(ctx, m) // what becomes of it is in the log
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"who":"job","role":"run","what":"/tensorflow.MasterService/Reset"`) || !strings.Contains(lines[0], `"allowed":false`) || !strings.Contains(lines[1], `"allowed":true`) {
		t.Errorf("the log is %s", out.String())
	}
}

// TestHTTP: paths that need nothing are open to those without certificate, others
// are not.
func TestHTTP(t *testing.T) {
	ca, foreign := securetest.New(t), securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	ca.Issue(t, securetest.Cert{Name: "job"})
	foreign.Issue(t, securetest.Cert{Name: "job"})
	f := ca.Files("server")
	f.Roles, f.Tokens = ca.Path("roles"), ca.Path("tokens")
	token := strings.Repeat("t", 20)
	securetest.Write(t, f.Roles, []byte("observe job"))
	securetest.Write(t, f.Tokens, []byte("administer root "+token))
	k := securetest.Open(t, f)
	mux := http.NewServeMux()
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	for path, role := range map[string]secure.Role{"/healthz": secure.Nothing, "/metrics": secure.Observe, "/debug": secure.Administer} {
		mux.Handle(path, k.Protect(role, ok))
	}
	s := httptest.NewUnstartedServer(mux)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.TLS = k.HTTPServer()
	s.StartTLS()
	defer s.Close()
	anonymous := ca.Files("job")
	anonymous.Cert, anonymous.Key = "", ""
	strange := foreign.Files("job")
	strange.CA, strange.CRL = ca.Path("ca.pem"), ca.Path("crl.pem")
	for _, c := range []struct {
		name, path, token string
		files             secure.Files
		want              int
	}{
		{"health", "/healthz", "", anonymous, 200}, {"metrics of anybody", "/metrics", "", anonymous, 401},
		{"metrics by certificate", "/metrics", "", ca.Files("job"), 200}, {"too much", "/debug", "", ca.Files("job"), 403},
		{"by token", "/debug", token, anonymous, 200}, {"wrong token", "/metrics", token + "x", ca.Files("job"), 401},
		{"certificate of others", "/healthz", "", strange, 0},
	} {
		if got := get(t, s.URL+c.path, c.token, securetest.Open(t, c.files)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func get(t *testing.T, url, token string, k *secure.Keeper) int {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: k.Client("127.0.0.1")}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestWrongFiles: what cannot work together is said before anything is served.
func TestWrongFiles(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	for name, change := range map[string]func(*secure.Files){
		"certificate without key": func(f *secure.Files) { f.Key = "" },
		"verify without CA":       func(f *secure.Files) { f.CA, f.CRL, f.ClientVerify = "", "", secure.VerifyRequire },
		"unknown verification":    func(f *secure.Files) { f.ClientVerify = "maybe" },
		"revocations without CA":  func(f *secure.Files) { f.CA = "" },
		"roles without names":     func(f *secure.Files) { f.Roles, f.ClientVerify = "x", secure.VerifyNone },
		"a directory":             func(f *secure.Files) { f.Cert = ca.Dir },
		"a device":                func(f *secure.Files) { f.CA = "/dev/zero" },
	} {
		f := ca.Files("server")
		change(&f)
		if _, err := secure.Open(f, nil, nil); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManyAtOnce: calls are judged while files are replaced.
func TestManyAtOnce(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	ca.Issue(t, securetest.Cert{Name: "job"})
	k := securetest.Open(t, ca.Files("server"))
	ctx := shown(t, ca, k, "job")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				if err := k.Allow(ctx, runStep); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 10 {
			ca.Revoke(t)
			if err := k.Reload(); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if v := k.Server().MinVersion; v != tls.VersionTLS12 {
		t.Errorf("the least version is %x", v)
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add([]byte("run a b # c\nobserve *"))
	f.Add([]byte("run a " + strings.Repeat("x", 20)))
	f.Add([]byte("administer b sha256:" + strings.Repeat("0", 64)))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = secure.ParseRoles(b)
		_, _ = secure.ParseTokens(b)
	})
}
