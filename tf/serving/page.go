package serving

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"

	"github.com/gorge-tf/gorge/internal/serving/versions"
	"github.com/gorge-tf/gorge/tf"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageModel is what the page says of a model.
type pageModel struct {
	Name       string
	Versions   []pageVersion
	Labels     map[string]int64
	Signatures []pageSignature
}

type pageVersion struct {
	Number       int64
	State, Error string
}

type pageSignature struct {
	Name, Method, Example string
	Inputs, Outputs       []pageTensor
}

type pageTensor struct{ Key, Type, Shape string }

var stateNames = map[versions.State]string{
	versions.Start: "START", versions.Loading: "LOADING", versions.Available: "AVAILABLE", versions.Unloading: "UNLOADING", versions.End: "END",
}

// page shows all models, with a form for each signature.
func (h *rest) page(w http.ResponseWriter, _ *http.Request) {
	var models []pageModel
	for _, m := range h.s.list() {
		p := pageModel{Name: m.Name, Labels: m.Labels}
		for _, v := range h.s.m.Status(m.Name) {
			pv := pageVersion{Number: v.Number, State: stateNames[v.State]}
			if v.Err != nil {
				pv.Error = tf.AsError(v.Err).Message()
			}
			p.Versions = append(p.Versions, pv)
		}
		if v := h.s.m.Latest(m.Name); v != nil {
			p.Signatures = signaturesOf(v.Model)
			v.Release()
		}
		models = append(models, p)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src blob: data:")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	pageTemplate.Execute(w, models) // a client that has gone is not told
}

// signaturesOf describes the signatures of a version.
func signaturesOf(v *servable) (out []pageSignature) {
	for _, name := range sorted(v.signatures) {
		s := v.signatures[name]
		p := pageSignature{Name: name, Method: methodOf(s.def.GetMethodName()), Example: example(s)}
		for _, in := range s.sig.Inputs() {
			p.Inputs = append(p.Inputs, pageTensor{in.Key, in.DType.String(), in.Shape.String()})
		}
		for _, o := range s.sig.Outputs() {
			p.Outputs = append(p.Outputs, pageTensor{o.Key, o.DType.String(), o.Shape.String()})
		}
		out = append(out, p)
	}
	return out
}

// methodOf returns by which method of the REST API a signature is called.
func methodOf(name string) string {
	switch m := name[strings.LastIndexByte(name, '/')+1:]; m {
	case "classify", "regress":
		return m
	}
	return "predict"
}

// example returns a request that a signature takes, in so far as its types and
// shapes say.
func example(s *signature) string {
	body := map[string]any{"signature_name": s.name}
	if methodOf(s.def.GetMethodName()) != "predict" {
		body["examples"] = []any{map[string]any{"feature": 1}}
	} else {
		inputs := map[string]any{}
		for key, in := range s.specs {
			inputs[key] = sample(in.DType, in.Shape, maxSamples)
		}
		body["inputs"] = inputs
	}
	text, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		return "" // not possible for what sample makes
	}
	return string(text)
}

// maxSample bounds a dimension of a value that is shown as an example, maxSamples all of its
// elements.
const (
	maxSample  = 64
	maxSamples = 1 << 14
)

// sample returns a value of a type and shape, of at most room elements, as JSON has it.
func sample(d tf.DType, shape tf.Shape, room int) any {
	if len(shape) == 0 {
		switch {
		case d == tf.String:
			return ""
		case d == tf.Bool:
			return false
		case d.IsFloat():
			return json.RawMessage("0.0")
		}
		return 0
	}
	n := shape[0]
	if n < 0 || n > min(maxSample, room) {
		n = 1
	}
	out := make([]any, n)
	for i := range out {
		out[i] = sample(d, shape[1:], room/n)
	}
	return out
}

// ready says whether models have versions that are available.
func (h *rest) ready(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if name != "" && h.s.model(name) == nil {
		plain(w, http.StatusNotFound, "there is no model "+name)
		return
	}
	if err := h.s.available(name); err != nil {
		plain(w, http.StatusServiceUnavailable, tf.AsError(err).Message())
		return
	}
	plain(w, http.StatusOK, "ok")
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}
