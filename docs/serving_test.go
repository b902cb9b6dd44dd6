package docs

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/serving"
)

// TestServingRequests sends what serving.md shows to a server, and compares the
// answers.
func TestServingRequests(t *testing.T) {
	s, err := serving.New(serving.Config{Poll: -1, Models: []serving.Model{{Name: "half", BasePath: "half", FS: os.DirFS("../tf/serving/testdata")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?m)^curl (?:-d '(.*)' )?http://localhost:8501(\S+)\n(.*)$`).FindAllStringSubmatch(read(t, "serving.md"), -1)
	if len(shown) < 6 {
		t.Fatalf("%d requests only", len(shown))
	}
	for _, r := range shown {
		method := "POST"
		if r[1] == "" {
			method = "GET"
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(method, r[2], strings.NewReader(r[1])))
		var got, want any
		if json.Unmarshal(w.Body.Bytes(), &got) != nil || json.Unmarshal([]byte(r[3]), &want) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s, the page says %s", r[0], w.Body, r[3])
		}
	}
}

// TestServingClient: the client in Go that the page shows is that of the example of
// tf/serving, which runs.
func TestServingClient(t *testing.T) {
	example := flat(read(t, "../tf/serving/example_test.go"))
	for _, b := range blocks(read(t, "serving.md"), "go") {
		if !strings.Contains(example, flat(b)) {
			t.Errorf("tf/serving/example_test.go lacks\n%s", b)
		}
	}
}

// TestServingFiles: the files that the page shows are read.
func TestServingFiles(t *testing.T) {
	n := 0
	for _, b := range blocks(read(t, "serving.md"), "textproto") {
		var err error
		if strings.HasPrefix(b, "model_config_list") {
			_, err = serving.ParseModels([]byte(b))
		} else {
			_, err = serving.ParseBatching([]byte(b))
		}
		n++
		if err != nil {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("%d files", n)
	}
}

// flat is a text without the white space that places it.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }
