package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModelServerPage uses the server's page as people do: in a browser, with the
// mouse, text that is typed and a picture that is chosen.
func TestModelServerPage(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	for from, to := range map[string]string{"../../examples/predict/model": "digits/1", "../../examples/predict": "pictures", halfModel: "half"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	config := writeFile(t, fmt.Sprintf(`model_config_list { config { name: "digits" base_path: %q model_platform: "tensorflow" }
		config { name: "half" base_path: %q model_platform: "tensorflow" } }`, filepath.Join(dir, "digits"), filepath.Join(dir, "half")))
	s := startModelServer(t, "--rest_api_port", "-1", "--model_config_file", config)
	b.open(s.rest + "/")
	for _, c := range []struct{ model, signature, request, class, want string }{
		{"half", "serving_default", `{"instances": [2, 4]}`, "", `"predictions": [3.0, 4.0`},
		{"half", "two", `{"signature_name": "two", "inputs": {"x": [2], "k": [1]}}`, "", `"z": [4.0`},
		{"half", "classify", `{"signature_name": "classify", "examples": [{"x": 2.0}]}`, "", `"3", 3.0`},
		{"half", "regress", `{"signature_name": "regress", "examples": [{"x": 4.0}]}`, "", `"results": [4.0`},
		{"half", "serving_default", `{`, "error", `JSON Parse error`},
		{"digits", "serving_default", `{"inputs": ["no picture"]}`, "error", `"error": `},
	} {
		f := formOf(c.model, c.signature)
		b.write(f+".body", c.request)
		class, text := b.run(f)
		if class != c.class || !strings.Contains(text, flatJSON(c.want)) {
			t.Errorf("%s %s: %s: class %q, %s, want %s", c.model, c.signature, c.request, class, text, c.want)
		}
	}
	for i, digit := range []int{6, 0, 3} { // what the pictures show
		f := formOf("digits", "serving_default")
		b.eval(f+".reset()", nil)
		b.choose(f+".querySelector('input[type=file]')", filepath.Join(dir, "pictures", fmt.Sprintf("digit%d.png", i)))
		b.eval("new Promise(done => { const look = () => "+f+".body.value.includes('b64') ? done() : setTimeout(look, 5); look(); })", nil)
		if class, text := b.run(f); class != "" || !strings.Contains(text, fmt.Sprintf(`"digit":[%d]`, digit)) {
			t.Errorf("picture of %d: class %q, %s", digit, class, text)
		}
	}
	b.staysWith(s.rest + "/")
}

// formOf is an expression for the form of a signature.
func formOf(model, signature string) string {
	return fmt.Sprintf("[...document.querySelectorAll('form[data-model=%s]')].find(f => f.previousElementSibling.previousElementSibling.textContent.startsWith('%s '))", model, signature)
}

// run clicks the button of a form, and returns how its answer is shown, without space.
func (b *browser) run(form string) (class, text string) {
	b.t.Helper()
	out := form + ".nextElementSibling"
	b.eval(out+".textContent = ''", nil)
	b.click(form + ".querySelector('button')")
	var got []string
	b.eval("new Promise(done => { const look = () => "+out+".textContent.length > 1 ? done(["+out+".className, "+out+".innerText]) : setTimeout(look, 5); look(); })", &got)
	return got[0], flatJSON(got[1])
}

func flatJSON(s string) string { return strings.Join(strings.Fields(s), "") }

// staysWith fails if the page has asked another server for something, or if scripts or
// the page's policy have failed.
func (b *browser) staysWith(url string) {
	b.t.Helper()
	asked := 0
	for _, m := range b.seen {
		var p struct {
			Request struct{ URL string }
			Entry   struct{ Source, Level, Text string }
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			b.t.Fatal(err)
		}
		switch {
		case m.Method == "Network.requestWillBeSent":
			asked++
			if !strings.HasPrefix(p.Request.URL, url) {
				b.t.Errorf("the page asks for %s", p.Request.URL)
			}
		case m.Method == "Runtime.exceptionThrown", m.Method == "Log.entryAdded" && p.Entry.Source != "network":
			b.t.Errorf("the page: %s", m.Params)
		}
	}
	if asked < 10 {
		b.t.Errorf("only %d requests were seen", asked)
	}
}
