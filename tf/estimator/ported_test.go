package estimator_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
)

// ported is what TensorFlow 1.15 does: see testdata/ported.py.
type ported struct {
	Environment []struct {
		Text, Dir, Error, Master string
		ModelDir                 string `json:"model_dir"`
		EvalMaster               string `json:"eval_master"`
		Service                  map[string]any
	}
	Receivers map[string]json.RawMessage
	Exports   map[string]json.RawMessage
	Deep      []struct {
		Head        string
		Dims        []int
		Loss        float64
		Metrics     map[string]float64
		Predictions map[string][]any
	}
	Memory struct {
		Evaluations []map[string]float64
		Every       string
	}
}

func readPorted(t *testing.T) *ported {
	t.Helper()
	text, err := os.ReadFile("testdata/ported.json")
	if err != nil {
		t.Fatal(err)
	}
	p := &ported{}
	if err := json.Unmarshal(text, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEnvironmentAsTensorFlow compares what TF_CONFIG makes of a RunConfig with
// TensorFlow 1.15, errors word by word.
func TestEnvironmentAsTensorFlow(t *testing.T) {
	all := readPorted(t).Environment
	if len(all) != 66 {
		t.Fatalf("%d cases", len(all))
	}
	for _, want := range all {
		t.Setenv("TF_CONFIG", want.Text)
		c, err := estimator.RunConfig{ModelDir: want.Dir}.WithEnvironment()
		if want.Error != "" {
			if err == nil || tf.CodeOf(err) != tf.InvalidArgument || tf.AsError(err).Message() != want.Error {
				t.Errorf("%s, %q: got %v, TensorFlow says %s", want.Text, want.Dir, err, want.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, %q: %v", want.Text, want.Dir, err)
			continue
		}
		// A task of a cluster uses its own server unless another one is named.
		if master := c.Master; master == "" && c.Cluster != nil && len(c.Cluster.Jobs) > 1 && c.Cluster.Type != estimator.Evaluator {
			c.Master = "grpc://" + c.Cluster.Jobs[c.Cluster.Type][c.Cluster.Index]
		}
		if c.ModelDir != want.ModelDir || c.Master != want.Master || c.EvalMaster != want.EvalMaster || !reflect.DeepEqual(c.Service, want.Service) {
			t.Errorf("%s, %q: got %+v, want %+v", want.Text, want.Dir, c, want)
		}
	}
}

// TestEnvironmentLeavesWhatIsSet: a program's own values count.
func TestEnvironmentLeavesWhatIsSet(t *testing.T) {
	t.Setenv("TF_CONFIG", `{"session_master": "grpc://x:1", "eval_session_master": "grpc://y:1", "service": {"a": 1}}`)
	mine := estimator.RunConfig{Master: "grpc://m:1", EvalMaster: "grpc://e:1", Service: map[string]any{"b": 2}, Seed: 7}
	c, err := mine.WithEnvironment()
	if err != nil || !reflect.DeepEqual(c, mine) {
		t.Errorf("got %+v, %v", c, err)
	}
	t.Setenv("TF_CONFIG", "")
	if c, err := mine.WithEnvironment(); err != nil || !reflect.DeepEqual(c, mine) {
		t.Errorf("got %+v, %v", c, err)
	}
}

// shapesOf are those of inputs and features of a receiver, as ported.py has them.
type shapesOf struct{ Inputs, Features map[string]any }

func describe(s tf.Shape) any {
	if s == nil {
		return "unknown"
	}
	out := []any{}
	for _, n := range s {
		if n < 0 {
			out = append(out, nil)
		} else {
			out = append(out, float64(n))
		}
	}
	return out
}

// TestReceiversAsTensorFlow compares the shapes of receivers with a size of batches
// and without one.
func TestReceiversAsTensorFlow(t *testing.T) {
	want := readPorted(t).Receivers
	raw := map[string]tf.ArgSpec{
		"x": {DType: tf.Float32, Shape: tf.Shape{3, 2}}, "n": {DType: tf.Int32, Shape: tf.Shape{}},
		"any": {DType: tf.Float32}, "word": {DType: tf.String, Shape: tf.Shape{-1}},
	}
	labels := map[string]tf.ArgSpec{"y": {DType: tf.Int64, Shape: tf.Shape{3}}}
	column := feature.Numeric("x")
	column.Shape = []int{2}
	spec, err := feature.MakeParseSpec(column)
	if err != nil {
		t.Fatal(err)
	}
	for name, receive := range map[string]estimator.ReceiverFn{
		"parsing": estimator.ParsingReceiver(spec), "parsing4": estimator.ParsingReceiverOf(4, spec),
		"raw4": estimator.RawReceiverOf(4, raw), "supervised": estimator.RawSupervisedReceiver(0, raw, labels),
		"supervised4": estimator.RawSupervisedReceiver(4, raw, labels),
	} {
		g := tf.NewGraph()
		r, err := receive(g)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := shapesOf{map[string]any{}, map[string]any{}}
		for key, x := range r.Inputs {
			got.Inputs[key] = describe(x.Shape())
		}
		for key, x := range r.Features {
			got.Features[key] = describe(x.(tf.Output).Shape())
		}
		var expected shapesOf
		if err := json.Unmarshal(want[name], &expected); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, expected) {
			t.Errorf("%s: got %v, want %v", name, got, expected)
		}
	}
}

// FuzzReadTFConfig: any text is read or refused, and what is read completes a
// configuration that names nothing.
func FuzzReadTFConfig(f *testing.F) {
	for _, text := range []string{`{}`, `null`, `[]`, `{"service": {"a": null}}`, `{"model_dir": ""}`, `{"session_master": 3}`, `{"cluster": {"chief": ["a:1"], "ps": []}, "task": {"type": "ps", "index": "0"}}`, `{"cluster": {"chief": null}, "task": null}`, `{"task": {"index": -1}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := estimator.ReadTFConfig(text)
		if err != nil {
			if tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		r, err := c.RunConfig(estimator.RunConfig{})
		if err != nil || r.ModelDir != c.ModelDir || r.Master != c.Master || r.Cluster != c.Cluster {
			t.Errorf("%q: got %+v, %v", text, r, err)
		}
		if _, err := c.RunConfig(estimator.RunConfig{ModelDir: c.ModelDir + "/other"}); (err != nil) != (c.ModelDir != "") {
			t.Errorf("%q: another directory: %v", text, err)
		}
	})
}

// TestExportOfUnfinishedMetric: a metric without an update is refused.
func TestExportOfUnfinishedMetric(t *testing.T) {
	e, err := estimator.New(func(c *estimator.Call) (*estimator.Spec, error) {
		s, err := double(c)
		if c.Mode == estimator.Eval {
			s.EvalMetrics["half"] = estimator.Metric{Value: s.Loss}
		}
		return s, err
	}, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), doubled, estimator.TrainOptions{Steps: 1}); err != nil {
		t.Fatal(err)
	}
	receive, err := estimator.SupervisedReceiver(t.Context(), doubled)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.ExportSavedModel(t.Context(), t.TempDir(), receive, estimator.ExportOptions{Mode: estimator.Eval}); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "metrics/half/update_op") {
		t.Errorf("got %v", err)
	}
}
