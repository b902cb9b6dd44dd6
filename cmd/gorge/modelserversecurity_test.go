package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/internal/secure/securetest"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

const (
	runToken   = "a-token-that-may-run"
	adminToken = "a-token-for-administrators"
)

// securedServer is a server that has its certificates from ca.
type securedServer struct {
	*aModelServer
	ca    *securetest.CA
	roles string
}

// startSecured starts one. Certificates look, runner and chief have the three roles.
func startSecured(t *testing.T, args ...string) *securedServer {
	ca := securetest.New(t)
	s := &securedServer{ca: ca, roles: ca.Path("roles")}
	for _, name := range []string{"server", "look", "runner", "chief", "nobody"} {
		ca.Issue(t, securetest.Cert{Name: name})
	}
	securetest.Write(t, s.roles, []byte("observe look\nrun runner\nadminister chief\n"))
	securetest.Write(t, ca.Path("tokens"), []byte("run robot "+runToken+"\nadminister root "+adminToken+"\n"))
	s.aModelServer = startModelServer(t, append([]string{
		"--rest_api_port=-1", "--model_name=half", "--model_base_path=" + halfModel, "--tls_cert=" + ca.Path("server.pem"), "--tls_key=" + ca.Path("server.key"),
		"--tls_ca=" + ca.Path("ca.pem"), "--tls_crl=" + ca.Path("crl.pem"), "--roles=" + s.roles, "--tokens=" + ca.Path("tokens"), "--tls_reload=10ms",
		"--audit_log=" + ca.Path("audit"),
	}, args...)...)
	return s
}

// client returns the configuration of a client with a certificate of the CA, "": none.
func (s *securedServer) client(t *testing.T, name string) *tls.Config {
	f := s.ca.Files(name)
	if name == "" {
		f = secure.Files{CA: s.ca.Path("ca.pem"), Poll: -1}
	}
	return securetest.Open(t, f).Client("127.0.0.1")
}

// dial connects a client by gRPC.
func (s *securedServer) dial(t *testing.T, creds credentials.TransportCredentials) *grpc.ClientConn {
	cc, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return cc
}

// The three kinds of calls that roles differ in.
var kinds = []struct {
	method     string
	in, out    proto.Message
	verb, path string
	body       string
	role       string
}{
	{"/tensorflow.serving.ModelService/GetModelStatus", &servingpb.GetModelStatusRequest{ModelSpec: &servingpb.ModelSpec{Name: "half"}}, &servingpb.GetModelStatusResponse{}, "GET", "/v1/models/half", "", "observe"},
	{"/tensorflow.serving.PredictionService/Predict", &servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{Name: "half"}}, &servingpb.PredictResponse{}, "POST", "/v1/models/half:predict", `{"instances": [2]}`, "run"},
	{"/tensorflow.serving.ModelService/HandleReloadConfigRequest", &servingpb.ReloadConfigRequest{}, &servingpb.ReloadConfigResponse{}, "", "", "", "administer"},
}

// callCode returns the code of a call by gRPC, whether it gets in; what it says there
// makes no difference.
func callCode(ctx context.Context, cc *grpc.ClientConn, k int) codes.Code {
	return status.Code(cc.Invoke(ctx, kinds[k].method, proto.Clone(kinds[k].in), proto.Clone(kinds[k].out)))
}

func refusedCode(c codes.Code) bool { return c == codes.PermissionDenied || c == codes.Unauthenticated }

