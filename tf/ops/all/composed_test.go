package all_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

var goldenComposed = flag.Bool("golden-composed", false, "compute the results of TestComposed anew, with the TensorFlow of GORGE_TF_PYTHON")

const composedFile = "testdata/composed.json"

// A composed is a function that builds several operations, beside the expression
// of Python that has to give the same for inputs a, b, c, ...
type composed struct {
	expr string
	in   []any // what tf.TensorOf takes
	f    func(g *tf.Graph, x []tf.Output) []tf.Output
	grad bool // compare gradients, too
}

// plain is a tensor in JSON.
type plain struct {
	Type   string `json:"type"`
	Shape  []int  `json:"shape"`
	Values []any  `json:"values"`
}

type composedResult struct {
	Out  []plain  `json:"out"`
	Grad []*plain `json:"grad"`
	// Error is why TensorFlow has no result: the case is wrong.
	Error string `json:"error,omitempty"`
}

func plainOf(t *tf.Tensor) plain {
	p := plain{Type: t.DType().String(), Shape: append([]int{}, t.Shape()...), Values: []any{}}
	for i := range t.Len() {
		switch v := t.At(i).(type) {
		case complex64:
			p.Values = append(p.Values, []float64{float64(real(v)), float64(imag(v))})
		case complex128:
			p.Values = append(p.Values, []float64{real(v), imag(v)})
		case tf.Half:
			p.Values = append(p.Values, float64(v.Float32()))
		case tf.BF16:
			p.Values = append(p.Values, float64(v.Float32()))
		default:
			p.Values = append(p.Values, v)
		}
	}
	return p
}

func tensorOf(t *testing.T, v any) *tf.Tensor {
	t.Helper()
	x, err := tf.TensorOf(v)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// writeComposed asks TensorFlow for the results.
func writeComposed(t *testing.T) {
	type request struct {
		Expr string  `json:"expr"`
		In   []plain `json:"in"`
		Grad bool    `json:"grad"`
	}
	var all []request
	for _, c := range composedCases {
		r := request{Expr: c.expr, Grad: c.grad, In: []plain{}}
		for _, v := range c.in {
			r.In = append(r.In, plainOf(tensorOf(t, v)))
		}
		all = append(all, r)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Getenv("GORGE_TF_PYTHON"), "testdata/composed.py")
	var log bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	var results []composedResult
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	golden := map[string]composedResult{}
	for i, c := range composedCases {
		if _, twice := golden[c.expr]; twice {
			t.Fatalf("two cases are %q", c.expr)
		}
		if results[i].Error != "" {
			t.Errorf("%s: %s", c.expr, results[i].Error)
		}
		golden[c.expr] = results[i]
	}
	text, err = json.MarshalIndent(golden, "", " ")
	if err == nil {
		err = os.WriteFile(composedFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestComposed compares functions that build several operations with TensorFlow's:
// types, shapes, values and gradients.
func TestComposed(t *testing.T) {
	if *goldenComposed {
		writeComposed(t)
	}
	text, err := os.ReadFile(composedFile)
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]composedResult
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden) != len(composedCases) {
		t.Errorf("%s has %d results for %d cases: run the test with -golden-composed", composedFile, len(golden), len(composedCases))
	}
	for _, c := range composedCases {
		t.Run(c.expr, func(t *testing.T) {
			want, ok := golden[c.expr]
			if !ok {
				t.Fatal("there is no result of TensorFlow's: run the test with -golden-composed")
			}
			c.compare(t, want)
		})
	}
}

func (c composed) compare(t *testing.T, want composedResult) {
	t.Helper()
	g := tf.NewGraph()
	feeds, xs := session.Feeds{}, []tf.Output{}
	for _, v := range c.in {
		value := tensorOf(t, v)
		x := ops.Placeholder(g, value.DType(), value.Shape())
		feeds[x] = value
		xs = append(xs, x)
	}
	ys := c.f(g, xs)
	var grads []tf.Gradient
	if c.grad {
		grads = gradientsOf(t, ys, xs)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(tf.Variables(g, tf.LocalVariables)) > 0 { // of metrics
		if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
			t.Fatal(err)
		}
	}
	if len(ys) != len(want.Out) {
		t.Fatalf("%d outputs, TensorFlow's are %d", len(ys), len(want.Out))
	}
	for i, y := range ys {
		sameAs(t, fmt.Sprint("output ", i), fetched(t, s, feeds, y), want.Out[i])
		if y.Shape() != nil && !y.Shape().Compatible(tf.Shape(want.Out[i].Shape)) {
			t.Errorf("output %d: static shape %v, TensorFlow's %v", i, y.Shape(), want.Out[i].Shape)
		}
	}
	for i, d := range grads {
		switch w := want.Grad[i]; {
		case d.IsZero() != (w == nil):
			t.Errorf("gradient of input %d: there is none: %v, in TensorFlow: %v", i, d.IsZero(), w == nil)
		case w != nil:
			sameAs(t, fmt.Sprint("gradient of input ", i), fetched(t, s, feeds, d.Output()), *w)
		}
	}
}

// gradientsOf returns the gradients of the floating-point outputs for the inputs
// of such a type, the zero Gradient for the others.
func gradientsOf(t *testing.T, ys, xs []tf.Output) []tf.Gradient {
	t.Helper()
	var from, to []tf.Output
	for _, y := range ys {
		if y.DType().IsFloat() {
			from = append(from, y)
		}
	}
	for _, x := range xs {
		if x.DType().IsFloat() {
			to = append(to, x)
		}
	}
	found, err := tf.Differentiate(tf.GradientOptions{Ys: from, Xs: to})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]tf.Gradient, len(xs))
	for i, x := range xs {
		if x.DType().IsFloat() {
			all[i], found = found[0], found[1:]
		}
	}
	return all
}

