package estimator_test

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// portedInput is the batch of ported.py, once or again and again.
func portedInput(times int64) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		const n = 32
		x, word, label := make([][]float32, n), make([]string, n), make([]int64, n)
		for i := range n {
			x[i] = []float32{float32(math.Sin(float64(i))), float32(math.Cos(float64(i) * 1.3))}
			word[i] = []string{"clerk", "cook", "smith"}[(i*i+1)%3]
			if x[i][0] > x[i][1] {
				label[i] = 1
			}
		}
		var all []*tf.Tensor
		for _, v := range []any{x, word, label} {
			t, err := tf.TensorOf(v)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return &estimator.Input{Data: data.FromTensors(all...).Repeat(times), Keys: []string{"x", "word", "label"}, Labels: []string{"label"}}, nil
	}
}

func portedColumns() []feature.Column {
	x := feature.Numeric("x")
	x.Shape = []int{2}
	return []feature.Column{x, feature.Vocabulary("word", "clerk", "cook", "smith")}
}

func portedEstimator(t *testing.T, c estimator.RunConfig) *estimator.Estimator {
	t.Helper()
	e, err := estimator.LinearClassifier(estimator.Linear{Columns: portedColumns()}, estimator.Task{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A metaGraph is what ported.py tells of one.
type metaGraph struct {
	Tags       []string
	Train      bool
	Signatures map[string]struct {
		Method          string
		Inputs, Outputs map[string][]any
	}
}

// metaGraphs reads those of a SavedModel, through JSON as the golden ones are.
func metaGraphs(t *testing.T, dir string) (all []metaGraph) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "saved_model.pb"))
	if err != nil {
		t.Fatal(err)
	}
	m := &pb.SavedModel{}
	if err := proto.Unmarshal(text, m); err != nil {
		t.Fatal(err)
	}
	infos := func(all map[string]*pb.TensorInfo) map[string][]any {
		out := map[string][]any{}
		for key, info := range all {
			out[key] = []any{tf.DType(info.GetDtype()).String()}
			for _, d := range info.GetTensorShape().GetDim() {
				out[key] = append(out[key], float64(d.GetSize()))
			}
		}
		return out
	}
	for _, g := range m.GetMetaGraphs() {
		_, hasTrain := g.GetCollectionDef()["saved_model_train_op"]
		mg := metaGraph{Tags: g.GetMetaInfoDef().GetTags(), Train: hasTrain}
		mg.Signatures = map[string]struct {
			Method          string
			Inputs, Outputs map[string][]any
		}{}
		for key, s := range g.GetSignatureDef() {
			if !strings.HasPrefix(key, "__saved_model") {
				mg.Signatures[key] = struct {
					Method          string
					Inputs, Outputs map[string][]any
				}{s.GetMethodName(), infos(s.GetInputs()), infos(s.GetOutputs())}
			}
		}
		all = append(all, mg)
	}
	return all
}

