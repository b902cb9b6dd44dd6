package ops_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

func init() {
	for _, name := range []string{"PyFunc", "PyFuncStateless", "EagerPyFunc"} {
		optest.Unsampled(name, "clients compute it")
	}
}

// TestPyFuncIsOnlyKnown: a graph may have a function of Python, which runs nowhere
// here.
func TestPyFuncIsOnlyKnown(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 1)
	y := tf.Apply(g, "EagerPyFunc", []tf.Output{x},
		tf.Attr("token", "pyfunc_0"), tf.Attr("Tin", []tf.DType{tf.Float32}), tf.Attr("Tout", []tf.DType{tf.Float32, tf.Int32}))
	if err := y.Err(); err != nil || len(y.Outputs()) != 2 || y.Output(0).Shape() != nil {
		t.Fatalf("%v, outputs %v", err, y.Outputs())
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, x); err != nil {
		t.Errorf("beside it: %v", err)
	}
	_, err = s.Run(t.Context(), nil, y.Output(0))
	if tf.CodeOf(err) != tf.NotFound || !strings.Contains(err.Error(), "No OpKernel was registered to support Op 'EagerPyFunc'") {
		t.Errorf("running it: %v", err)
	}
}