// restCode returns the status of a request by REST and what it says.
func restCode(t *testing.T, c *http.Client, s *securedServer, k int, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(kinds[k].verb, s.rest+kinds[k].path, strings.NewReader(kinds[k].body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func httpClient(t *testing.T, c *tls.Config) *http.Client {
	h := &http.Client{Transport: &http.Transport{TLSClientConfig: c}}
	t.Cleanup(h.CloseIdleConnections)
	return h
}

// TestModelServerRoles: each caller may do by gRPC and REST what the role allows, and
// nothing more.
func TestModelServerRoles(t *testing.T) {
	s := startSecured(t)
	for name, rank := range map[string]int{"nobody": 0, "look": 1, "runner": 2, "chief": 3} {
		cc, h := s.dial(t, credentials.NewTLS(s.client(t, name))), httpClient(t, s.client(t, name))
		for k := range kinds {
			if got := callCode(t.Context(), cc, k); refusedCode(got) != (rank <= k) {
				t.Errorf("%s calls %s: %v", name, kinds[k].method, got)
			}
			if kinds[k].path == "" {
				continue
			}
			if got, text := restCode(t, h, s, k, ""); got != map[bool]int{true: 403, false: 200}[rank <= k] || rank <= k && !strings.Contains(text, `"error"`) {
				t.Errorf("%s asks %s: %d %s", name, kinds[k].path, got, text)
			}
		}
	}
	h := httpClient(t, s.client(t, ""))
	for token, want := range map[string]int{"": 401, "a-token-that-is-wrong": 401, runToken: 200} {
		if got, text := restCode(t, h, s, 1, token); got != want {
			t.Errorf("token %q: %d %s", token, got, text)
		}
	}
	for path, want := range map[string]string{"/healthz": "ok", "/readyz/half": "ok", "/": "needs the role observe", "/openapi/half.json": "needs the role observe"} {
		if text := get(t, h, s.rest+path); !strings.Contains(text, want) {
			t.Errorf("%s: %s", path, text)
		}
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+adminToken)
	if got := callCode(ctx, s.dial(t, credentials.NewTLS(s.client(t, "look"))), 2); refusedCode(got) {
		t.Errorf("a token that gives more than the certificate: %v", got)
	}
	log, err := os.ReadFile(s.ca.Path("audit"))
	if err != nil || !bytes.Contains(log, []byte(`"who":"chief","role":"administer","what":"/tensorflow.serving.ModelService/HandleReloadConfigRequest"`)) || !bytes.Contains(log, []byte(`http /v1/models/half:predict`)) {
		t.Errorf("the audit log says %s, %v", log, err)
	}
	if bytes.Contains(log, []byte("a-token")) || strings.Contains(s.errs.String(), "a-token") {
		t.Error("a log has a token")
	}
}

// TestModelServerStrangers: a client without a certificate of the CA, with an expired
// or a revoked one, or without TLS gets no answer by gRPC.
func TestModelServerStrangers(t *testing.T) {
	s := startSecured(t)
	other := securetest.New(t)
	other.Issue(t, securetest.Cert{Name: "chief"})
	forged := secure.Files{Cert: other.Path("chief.pem"), Key: other.Path("chief.key"), CA: s.ca.Path("ca.pem"), Poll: -1}
	s.ca.Issue(t, securetest.Cert{Name: "old", For: -time.Minute})
	for name, creds := range map[string]credentials.TransportCredentials{
		"none": credentials.NewTLS(s.client(t, "")), "expired": credentials.NewTLS(s.client(t, "old")), "plain": insecure.NewCredentials(),
		"forged": credentials.NewTLS(securetest.Open(t, forged).Client("127.0.0.1")),
	} {
		if got := callCode(t.Context(), s.dial(t, creds), 0); got != codes.Unavailable {
			t.Errorf("%s: %v", name, got)
		}
	}
	lis, err := net.Dial("tcp", s.grpc)
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	lis.Write(bytes.Repeat([]byte{0x16, 0x03}, 1<<10)) // no handshake
	if got := callCode(t.Context(), s.dial(t, credentials.NewTLS(s.client(t, "look"))), 0); got != codes.OK {
		t.Errorf("after noise: %v", got)
	}
}

// TestModelServerReloadsSecurity: roles and revocations that change count for
// connections that are open.
func TestModelServerReloadsSecurity(t *testing.T) {
	s := startSecured(t)
	gone := s.ca.Issue(t, securetest.Cert{Name: "runner"})
	cc := s.dial(t, credentials.NewTLS(s.client(t, "runner")))
	if got := callCode(t.Context(), cc, 1); refusedCode(got) {
		t.Fatalf("before: %v", got)
	}
	until := func(k int, what string, want codes.Code) {
		t.Helper()
		for callCode(t.Context(), cc, k) != want {
			if t.Context().Err() != nil {
				t.Fatal(what)
			}
		}
	}
	securetest.Write(t, s.roles, []byte("observe runner\n"))
	until(1, "the role is taken away", codes.PermissionDenied)
	securetest.Write(t, s.roles, []byte("nonsense\n")) // changes nothing
	if got := callCode(t.Context(), cc, 0); got != codes.OK {
		t.Errorf("with a file that makes no sense: %v", got)
	}
	s.ca.Revoke(t, gone)
	securetest.Write(t, s.roles, []byte("administer runner\n"))
	until(0, "the certificate is revoked", codes.Unauthenticated)
}

// TestModelServerRefusesBeforeReading: a caller without the role is refused by the
// headers of a call. Its message is not read: that would cost memory.
func TestModelServerRefusesBeforeReading(t *testing.T) {
	s := startSecured(t)
	cc := s.dial(t, credentials.NewTLS(s.client(t, "look")))
	stream, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, kinds[1].method)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(&servingpb.PredictResponse{}); status.Code(err) != codes.PermissionDenied {
		t.Errorf("by gRPC: %v", err)
	}
	body, w := io.Pipe() // which nobody writes to
	defer w.Close()
	r, err := http.NewRequest("POST", s.rest+kinds[1].path, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := httpClient(t, s.client(t, "look")).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("by REST: %v", resp.Status)
	}
}

// TestModelServerObserved: calls of both kinds are counted at the port for monitors,
// within the traces that they belong to.
func TestModelServerObserved(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := lis.Addr().String()
	lis.Close()
	_, port, _ := net.SplitHostPort(address)
	s := startModelServer(t, "--rest_api_port=-1", "--model_name=half", "--model_base_path="+halfModel, "--http_port="+port, "--http_profile", "--log_format=json")
	if err := statusOfHalf(t, s.grpc, insecure.NewCredentials()); err != nil {
		t.Error(err)
	}
	h := httpClient(t, nil)
	get(t, h, s.rest+"/v1/models/half/metadata")
	text := get(t, h, "http://"+address+"/metrics")
	for _, want := range []string{
		`grpc_server_handled_total{grpc_code="OK",grpc_method="GetModelStatus",grpc_service="tensorflow.serving.ModelService",transport="grpc"} 1`,
		`grpc_server_handled_total{grpc_code="OK",grpc_method="GetModelMetadata",grpc_service="tensorflow.serving.PredictionService",transport="http"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if text := get(t, h, "http://"+address+"/readyz"); text != "ok\n" {
		t.Errorf("/readyz: %s", text)
	}
}

// TestModelServerPageNeedsARole: the page and what it loads are for those who may
// observe, by certificate or token; to others nothing is said of models.
func TestModelServerPageNeedsARole(t *testing.T) {
	s := startSecured(t)
	for _, path := range []string{"/", "/openapi/half.json"} {
		for name, want := range map[string]int{"": 401, "nobody": 403, "look": 200, "chief": 200} {
			resp, err := httpClient(t, s.client(t, name)).Get(s.rest + path)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != want || bytes.Contains(text, []byte("predict")) != (want == 200) {
				t.Errorf("%q asks for %s: %d, want %d: %.200s", name, path, resp.StatusCode, want, text)
			}
		}
	}
}

// TestModelServerMaxConnections: a connection above the bound waits until another one
// has ended.
func TestModelServerMaxConnections(t *testing.T) {
	s := startModelServer(t, "--rest_api_port=-1", "--model_name=half", "--model_base_path="+halfModel, "--max_connections=1")
	address := strings.TrimPrefix(s.rest, "http://")
	const request = "GET /healthz HTTP/1.1\r\nHost: half\r\n\r\n"
	var conns [2]net.Conn
	for i := range conns {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		conns[i] = c
	}
	first, second := bufio.NewReader(conns[0]), make(chan string, 1)
	if line, err := first.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q, %v", line, err)
	}
	go func() {
		line, _ := bufio.NewReader(conns[1]).ReadString('\n')
		second <- line
	}()
	if _, err := io.WriteString(conns[0], request); err != nil { // the first is served meanwhile
		t.Fatal(err)
	}
	for range 20 {
		if line, err := first.ReadString('\n'); err != nil || strings.Contains(line, "HTTP/1.1 200") {
			break
		}
	}
	select {
	case line := <-second:
		t.Errorf("the second of one connection was served: %q", line)
	default:
	}
	conns[0].Close()
	if line := <-second; !strings.Contains(line, "200") {
		t.Errorf("after the end of the first: %q", line)
	}
}
