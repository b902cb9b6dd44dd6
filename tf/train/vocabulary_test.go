package train_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

const vocabularies = "testdata/vocabulary.ckpt"

// words is a vocabulary of testdata/vocabulary.py.
func words(size int) *train.VocabInfo {
	return &train.VocabInfo{NewFile: "testdata/new.txt", NewSize: size, OldFile: "testdata/old.txt"}
}

// TestVocabularies begins with matrices whose words have moved, as TensorFlow does.
func TestVocabularies(t *testing.T) {
	cases := map[string]struct {
		Axis, Size, OOV, OldSize, Parts int
		Fresh                           float64
		Values                          [][]float32
	}{}
	data, err := os.ReadFile("testdata/vocabulary.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil || len(cases) != 6 {
		t.Fatal(len(cases), err)
	}
	for name, c := range cases {
		g := tf.NewGraph()
		i := words(c.Size)
		i.OOV, i.OldSize, i.Axis, i.Initializer = c.OOV, c.OldSize, c.Axis, initializers.Constant(c.Fresh)
		shape, from := tf.Shape{c.Size + c.OOV, 3}, "rows"
		if c.Axis == 1 {
			shape, from = tf.Shape{2, c.Size + c.OOV}, "columns"
		}
		vars.Scope(g, "", vars.ScopeOptions{Partitioner: vars.FixedSize(c.Parts, 0)}, func() { vars.GetPartitioned(g, "v", shape) })
		o := train.WarmStartOptions{Names: map[string]string{"v": from}, Vocab: map[string]*train.VocabInfo{"v": i}}
		if err := train.WarmStart(g, vocabularies, o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := begin(t, g, true)
		var got []float32
		for _, v := range tf.Variables(g, tf.GlobalVariables) {
			out, err := s.Run(t.Context(), nil, v.Value())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got = append(got, tf.Data[float32](out[0])...)
		}
		if want := slices.Concat(c.Values...); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestVocabulariesThatDoNotFit are refused before anything is read.
func TestVocabulariesThatDoNotFit(t *testing.T) {
	for text, c := range map[string]struct {
		size int // of the variable
		f    func(i *train.VocabInfo, o *train.WarmStartOptions)
	}{
		"needs both files":                        {5, func(i *train.VocabInfo, _ *train.WarmStartOptions) { i.OldFile = "" }},
		"supported values for the axis":           {5, func(i *train.VocabInfo, _ *train.WarmStartOptions) { i.Axis = 2 }},
		"must be that of the vocabulary":          {6, func(*train.VocabInfo, *train.WarmStartOptions) {}},
		"vocabularies of a warm start must be":    {5, func(i *train.VocabInfo, o *train.WarmStartOptions) { o.Vocab["w"] = i }},
		"names of a warm start must be":           {5, func(_ *train.VocabInfo, o *train.WarmStartOptions) { o.Names["w"] = "rows" }},
		"Tensor none is not found in":             {5, func(_ *train.VocabInfo, o *train.WarmStartOptions) { o.Names["v"] = "none" }},
		"doesn't match with shape of tensor rows": {5, func(i *train.VocabInfo, _ *train.WarmStartOptions) { i.Axis, i.NewSize = 1, 3 }},
	} {
		g := tf.NewGraph()
		tf.NewVariable(ops.Fill([]int{c.size, 3}, ops.Scalar(g, float32(0))), tf.VariableOptions{Name: "v"})
		i := words(5)
		o := train.WarmStartOptions{Names: map[string]string{"v": "rows"}, Vocab: map[string]*train.VocabInfo{"v": i}}
		c.f(i, &o)
		if err := train.WarmStart(g, vocabularies, o); err == nil || !says(err, tf.CodeOf(err), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}