func fetched(t *testing.T, s *session.Session, feeds session.Feeds, y tf.Output) plain {
	t.Helper()
	out, err := s.Run(t.Context(), feeds, y)
	if err != nil {
		t.Fatal(err)
	}
	return plainOf(out[0])
}

// sameAs compares numbers to a relative precision of their type, all else exactly.
func sameAs(t *testing.T, what string, got, want plain) {
	t.Helper()
	if got.Type != want.Type || fmt.Sprint(got.Shape) != fmt.Sprint(want.Shape) {
		t.Errorf("%s: %s%v, TensorFlow's %s%v", what, got.Type, got.Shape, want.Type, want.Shape)
		return
	}
	precision := map[string]float64{"float64": 1e-9, "complex128": 1e-9, "float16": 2e-3, "bfloat16": 1e-2}[want.Type]
	if precision == 0 {
		precision = 2e-5
	}
	for i, w := range want.Values {
		if !near(numbers(got.Values[i]), numbers(w), precision) {
			t.Errorf("%s: element %d is %v, TensorFlow's %v\n%v\n%v", what, i, got.Values[i], w, got.Values, want.Values)
			return
		}
	}
}

// numbers returns the parts of an element: those of a complex number, or one
// number, or a text, which is compared as it is.
func numbers(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case []float64:
		return []any{v[0], v[1]}
	case float32:
		return []any{float64(v)}
	}
	if f, err := strconv.ParseFloat(fmt.Sprint(v), 64); err == nil {
		return []any{f}
	}
	return []any{v}
}

func near(got, want []any, precision float64) bool {
	for i, w := range want {
		a, isNumber := got[i].(float64)
		b, also := w.(float64)
		if !isNumber || !also {
			if fmt.Sprint(got[i]) != fmt.Sprint(w) {
				return false
			}
			continue
		}
		if a != b && !(math.IsNaN(a) && math.IsNaN(b)) && !(math.Abs(a-b) <= precision*(1+math.Abs(b))) {
			return false
		}
	}
	return true
}
