package serving

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// ask sends a request to a server's handler.
func ask(s *Server, method, path string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func compact(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\n", ""), " ", "")
}

func TestREST(t *testing.T) {
	s := serve(t, Config{}, models(t, 1, 2))
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/v1/models/m:predict", `{"instances": [2, 4]}`, `200 {"predictions":[3.0,4.0]}`},
		{"POST", "/v1/models/m:predict", `{"signature_name": "two", "inputs": {"x": [2], "k": [1]}}`, `200 {"outputs":{"y":[3.0],"z":[4.0]}}`},
		{"POST", "/v1/models/%6d/versions/2:predict", `{"instances": [2]}`, `200 {"predictions":[3.0]}`},
		{"POST", "/v1/models/m:classify", `{"signature_name": "classify", "examples": [{"x": 2.0}]}`, `200 {"results":[[["3",3.0]]]}`},
		{"POST", "/v1/models/m:regress", `{"signature_name": "regress", "examples": [{"x": 2.0}]}`, `200 {"results":[3.0]}`},
		{"POST", "/v1/models/m/versions/7:predict", `{"instances": [2]}`, `404 {"error":"Servablenotfoundforrequest:Specific(m,7)"}`},
		{"POST", "/v1/models/m/versions/99999999999999999999:predict", `{}`, `400 {"error":"Failedtoconvertversion:99999999999999999999tonumeric."}`},
		{"POST", "/v1/models/m:predict", `{"inputs": "a"}`, `400 {"error":"JSONValue:\"a\"Type:Stringisnotofexpectedtype:float"}`},
		{"GET", "/v1/models/m/versions/7", "", `404 {"error":"Couldnotfindversion7ofmodelm"}`},
		{"GET", "/v1/models/none/metadata", "", `404 {"error":"Servablenotfoundforrequest:Latest(none)"}`},
		{"DELETE", "/v1/models/m", "", `400 {"error":"Malformedrequest:DELETE/v1/models/m"}`},
		{"POST", "/v1/models//m:predict", `{"instances": [2]}`, `400 {"error":"Malformedrequest:POST/v1/models//m:predict"}`},
		{"POST", "/v1/models/m/../m:predict", `{"instances": [2]}`, `400 {"error":"Malformedrequest:POST/v1/models/m/../m:predict"}`},
		{"GET", "/v1/", "", `400 {"error":"Malformedrequest:GET/v1/"}`},
		{"GET", "/readyz", "", "200 ok"}, {"GET", "/readyz/m", "", "200 ok"}, {"GET", "/readyz/none", "", "404 thereisnomodelnone"}, {"GET", "/healthz", "", "200 ok"},
	} {
		w := ask(s, c.method, c.path, strings.NewReader(c.body))
		if got := fmt.Sprintf("%d %s", w.Code, compact(w.Body.String())); got != c.want {
			t.Errorf("%s %s %s:\n got %s\nwant %s", c.method, c.path, c.body, got, c.want)
		}
	}
}

// cutEnd returns b without its last byte: in gzip's format all of the text, and a part of
// its checksum.
func cutEnd(b []byte) []byte { return b[:len(b)-1] }

// zipped returns text in gzip's format.
func zipped(t *testing.T, text []byte) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// TestBodies: bodies may be compressed, and are bounded in both forms.
func TestBodies(t *testing.T) {
	s := serve(t, Config{MaxBody: 1000}, models(t, 1))
	const path = "/v1/models/m:predict"
	if w := ask(s, "POST", path, zipped(t, []byte(`{"instances": [2]}`)), "Content-Encoding", "gzip"); compact(w.Body.String()) != `{"predictions":[2.0]}` {
		t.Errorf("compressed: %d %s", w.Code, w.Body)
	}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"a large body":      ask(s, "POST", path, strings.NewReader(strings.Repeat(" ", 1001))),
		"a compressed bomb": ask(s, "POST", path, zipped(t, make([]byte, 1<<20)), "Content-Encoding", "gzip"),
	} {
		if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "at most 1000 bytes") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no gzip":          ask(s, "POST", path, strings.NewReader("{}"), "Content-Encoding", "gzip"),
		"cut gzip":         ask(s, "POST", path, bytes.NewReader(zipped(t, []byte(`{"instances": [2]}`)).Bytes()[:20]), "Content-Encoding", "gzip"),
		"gzip without end": ask(s, "POST", path, bytes.NewReader(cutEnd(zipped(t, []byte(`{"instances": [2]}`)).Bytes())), "Content-Encoding", "gzip"),
		"another encoding": ask(s, "POST", path, strings.NewReader("{}"), "Content-Encoding", "br"),
	} {
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestCORS(t *testing.T) {
	const path = "/v1/models/m:predict"
	with, without := serve(t, Config{CORS: true}, models(t, 1)), serve(t, Config{}, models(t, 1))
	if w := ask(with, "POST", path, strings.NewReader(`{"instances": [2]}`)); w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers %v", w.Header())
	}
	if w := ask(without, "POST", path, strings.NewReader(`{"instances": [2]}`)); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("headers %v", w.Header())
	}
	if w := ask(with, "OPTIONS", path, nil, "Origin", "https://a.example"); w.Code != 200 || w.Header().Get("Access-Control-Allow-Methods") != "POST, GET" {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
	for _, method := range []string{"GET", "OPTIONS"} {
		w := ask(with, method, "/openapi/m.json", nil, "Origin", "https://a.example")
		if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Access-Control-Allow-Headers") != "Content-Type" {
			t.Errorf("%s of the description: %d %v", method, w.Code, w.Header())
		}
	}
	guarded := serve(t, Config{CORS: true, Security: guard(t)}, models(t, 1))
	if w := ask(guarded, "OPTIONS", path, nil, "Origin", "https://a.example"); w.Header().Get("Access-Control-Allow-Headers") != "Content-Type, Authorization" {
		t.Errorf("preflight where tokens are asked for: %v", w.Header())
	}
	if w := ask(with, "OPTIONS", path, nil); w.Code != 400 {
		t.Errorf("preflight without origin: %d", w.Code)
	}
}