// TestExportModesAsTensorFlow compares tags, signatures and training operations of
// exports for several modes with TensorFlow 1.15's.
func TestExportModesAsTensorFlow(t *testing.T) {
	want := readPorted(t).Exports
	e := portedEstimator(t, estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1})
	if err := e.Train(t.Context(), portedInput(data.Infinite), estimator.TrainOptions{Steps: 3}); err != nil {
		t.Fatal(err)
	}
	labeled, err := estimator.SupervisedReceiver(t.Context(), portedInput(1))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := feature.MakeParseSpec(portedColumns()...)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]map[estimator.Mode]estimator.ReceiverFn{
		"all":   {estimator.Train: labeled, estimator.Eval: labeled, estimator.Predict: estimator.ParsingReceiver(spec)},
		"train": {estimator.Train: labeled},
		"eval":  {estimator.Eval: labeled},
	}
	dirs := map[string]string{}
	for name, receivers := range cases {
		if dirs[name], err = e.ExportAllSavedModels(t.Context(), t.TempDir(), receivers, estimator.ExportOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if dirs["mode"], err = e.ExportSavedModel(t.Context(), t.TempDir(), labeled, estimator.ExportOptions{Mode: estimator.Eval}); err != nil {
		t.Fatal(err)
	}
	for name, dir := range dirs {
		var expected []metaGraph
		if err := json.Unmarshal(want[name], &expected); err != nil {
			t.Fatal(err)
		}
		got := metaGraphs(t, dir)
		if len(got) != len(expected) {
			t.Fatalf("%s: %d MetaGraphs, want %d", name, len(got), len(expected))
		}
		for i, mg := range got {
			if !slices.Equal(mg.Tags, expected[i].Tags) || mg.Train != expected[i].Train {
				t.Errorf("%s: tags %q, train %v; want %q, %v", name, mg.Tags, mg.Train, expected[i].Tags, expected[i].Train)
			}
			if !slices.Equal(slices.Sorted(maps.Keys(mg.Signatures)), slices.Sorted(maps.Keys(expected[i].Signatures))) {
				t.Errorf("%s: signatures %v, want %v", name, mg.Signatures, expected[i].Signatures)
			}
			for key, s := range mg.Signatures {
				if !reflect.DeepEqual(s, expected[i].Signatures[key]) {
					t.Errorf("%s, %s:\ngot  %v,\nwant %v", name, key, s, expected[i].Signatures[key])
				}
			}
		}
	}
	trainsOn(t, dirs["all"])
}

// trainsOn loads the MetaGraphs: that of training gives the same loss as that of
// evaluation, and its operation makes it less.
func trainsOn(t *testing.T, dir string) {
	t.Helper()
	in, err := portedInput(1)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	it, err := in.Data.Iterator()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	batch, err := it.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	feeds := map[string]any{}
	for i, key := range in.Keys {
		feeds[key] = batch[i]
	}
	loss := func(m *savedmodel.Model, key string) float32 {
		t.Helper()
		out, err := m.Signature(key).Run(t.Context(), feeds)
		if err != nil {
			t.Fatal(err)
		}
		x, err := savedmodel.Values[float32](out, "loss")
		if err != nil {
			t.Fatal(err)
		}
		return x[0]
	}
	load := func(tag string) *savedmodel.Model {
		m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{Tags: []string{tag}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	trained, evaluated := load(savedmodel.Train), load(savedmodel.Eval)
	before := loss(trained, "train")
	if at := loss(evaluated, "eval"); math.Abs(float64(before-at)) > 1e-5 {
		t.Errorf("the loss of training is %v, of evaluation %v", before, at)
	}
	step := trained.TrainOp()
	if step == nil {
		t.Fatal("no training operation")
	}
	byTensor := session.Feeds{}
	for _, spec := range trained.Signature("train").Inputs() {
		x, err := trained.Graph().Output(spec.Name)
		if err != nil {
			t.Fatal(err)
		}
		byTensor[x] = feeds[spec.Key].(*tf.Tensor)
	}
	for range 5 {
		if _, err := trained.Session().Run(t.Context(), byTensor, step); err != nil {
			t.Fatal(err)
		}
	}
	if after := loss(trained, "train"); !(after < before) {
		t.Errorf("the loss is %v after training, was %v", after, before)
	}
}

// TestExportModesRefuse: mistakes of exports, before anything is written.
func TestExportModesRefuse(t *testing.T) {
	e := portedEstimator(t, estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1})
	if err := e.Train(t.Context(), portedInput(data.Infinite), estimator.TrainOptions{Steps: 1}); err != nil {
		t.Fatal(err)
	}
	unlabeled := estimator.RawReceiver(map[string]tf.ArgSpec{"x": {DType: tf.Float32, Shape: tf.Shape{-1, 2}}, "word": {DType: tf.String, Shape: tf.Shape{-1}}})
	x := map[string]tf.ArgSpec{"x": {DType: tf.Float32, Shape: tf.Shape{-1, 2}}}
	for want, receivers := range map[string]map[estimator.Mode]estimator.ReceiverFn{
		"No valid modes for exporting found. Got none":      nil,
		`No valid modes for exporting found. Got "other"`:   {"other": unlabeled},
		"exporting needs a receiver function, got nil":      {estimator.Predict: unlabeled, estimator.Eval: nil},
		"You must provide a labels Tensor":                  {estimator.Train: unlabeled},
		"Features and labels must have distinct keys":       {estimator.Eval: estimator.RawSupervisedReceiver(0, x, x)},
		"default_batch_size must be positive, got -1":       {estimator.Eval: estimator.RawSupervisedReceiver(-1, x, nil)},
		"default_batch_size must be positive, got 0":        {estimator.Predict: estimator.RawReceiverOf(0, x)},
		"default_batch_size must be positive, got -3":       {estimator.Predict: estimator.ParsingReceiverOf(-3, nil)},
		"a receiver function must return a Receiver with i": {estimator.Eval: estimator.RawSupervisedReceiver(0, nil, nil)},
	} {
		base := t.TempDir()
		if _, err := e.ExportAllSavedModels(t.Context(), base, receivers, estimator.ExportOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if entries, _ := os.ReadDir(base); len(entries) > 0 {
			t.Errorf("%s: something was written", want)
		}
	}
	if _, err := estimator.SupervisedReceiver(t.Context(), nil); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("no input function: %v", err)
	}
	sparsely := func(ctx context.Context) (*estimator.Input, error) {
		in, err := portedInput(1)(ctx)
		in.Map = func(f feature.Features) feature.Features {
			f["s"] = sparse.Tensor{}
			return f
		}
		return in, err
	}
	if _, err := estimator.SupervisedReceiver(t.Context(), sparsely); err == nil || !strings.Contains(err.Error(), "must be dense, got a sparse.Tensor: \"s\"") {
		t.Errorf("a sparse feature: %v", err)
	}
}

// TestExportOfWarmStart: a model that has not trained is exported with the values
// that it would begin with.
func TestExportOfWarmStart(t *testing.T) {
	first := portedEstimator(t, estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1})
	if err := first.Train(t.Context(), portedInput(data.Infinite), estimator.TrainOptions{Steps: 2}); err != nil {
		t.Fatal(err)
	}
	spec, err := feature.MakeParseSpec(portedColumns()...)
	if err != nil {
		t.Fatal(err)
	}
	linear := estimator.Linear{Columns: portedColumns()}
	second, err := estimator.LinearClassifier(linear, estimator.Task{WarmStart: &estimator.WarmStart{From: first.ModelDir()}, Config: estimator.RunConfig{ModelDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := second.ExportSavedModel(t.Context(), t.TempDir(), estimator.ParsingReceiver(spec), estimator.ExportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
}
