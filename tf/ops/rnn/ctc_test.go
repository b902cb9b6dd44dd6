package rnn_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/rnn"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addLosses()
	addBadLosses()
	addGreedy()
	addBeams()
	addBadDecoders()
}

// labeled are the inputs of CTCLoss: logits, the places of labels and they.
func labeled(x *core.Tensor, at []int64, labels []int32, lengths ...int32) tensors {
	return tensors{x, optest.Mat(2, at...), optest.Vec(labels...), i32(lengths...)}
}

func lossOf(o ...tf.Option) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		loss, _ := rnn.CTCLoss(in[0], in[1], in[2], in[3], o...)
		return []tf.Output{loss}
	}
}

// three labels for the first sequence and two for the second.
var (
	places = []int64{0, 0, 0, 1, 0, 2, 1, 0, 1, 1}
	labels = []int32{1, 1, 0, 2, 0}
)

func addLosses() {
	const op = "CTCLoss"
	x := within(-2, 2, 6, 2, 4)
	addSamples(
		sample{Op: op, In: labeled(x, places, labels, 6, 5), F: lossOf(), Tol: 1e-5},
		sample{Op: op, Name: "gradient", In: labeled(x, places, labels, 6, 5), F: applied(op), Types: optest.OnlyOwn, Tol: 1e-5, Rough: "the gradient has none"},
		sample{Op: op, Name: "collapsed", In: labeled(x, places, labels, 6, 5), F: lossOf(rnn.CTCLossOpts{CollapseRepeated: true}), Types: optest.OnlyOwn, Tol: 1e-5},
		sample{Op: op, Name: "repeated", In: labeled(x, places, labels, 6, 3), F: lossOf(rnn.CTCLossOpts{KeepRepeated: true}), Types: optest.OnlyOwn, Tol: 1e-5},
		sample{Op: op, Name: "longer", In: labeled(x, places, labels, 2, 4), F: lossOf(rnn.CTCLossOpts{IgnoreLonger: true}), Types: optest.OnlyOwn, Tol: 1e-5},
		sample{Op: op, Name: "no steps", In: labeled(x, places, labels, 0, 4), F: applied(op, rnn.CTCLossOpts{IgnoreLonger: true}), Types: optest.OnlyOwn, Tol: 1e-5, Rough: "the gradient has none"},
		sample{Op: op, Name: "impossible", In: labeled(x, places, labels, 3, 4), F: applied(op), Types: optest.OnlyOwn, Tol: 1e-5, Rough: "it is infinite"},
		sample{Op: op, Name: "blank after", In: labeled(x, places, []int32{1, 3, 3, 2, 5}, 6, 5), F: applied(op), Types: optest.OnlyOwn, Tol: 1e-5, Rough: "the gradient has none"},
		sample{Op: op, Name: "blanks", In: labeled(x, places, []int32{3, 3, 3, 2, 5}, 6, 5), F: applied(op), Types: optest.OnlyOwn, NoGolden: "TensorFlow writes outside of its memory", Rough: "the gradient has none"})
}

func addBadLosses() {
	const op = "CTCLoss"
	at := func(v ...int64) *core.Tensor { return optest.Mat(2, v...) }
	bad(op, applied(op), labeled(within(-2, 2, 6, 2, 4), places, labels, 6, 5), map[string]swap{
		"flat": {0, within(-2, 2, 6, 2)}, "indices": {1, optest.Vec(places...)}, "labels": {2, optest.Mat(1, labels...)}, "lengths": {3, optest.Mat[int32](1, 6, 5)},
		"batch": {3, i32(6, 5, 4)}, "rows": {2, i32(1, 2)}, "columns": {1, optest.Mat[int64](3, 0, 0, 0, 0, 1, 0, 0, 2, 0, 1, 0, 0, 1, 1, 0)}, "no batch": {3, i32()},
		"outside": {1, at(0, 0, 0, 1, 0, 2, 2, 0, 2, 1)}, "negative": {1, at(0, -1, 0, 1, 0, 2, 1, 0, 1, 1)},
		"twice": {1, at(0, 0, 0, 0, 0, 2, 1, 0, 1, 1)}, "unlabeled": {1, at(0, 0, 0, 1, 0, 2, 0, 3, 0, 4)}, "long": {3, i32(2, 5)}, "too long": {3, i32(6, 7)},
		"negative length": {3, i32(6, -1)}, "blank between": {2, i32(1, 3, 0, 2, 0)}, "negative label": {2, i32(1, -1, 0, 2, 0)},
	})
}