// TestPage: the page names models, versions and signatures, loads nothing from
// elsewhere, and has a request for each signature that the server answers.
func TestPage(t *testing.T) {
	s := serve(t, Config{}, models(t, 2))
	w := ask(s, "GET", "/", nil)
	text := w.Body.String()
	for _, want := range []string{"<h2>m</h2>", "<td>2</td><td>AVAILABLE</td>", "serving_default (predict)", "classify (classify)", `data-model="m"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "src=") || strings.Contains(text, "http:") || strings.Contains(text, "https:") {
		t.Error("the page loads something from elsewhere")
	}
	v := s.m.Latest("m")
	defer v.Release()
	for _, sig := range signaturesOf(v.Model) {
		if sig.Method == "predict" {
			if w := ask(s, "POST", "/v1/models/m:predict", strings.NewReader(sig.Example)); w.Code != 200 {
				t.Errorf("%s: %s", sig.Example, w.Body)
			}
		}
	}
	if w := ask(serve(t, Config{NoPage: true}, models(t, 2)), "GET", "/", nil); w.Code != 404 {
		t.Errorf("without page: %d", w.Code)
	}
	if w := ask(s, "GET", "/v2", nil); w.Code != 404 {
		t.Errorf("elsewhere: %d", w.Code)
	}
}

func TestOpenAPI(t *testing.T) {
	s := serve(t, Config{}, models(t, 2))
	w := ask(s, "GET", "/openapi/m.json", nil)
	var d struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]any
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || d.OpenAPI != "3.1.0" {
		t.Fatalf("%v in %s", err, w.Body)
	}
	for _, path := range []string{"/v1/models/m:predict", "/v1/models/m:classify", "/v1/models/m:regress"} {
		if d.Paths[path]["post"] == nil {
			t.Errorf("no %s in %v", path, d.Paths)
		}
	}
	if w := ask(s, "GET", "/openapi/none.json", nil); w.Code != 404 {
		t.Errorf("of no model: %d", w.Code)
	}
}

// TestOpenAPIOfOtherFile: a request for a file that is not there holds no version, so
// the server can be closed.
func TestOpenAPIOfOtherFile(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	if w := ask(s, "GET", "/openapi/m", nil); w.Code != 404 {
		t.Errorf("of a model without .json: %d", w.Code)
	}
	closed := make(chan struct{})
	go func() { s.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Fatal("a version is held for good")
	}
}

// TestSlowBodies: a client that sends its body slowly is not waited for longer than
// the program's server says, and holds no model meanwhile.
func TestSlowBodies(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	h := httptest.NewUnstartedServer(s.Handler())
	h.Config.ReadTimeout = 50 * time.Millisecond
	h.Start()
	defer h.Close()
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, `{"instances": `)
	req, err := http.NewRequestWithContext(t.Context(), "POST", h.URL+"/v1/models/m:predict", r)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := h.Client().Do(req); err == nil {
		resp.Body.Close()
		if resp.StatusCode == 200 {
			t.Error("half a body was answered")
		}
	}
}

// counts is a Metrics for tests.
type counts struct {
	noMetrics
	requests map[string]int
}

func (c *counts) Request(model, api, entrypoint string, code tf.Code, _ time.Duration) {
	c.requests[strings.Join([]string{model, api, entrypoint, code.String()}, " ")]++
}

func TestMetrics(t *testing.T) {
	c := &counts{requests: map[string]int{}}
	s := serve(t, Config{Metrics: c}, models(t, 1))
	ask(s, "POST", "/v1/models/m:PREDICT", strings.NewReader(`{"instances": [2]}`))
	ask(s, "POST", "/v1/models/none:predict", strings.NewReader(`{"instances": [2]}`))
	ask(s, "GET", "/v1/models/m", nil)
	if len(c.requests) != 2 || c.requests["m predict REST OK"] != 1 || c.requests[" predict REST NOT_FOUND"] != 1 {
		t.Errorf("%v", c.requests)
	}
}

// TestClientsMakeNoMetrics asks for models that there are not, in ways that fail before
// the model is looked for. Names that are not UTF-8 are none of a metric either.
func TestClientsMakeNoMetrics(t *testing.T) {
	c := &counts{requests: map[string]int{}}
	s := serve(t, Config{Metrics: c}, models(t, 1))
	for _, name := range []string{"a", "b", "%ff", "m"} {
		ask(s, "POST", "/v1/models/"+name+":predict", strings.NewReader(`{}`), "Content-Encoding", "gzip")
		ask(s, "POST", "/v1/models/"+name+":classify", strings.NewReader(`{}`))
	}
	want := map[string]int{
		" predict REST INVALID_ARGUMENT": 3, " classify REST INVALID_ARGUMENT": 3,
		"m predict REST INVALID_ARGUMENT": 1, "m classify REST INVALID_ARGUMENT": 1,
	}
	if !maps.Equal(c.requests, want) {
		t.Errorf("got %v, want %v", c.requests, want)
	}
	if _, err := New(Config{Models: []Model{{Name: "\xff", BasePath: "/m"}}}); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("a name that is not UTF-8: %v", err)
	}
}
