package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// halfModel has the versions of a small model.
const halfModel = "../../tf/serving/testdata/half"

// aModelServer is a server that a test has started.
type aModelServer struct {
	grpc, rest string
	stop       context.CancelFunc
	ended      chan int
	errs       *strings.Builder
}

var addressLine = regexp.MustCompile(`^gRPC at (\S+)(?: and \S+)?(?:, REST at (\S+))?\n$`)

// startModelServer starts a server, which ends with the test.
func startModelServer(t *testing.T, args ...string) *aModelServer {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := &aModelServer{stop: stop, ended: make(chan int, 1), errs: &strings.Builder{}}
	r, w := io.Pipe()
	go func() {
		code := run(ctx, append([]string{"model-server", "--host", "127.0.0.1", "--port=0", "--log=error"}, args...), w, s.errs)
		w.Close()
		s.ended <- code
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	parts := addressLine.FindStringSubmatch(line)
	if parts == nil {
		stop()
		<-s.ended
		t.Fatalf("the server says %q, %v: %s", line, err, s.errs)
	}
	s.grpc, s.rest = parts[1], parts[2]
	t.Cleanup(s.end)
	return s
}

// end stops the server and waits for its end.
func (s *aModelServer) end() {
	s.stop()
	s.ended <- <-s.ended
}

// statusOfHalf asks a server by gRPC.
func statusOfHalf(t *testing.T, target string, creds credentials.TransportCredentials) error {
	t.Helper()
	cc, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r := &servingpb.GetModelStatusRequest{ModelSpec: &servingpb.ModelSpec{Name: "half"}}
	return cc.Invoke(ctx, "/tensorflow.serving.ModelService/GetModelStatus", r, &servingpb.GetModelStatusResponse{})
}

func TestModelServer(t *testing.T) {
	monitoring := writeFile(t, "prometheus_config { enable: true path: '/m' }")
	socket := filepath.Join(t.TempDir(), "socket")
	s := startModelServer(t, "--rest_api_port", "-1", "--model_name", "half", "--model_base_path="+halfModel, "--enable_batching", "--monitoring_config_file", monitoring,
		"--grpc_socket_path="+socket, "--enable_grpc_healthcheck_service", "--flush_filesystem_caches", "--grpc_max_threads=4", "--tensorflow_session_parallelism=2")
	for _, target := range []string{s.grpc, "unix:" + socket} {
		if err := statusOfHalf(t, target, insecure.NewCredentials()); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	cc, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	if h, err := healthpb.NewHealthClient(cc).Check(t.Context(), &healthpb.HealthCheckRequest{Service: "PredictionService"}); err != nil || h.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", h, err)
	}
	if text := get(t, http.DefaultClient, s.rest+"/m"); !strings.Contains(text, "go_goroutines") {
		t.Errorf("metrics: %.200s", text)
	}
	if text := get(t, http.DefaultClient, s.rest+"/v1/models/half"); !strings.Contains(text, "AVAILABLE") {
		t.Errorf("status: %s", text)
	}
	if text := get(t, http.DefaultClient, s.rest+"/v1/models//half"); !strings.Contains(text, "Malformed request: GET /v1/models//half") {
		t.Errorf("a path that is not clean: %s", text)
	}
	http.DefaultClient.CloseIdleConnections()
	s.end()
	if code := <-s.ended; code != 0 {
		t.Errorf("status %d: %s", code, s.errs)
	} else {
		s.ended <- code
	}
}

// TestModelServerEndsHealthWatch: a client that watches the server does not hold it up.
func TestModelServerEndsHealthWatch(t *testing.T) {
	s := startModelServer(t, "--model_name", "half", "--model_base_path="+halfModel, "--enable_grpc_healthcheck_service", "--grace=5s")
	cc, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	w, err := healthpb.NewHealthClient(cc).Watch(t.Context(), &healthpb.HealthCheckRequest{Service: "ModelService"})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := w.Recv(); err != nil || h.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("%v, %v", h, err)
	}
	s.stop()
	if h, err := w.Recv(); err != nil || h.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("while it stops: %v, %v", h, err)
	}
	if _, err := w.Recv(); status.Convert(err).Message() != "the server is stopping" {
		t.Errorf("the watch ends with %v", err)
	}
}