func addGreedy() {
	const op = "CTCGreedyDecoder"
	x, second := within(-2, 2, 7, 3, 4), -3
	greedy := func(o ...tf.Option) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			d, p := rnn.CTCGreedyDecoder(in[0], in[1], o...)
			return []tf.Output{d.Indices, d.Values, d.DenseShape, p}
		}
	}
	addSamples(
		sample{Op: op, In: tensors{x, i32(7, 5, 0)}, F: greedy()},
		sample{Op: op, Name: "merged", In: tensors{tied(8, 2, 3), i32(8, 8)}, F: greedy(rnn.CTCGreedyOpts{MergeRepeated: true})},
		sample{Op: op, Name: "another blank", In: tensors{x, i32(7, -2, 3)}, F: greedy(rnn.CTCGreedyOpts{BlankIndex: &second})})
	bad(op, applied(op, tf.Attr("blank_index", 4)), tensors{x, i32(7, 5, 0)}, map[string]swap{"blank": {1, i32(7, 5, 1)}})
	bad(op, applied(op, tf.Attr("blank_index", -5)), tensors{x, i32(7, 5, 0)}, map[string]swap{"negative blank": {1, i32(7, 5, 1)}})
}

// tied are logits of which many are equal.
func tied(s ...int) *core.Tensor {
	t := within(0, 4, s...)
	for i, v := range core.Data[float32](t) {
		core.Data[float32](t)[i] = float32(math.Floor(float64(v)))
	}
	return t
}

func addBeams() {
	const op = "CTCBeamSearchDecoder"
	search := func(width, paths int, o ...tf.Option) function {
		return func(_ *tf.Graph, in []tf.Output) (out []tf.Output) {
			d, p := rnn.CTCBeamSearchDecoder(in[0], in[1], width, paths, o...)
			for _, f := range []func(rnn.Decoded) tf.Output{
				func(d rnn.Decoded) tf.Output { return d.Indices }, func(d rnn.Decoded) tf.Output { return d.Values }, func(d rnn.Decoded) tf.Output { return d.DenseShape },
			} {
				for _, one := range d {
					out = append(out, f(one))
				}
			}
			return append(out, p)
		}
	}
	x := within(-2, 2, 7, 3, 4)
	addSamples(
		sample{Op: op, In: tensors{x, i32(7, 5, 3)}, F: search(9, 2), Tol: 1e-5},
		sample{Op: op, Name: "repeated", In: tensors{x, i32(7, 5, 3)}, F: search(40, 5, rnn.CTCBeamOpts{KeepRepeated: true}), Types: optest.OnlyOwn, Tol: 1e-5},
		sample{Op: op, Name: "ties", In: tensors{tied(6, 2, 4), i32(6, 5)}, F: search(7, 6), Types: optest.OnlyOwn, Tol: 1e-5},
		sample{Op: op, Name: "all equal", In: tensors{optest.Convert(within(1, 1, 5, 1, 5), tf.Float32), i32(5)}, F: search(6, 6, rnn.CTCBeamOpts{KeepRepeated: true}), Types: optest.OnlyOwn, Tol: 1e-5},
		sample{Op: op, Name: "one", In: tensors{x, i32(0, 1, -1)}, F: search(3, 1), Types: optest.OnlyOwn, Tol: 1e-5},
		optest.Failing(op, "paths", search(2, 3), x, i32(7, 5, 3)),
		optest.Failing(op, "leaves", search(9, 3), x, i32(0, 0, 0)))
}

func addBadDecoders() {
	for op, f := range map[string]function{
		"CTCGreedyDecoder": applied("CTCGreedyDecoder"), "CTCBeamSearchDecoder": applied("CTCBeamSearchDecoder", tf.Attr("beam_width", 2), tf.Attr("top_paths", 1)),
	} {
		bad(op, f, tensors{within(-2, 2, 7, 3, 4), i32(7, 5, 0)}, map[string]swap{
			"flat": {0, within(-2, 2, 7, 3)}, "empty": {0, within(-2, 2, 7, 0, 4)}, "lengths": {1, optest.Mat[int32](1, 7, 5, 0)}, "batch": {1, i32(7, 5)}, "long": {1, i32(7, 8, 0)},
		})
	}
}

// softmax returns the probabilities of logits x, rows of n.
func softmax(x []float64, n int) []float64 {
	out := make([]float64, len(x))
	for lo := 0; lo < len(x); lo += n {
		sum := 0.0
		for _, v := range x[lo : lo+n] {
			sum += math.Exp(v)
		}
		for i := lo; i < lo+n; i++ {
			out[i] = math.Exp(x[i]) / sum
		}
	}
	return out
}

