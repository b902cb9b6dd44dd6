package telemetry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/internal/inbound"
)

// get asks a server for a path.
func get(t *testing.T, s *Server, path string) (int, string) {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get("http://" + s.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestHandler: health, readiness, metrics, the page, and profiles only where they are
// asked for.
func TestHandler(t *testing.T) {
	o, err := New(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close(context.Background())
	_, end := o.Serve(t.Context(), runStep, "grpc")
	end(status.Error(codes.NotFound, "none"))
	_, running := o.Serve(t.Context(), runStep, "link")
	defer running(nil)
	var ready error = errors.New("models are loading")
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the page") })
	s, err := Serve("127.0.0.1:0", o.Handler(HandlerOptions{Ready: func() error { return ready }, Page: page}), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		path string
		code int
		text string
	}{
		{"/healthz", 200, "ok"}, {"/readyz", 503, "models are loading"}, {"/", 200, "the page"}, {"/other", 404, ""}, {"/debug/pprof/", 404, ""},
		{"/metrics", 200, `grpc_server_handled_total{grpc_code="NotFound",grpc_method="RunStep",grpc_service="tensorflow.MasterService",transport="grpc"} 1`},
		{"/metrics", 200, "gorge_calls_under_way 1"},
		{"/metrics", 200, "go_goroutines"},
	} {
		if code, text := get(t, s, c.path); code != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d, want %d with %q:\n%s", c.path, code, c.code, c.text, text)
		}
	}
	ready = nil
	if code, _ := get(t, s, "/readyz"); code != 200 {
		t.Errorf("a process that is ready: %d", code)
	}
	if _, err := Serve(s.Addr(), page, nil, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("two servers are at one address")
	}
}

// TestFormsStayOutOfFiles: no request fills the disk or the memory with what it says
// beside its path.
func TestFormsStayOutOfFiles(t *testing.T) {
	o, err := New(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close(context.Background())
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("f", "f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(make([]byte, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	h := o.Handler(HandlerOptions{Profile: true})
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		in := bytes.NewReader(body.Bytes())
		r := httptest.NewRequest(method, "/debug/pprof/goroutine?debug=1", in)
		r.Header.Set("Content-Type", form.FormDataContentType())
		h.ServeHTTP(httptest.NewRecorder(), r)
		if read := body.Len() - in.Len(); read > 2*maxBody {
			t.Errorf("%s: %d bytes were read of a body that nothing needs", method, read)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("%s: files %v, %v", method, files, err)
		}
	}
	if held := inbound.Held(); held != 0 {
		t.Errorf("%d bytes are counted", held)
	}
}

// TestReadyByDefault: a process that says nothing of its readiness is ready.
func TestReadyByDefault(t *testing.T) {
	o, err := New(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close(context.Background())
	w := httptest.NewRecorder()
	o.Handler(HandlerOptions{}).ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != http.StatusOK || w.Body.String() != "ok\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
