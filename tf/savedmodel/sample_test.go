package savedmodel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/ops/text"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestWarmUpReadsStrings: a signature that parses examples or decodes images is run, with
// a string that it can read, wherever it does that.
func TestWarmUpReadsStrings(t *testing.T) {
	readers := map[string]func(x tf.Output) tf.Output{
		"jpeg":  func(x tf.Output) tf.Output { return image.DecodeJpeg(ops.Reshape(x, noDims(x))) },
		"image": func(x tf.Output) tf.Output { return image.DecodeImage(ops.Reshape(x, noDims(x))) },
		"png": func(x tf.Output) tf.Output {
			return image.DecodePng(ops.Reshape(x, noDims(x)), image.DecodeOpts{Channels: 4})
		},
	}
	for i := range 12 {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		features := randomFeatures(r)
		readers[fmt.Sprint("examples", i)] = func(x tf.Output) tf.Output { return features.parse(ops.Identity(x), i%3) }
	}
	checkWarmed(t, readers)
}

func noDims(x tf.Output) tf.Output { return ops.Const(x.Graph(), []int32{}) }

// features are the features of a parser.
type features struct {
	shapes []tf.Shape // of dense features
	types  []tf.DType
	some   []parsing.Sparse
}

func randomFeatures(r *rand.Rand) (f features) {
	types := []tf.DType{tf.Float32, tf.Int64, tf.String}
	for range 1 + r.IntN(4) {
		s := tf.Shape{}
		for range r.IntN(3) {
			s = append(s, r.IntN(4))
		}
		if len(s) > 0 && s.NumElements() > 0 && r.IntN(3) == 0 {
			s[0] = -1
		}
		f.shapes, f.types = append(f.shapes, s), append(f.types, types[r.IntN(3)])
	}
	for i := range r.IntN(3) {
		f.some = append(f.some, parsing.Sparse{Key: fmt.Sprint("s", i), Type: types[r.IntN(3)]})
	}
	return f
}

// parse adds one of the ops that parse. Dense features have no defaults but those of open
// size.
func (f features) parse(x tf.Output, which int) tf.Output {
	g := x.Graph()
	var dense []parsing.Dense
	for i, s := range f.shapes {
		n := 0
		if len(s) > 0 && s[0] < 0 {
			n = 1
		}
		def := ops.Cast(ops.Const(g, make([]float32, n), n), f.types[i])
		if f.types[i] == tf.String {
			def = ops.Const(g, make([]string, n), n)
		}
		dense = append(dense, parsing.Dense{Key: fmt.Sprint("d", i), Shape: s, Default: def})
	}
	names := ops.Const(g, []string{}, 0)
	switch which {
	case 0:
		return parsing.ParseExample(x, names, dense, f.some).Dense[0]
	case 1:
		return parsing.ParseSingleExample(ops.Reshape(x, noDims(x)), dense, f.some).Dense[0]
	}
	rag := []parsing.Ragged{{Key: "r", Type: tf.Int64, Splits: tf.Int32}}
	return parsing.ParseExampleV2(x, names, dense, f.some, rag).Dense[0]
}

// checkWarmed saves a model with two signatures for each reader, which reads in the graph
// or in a function within a function, and checks that WarmUp runs what comes after it.
func checkWarmed(t *testing.T, readers map[string]func(x tf.Output) tf.Output) {
	t.Helper()
	g := tf.NewGraph()
	signatures := map[string]savedmodel.SignatureSpec{}
	arg := []tf.ArgSpec{{DType: tf.String, Shape: tf.Shape{-1}}}
	for name, read := range readers {
		for _, within := range []bool{false, true} {
			x := ops.Placeholder(g, tf.String, tf.Shape{-1})
			body := func(x []tf.Output) []tf.Output {
				z := read(x[0])
				if z.DType() == tf.String {
					z = text.StringLength(z)
				}
				return []tf.Output{tf.Apply(z.Graph(), "SavedModelTestWarmed", []tf.Output{ops.Cast(z, tf.Float32)}).Output(0)}
			}
			call := body
			if within {
				inner := tf.NewFunction(g, "inner_"+name, arg, body)
				outer := tf.NewFunction(g, "outer_"+name, arg, func(x []tf.Output) []tf.Output { return inner.Call(x) })
				call = func(x []tf.Output) []tf.Output { return outer.Call(x) }
			}
			signatures[fmt.Sprint(name, within)] = savedmodel.Predict(map[string]tf.Output{"x": x}, map[string]tf.Output{"y": call([]tf.Output{x})[0]})
		}
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir() + "/model"
	if err := new(savedmodel.Builder).Add(savedmodel.MetaGraph{Session: s, Signatures: signatures}).Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	m := load(t, dir)
	for name := range signatures {
		before := warmed.Load()
		if err := m.Signature(name).WarmUp(t.Context()); err != nil {
			t.Error(name, err)
		}
		if warmed.Load() == before {
			t.Errorf("signature %q has not been run", name)
		}
	}
}