// labelings returns the probability of every sequence of labels, as text, by
// looking at every way through all steps.
func labelings(probs []float64, n int) map[string]float64 {
	out := map[string]float64{}
	var walk func(t int, p float64, text []byte, last int)
	walk = func(t int, p float64, text []byte, last int) {
		if t*n == len(probs) {
			out[string(text)] += p
			return
		}
		for c := range n {
			next := text
			if c != n-1 && c != last {
				next = append(slices.Clone(text), byte('a'+c))
			}
			walk(t+1, p*probs[t*n+c], next, c)
		}
	}
	walk(0, 1, nil, -1)
	return out
}

// value computes y, in an eager graph.
func value(t *testing.T, y tf.Output) *core.Tensor {
	t.Helper()
	v, err := y.Value()
	if err != nil {
		t.Fatal(err)
	}
	return (*core.Tensor)(v)
}

// logits are those of one sequence of so many steps and three classes.
func logits(steps int) (*core.Tensor, map[string]float64) {
	x := optest.Convert(within(-1.5, 2, steps, 1, 3), tf.Float64)
	return x, labelings(softmax(core.Data[float64](x), 3), 3)
}

// TestLossIsAllWays compares with the sum over all ways to the labels.
func TestLossIsAllWays(t *testing.T) {
	x, p := logits(6)
	for text, want := range p {
		g := eager.New()
		var at []int64
		var vals []int32
		for i, c := range text {
			at, vals = append(at, 0, int64(i)), append(vals, int32(c-'a'))
		}
		if text == "" {
			at, vals = []int64{0, 0}, []int32{2} // the blank: no labels are refused
		}
		in := labeled(x, at, vals, 6)
		loss, _ := rnn.CTCLoss(ops.ConstValue(g, in[0]), ops.ConstValue(g, in[1]), ops.ConstValue(g, in[2]), ops.ConstValue(g, in[3]))
		if got := core.Data[float64](value(t, loss))[0]; math.Abs(got+math.Log(want)) > 1e-10 {
			t.Errorf("loss of %q is %v, want %v", text, got, -math.Log(want))
		}
	}
}

// TestBeamFindsTheBest searches with a beam that holds everything.
func TestBeamFindsTheBest(t *testing.T) {
	x, p := logits(6)
	var best []string
	for text := range p {
		best = append(best, text)
	}
	slices.SortFunc(best, func(a, b string) int {
		if p[a] > p[b] {
			return -1
		}
		return 1
	})
	g := eager.New()
	d, score := rnn.CTCBeamSearchDecoder(ops.ConstValue(g, x), ops.Const(g, []int32{6}), 200, 8, rnn.CTCBeamOpts{KeepRepeated: true})
	scores := core.Data[float64](value(t, score))
	for i, one := range d {
		text := ""
		for _, c := range core.Data[int64](value(t, one.Values)) {
			text += string(rune('a' + c))
		}
		if text != best[i] || math.Abs(scores[i]-math.Log(p[text])) > 1e-10 {
			t.Errorf("path %d is %q (%v), want %q (%v)", i, text, scores[i], best[i], math.Log(p[best[i]]))
		}
	}
}

// TestLossThreads wants equal bits whatever the threads.
func TestLossThreads(t *testing.T) {
	x := within(-2, 2, 6, 8, 4)
	var at []int64
	var vals []int32
	for b := range int64(8) {
		at, vals = append(at, b, 0, b, 1), append(vals, int32(b%3), int32((b+1)%3))
	}
	in := labeled(x, at, vals, 6, 5, 4, 3, 6, 5, 4, 3)
	optest.Threads(t,
		sample{Op: "CTCLoss", In: in, F: applied("CTCLoss")},
		sample{Op: "CTCBeamSearchDecoder", In: tensors{x, in[3]}, F: applied("CTCBeamSearchDecoder", tf.Attr("beam_width", 5), tf.Attr("top_paths", 2))})
}

// TestLossWantsOrder: labels have to come by sequence and place.
func TestLossWantsOrder(t *testing.T) {
	g := eager.New()
	in := labeled(within(-2, 2, 6, 2, 4), []int64{0, 1, 0, 0, 1, 0}, []int32{1, 2, 0}, 6, 5)
	loss, _ := rnn.CTCLoss(ops.ConstValue(g, in[0]), ops.ConstValue(g, in[1]), ops.ConstValue(g, in[2]), ops.ConstValue(g, in[3]))
	const want = "label SparseTensor is not valid: indices[1] = [0,0] is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
	var e *tf.Error
	if err := loss.Err(); !errors.As(err, &e) || e.Message() != want || e.Code != tf.InvalidArgument {
		t.Errorf("got %v", err)
	}
}