func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// TestModelServerByEnvironment finds the model as in TensorFlow Serving's image.
func TestModelServerByEnvironment(t *testing.T) {
	t.Setenv("MODEL_NAME", "half")
	t.Setenv("MODEL_BASE_PATH", filepath.Dir(halfModel))
	s := startModelServer(t, "--rest_api_port=-1")
	if text := get(t, http.DefaultClient, s.rest+"/readyz/half"); text != "ok\n" {
		t.Errorf("%s", text)
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestModelServerTLS: both ports ask for certificates of clients.
func TestModelServerTLS(t *testing.T) {
	cert, key := certificate(t)
	file := writeFile(t, fmt.Sprintf("server_key: %q server_cert: %q custom_ca: %q client_verify: true", key, cert, cert))
	s := startModelServer(t, "--rest_api_port=-1", "--rest_api_enable_tls", "--ssl_config_file="+file, "--model_name=half", "--model_base_path="+halfModel)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(cert))
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	known, stranger := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}, &tls.Config{RootCAs: pool}
	if err := statusOfHalf(t, s.grpc, credentials.NewTLS(known)); err != nil {
		t.Error(err)
	}
	if err := statusOfHalf(t, s.grpc, credentials.NewTLS(stranger)); err == nil {
		t.Error("a stranger was answered")
	}
	if err := statusOfHalf(t, s.grpc, insecure.NewCredentials()); err == nil {
		t.Error("a client without TLS was answered")
	}
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: known}}
	defer c.CloseIdleConnections()
	if text := get(t, c, s.rest+"/readyz"); text != "ok\n" {
		t.Errorf("%s", text)
	}
}

// certificate makes a certificate for 127.0.0.1 that has signed itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	k, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: k}))
}

// TestModelServerRefuses: mistakes end the server at once, with one line.
func TestModelServerRefuses(t *testing.T) {
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(empty, "1"), 0o777); err != nil {
		t.Fatal(err)
	}
	base := "--model_base_path=" + halfModel
	batches, config := writeFile(t, "max_batch_size { value: -1 }"), writeFile(t, "no config")
	for want, args := range map[string][]string{
		"takes flags only":                                    {base, "x"},
		"flag provided but not defined":                       {base, "--prot=1"},
		"1 model(s) did not become available":                 {"--model_base_path=" + empty, "--max_num_load_retries=0"},
		"No such file or directory":                           {"--model_config_file=none"},
		"must be a ModelServerConfig":                         {"--model_config_file=" + writeFile(t, "config")},
		"Illegal setting neither":                             {"--model_config_file=" + writeFile(t, "model_config_list { config { name: 'a' base_path: '/a' } }")},
		"needs --enable_batching":                             {base, "--batching_parameters_file=none"},
		"monotonically increasing":                            {base, "--enable_batching", "--batching_parameters_file=" + writeFile(t, "allowed_batch_sizes: 2 allowed_batch_sizes: 1")},
		batches + ": ":                                        {base, "--enable_batching", "--batching_parameters_file=" + batches},
		config + ": ":                                         {"--model_config_file=" + config},
		"must have a certificate":                             {base, "--ssl_config_file=" + writeFile(t, "server_key: 'k'")},
		"--rest_api_enable_tls needs":                         {base, "--rest_api_port=-1", "--rest_api_enable_tls"},
		"--canary must have the form":                         {base, "--canary=none:l:0.5"},
		"at least one of --port":                              {base, "--port=-1"},
		"the path of metrics must begin with":                 {base, "--monitoring_config_file=" + writeFile(t, "prometheus_config { enable: true path: 'm' }")},
		"--log must be":                                       {base, "--log=loud"},
		"--grace must be 0 or more, got -1s":                  {base, "--grace=-1s"},
		"--max_concurrent_requests must be 0 or more, got -1": {base, "--max_concurrent_requests=-1"},
		"--max_connections must be 0 or more, got -5":         {base, "--max_connections=-5"},
		"--max_message_bytes must be 0 or more, got -1":       {base, "--max_message_bytes=-1"},
		"--max_body_bytes must be 0 or more, got -1":          {base, "--max_body_bytes=-1"},
	} {
		var out, errs strings.Builder
		all := append([]string{"model-server", "--host=127.0.0.1", "--port=0"}, args...)
		if code := run(t.Context(), all, &out, &errs); code != 1 || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("%q: status %d, %s%s", args, code, out.String(), errs.String())
		}
	}
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"model-server", "--version"}, &out, &errs); code != 0 || out.Len() == 0 {
		t.Errorf("--version: status %d, %s%s", code, out.String(), errs.String())
	}
}
