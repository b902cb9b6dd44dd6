// Command seq2seq learns to reverse and translate toy sentences: an encoder reads a
// sentence, a decoder with attention writes it in the other order in the words of
// another language. Sentences that it has not seen are then translated by a beam
// search, and the attention of one of them is drawn.
//
//	go run ./examples/seq2seq -png attention.png
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// dictionary has the words of both languages. The numbers of words begin with 2:
// 0 ends a sentence and 1 begins one.
var dictionary = [][2]string{
	{"the", "der"}, {"dog", "Hund"}, {"cat", "Katze"}, {"sees", "sieht"}, {"hears", "hört"}, {"a", "ein"},
	{"house", "Haus"}, {"small", "klein"}, {"big", "groß"}, {"and", "und"},
}

const (
	end, begin, firstWord = 0, 1, 2
	longest, batch, steps = 6, 32, 400
	units, beamWidth      = 48, 4
	tests                 = 40
)

var words = len(dictionary) + firstWord

func main() {
	file := flag.String("png", "", "where to draw the attention of a sentence")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := run(ctx, os.Stdout, *file); err != nil {
		fmt.Fprintf(os.Stderr, "seq2seq: %v\n", err)
		os.Exit(1)
	}
}

// sentences draws n sentences, each of up to longest words, with 0 behind them.
func sentences(r *rand.Rand, n int) (source, lengths []int32) {
	for range n {
		k := 2 + r.IntN(longest-1)
		lengths = append(lengths, int32(k))
		for i := range longest {
			word := int32(end)
			if i < k {
				word = int32(firstWord + r.IntN(len(dictionary)))
			}
			source = append(source, word)
		}
	}
	return source, lengths
}

// translations returns the targets, reversed and with their end, and what a decoder
// is given in training: the target from its begin on.
func translations(source, lengths []int32) (target, given []int32) {
	for i, k := range lengths {
		row := make([]int32, longest+1)
		for j := range k {
			row[j] = source[i*longest+int(k-1-j)]
		}
		target = append(target, row...)
		given = append(append(given, begin), row[:longest]...)
	}
	return target, given
}

// network is the model, for training and for translation.
type network struct {
	g                              *tf.Graph
	source, lengths, target, given tf.Output
	loss                           tf.Output
	step                           *tf.Operation
	found                          rnn.Beams
	weights                        tf.Output // of the attention, [written batch read]
}

func build() *network {
	g := tf.NewGraph()
	g.SetSeed(4)
	ids := func(n int) tf.Output { return ops.Placeholder(g, tf.Int32, tf.Shape{-1, n}) }
	n := &network{g: g, source: ids(longest), lengths: ops.Placeholder(g, tf.Int32, tf.Shape{-1}), target: ids(longest + 1), given: ids(longest + 1)}
	from, to := layers.NewEmbedding(words, 24), layers.NewEmbedding(words, 24)
	encoded, state := rnn.DynamicRNN(rnn.NewGRU(units), from.Apply(n.source), rnn.Opts{Lengths: n.lengths, Scope: "encoder"})
	out := layers.NewDense(words)

	// All decoders share their variables: they are in one scope that is entered
	// with vars.Auto.
	decoder := func(memory, lengths tf.Output, s rnn.State, use func(*rnn.AttentionCell, rnn.State)) {
		vars.Scope(g, "decode", vars.ScopeOptions{Reuse: vars.Auto}, func() {
			cell := rnn.Attend(rnn.NewGRU(units), rnn.Luong(units, memory, rnn.AttentionOpts{Lengths: lengths}), rnn.AttendOpts{Size: units, Initial: s})
			use(cell, rnn.ZeroState(cell, ops.Shape(memory).At("0"), tf.Float32))
		})
	}
	decoder(encoded, n.lengths, state, func(cell *rnn.AttentionCell, s rnn.State) { n.train(cell, s, to, out) })
	starts := ops.ZerosLike(n.lengths).Add(begin)
	decoder(encoded, n.lengths, state, func(cell *rnn.AttentionCell, s rnn.State) { n.look(cell, s, to, out, starts) })
	tiled := rnn.TileBatch(append(rnn.State{encoded}, state...), beamWidth)
	lengths := ops.Reshape(rnn.TileBatch(rnn.State{ops.ExpandDims(n.lengths, 1)}, beamWidth)[0], []int{-1})
	decoder(tiled[0], lengths, tiled[1:], func(cell *rnn.AttentionCell, s rnn.State) {
		d := rnn.BeamDecoder{Cell: cell, Initial: s, Embed: to.Apply, Starts: starts, End: end, Output: out.Apply, Classes: words, Width: beamWidth}
		n.found = d.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(longest+1))})
	})
	return n
}

// train adds the decoder that is given the true sentence.
func (n *network) train(cell *rnn.AttentionCell, s rnn.State, to *layers.EmbeddingLayer, out *layers.DenseLayer) {
	d := rnn.BasicDecoder{
		Cell: cell, Initial: s, Helper: rnn.TrainingHelper(to.Apply(n.given), n.lengths.Add(1)),
		Output: out.Apply, OutputSize: words,
	}
	logits := d.Decode(rnn.DecodeOpts{}).Output
	time := ops.Shape(logits).At("1")
	target := ops.Slice(n.target, []int{0, 0}, ops.Stack([]tf.Output{ops.Scalar(n.g, int32(-1)), time}, 0))
	at := ops.Range(nil, ops.Scalar(n.g, int32(0)), time, ops.Scalar(n.g, int32(1)))
	weights := ops.LessEqual(ops.ExpandDims(at, 0), ops.ExpandDims(n.lengths, 1)).Cast(tf.Float32)
	n.loss = rnn.SequenceLoss(logits, target, weights)
	n.step = train.Adam{LearningRate: 0.01}.Minimize(n.loss)
}

// look adds a decoder, step by step, that keeps what it has looked at.
func (n *network) look(cell *rnn.AttentionCell, s rnn.State, to *layers.EmbeddingLayer, out *layers.DenseLayer, ids tf.Output) {
	var weights []tf.Output
	vars.Scope(n.g, "decoder", vars.ScopeOptions{}, func() {
		for range longest {
			var y tf.Output
			y, s = cell.Step(to.Apply(ids), s)
			ids = ops.ArgMax(out.Apply(y), -1, ops.ArgOpts{OutputType: tf.Int32})
			weights = append(weights, cell.Weights(s))
		}
	})
	n.weights = ops.Stack(weights, 0)
}

func (n *network) feeds(source, lengths []int32) (session.Feeds, error) {
	target, given := translations(source, lengths)
	f := session.Feeds{}
	for out, data := range map[tf.Output][]int32{n.source: source, n.target: target, n.given: given} {
		t, err := tf.FromSlice(data, len(lengths), len(data)/len(lengths))
		if err != nil {
			return nil, err
		}
		f[out] = t
	}
	t, err := tf.FromSlice(lengths)
	f[n.lengths] = t
	return f, err
}

// run trains and returns the share of new sentences that are translated without a
// mistake.
func run(ctx context.Context, out io.Writer, file string) (right float64, err error) {
	n := build()
	s, err := session.New(n.g)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(n.g)); err != nil {
		return 0, err
	}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range steps {
		feeds, err := n.feeds(sentences(r, batch))
		if err != nil {
			return 0, err
		}
		loss, err := session.Fetch[float32](ctx, s, feeds, n.loss, n.step)
		if err != nil {
			return 0, err
		}
		if (i+1)%100 == 0 {
			fmt.Fprintf(out, "step %d  loss %.3f\n", i+1, loss[0])
		}
	}
	return n.translate(ctx, s, r, out, file)
}

func (n *network) translate(ctx context.Context, s *session.Session, r *rand.Rand, out io.Writer, file string) (float64, error) {
	source, lengths := sentences(r, tests)
	feeds, err := n.feeds(source, lengths)
	if err != nil {
		return 0, err
	}
	v, err := s.Run(ctx, feeds, n.found.IDs, n.weights)
	if err != nil {
		return 0, err
	}
	target, _ := translations(source, lengths)
	ids, time, right := tf.Data[int32](v[0]), v[0].Dim(1), 0
	for i := range lengths {
		best := make([]int32, longest+1)
		for t := range min(time, len(best)) {
			best[t] = ids[(i*time+t)*beamWidth]
		}
		want := text(target[i*(longest+1):], 1)
		if got := text(best, 1); got == want {
			right++
		}
		if i < 3 {
			fmt.Fprintf(out, "%s  →  %s\n", text(source[i*longest:(i+1)*longest], 0), text(best, 1))
		}
	}
	fmt.Fprintf(out, "%d of %d new sentences are right\n", right, len(lengths))
	if file != "" {
		err = draw(file, tf.Data[float32](v[1]), int(lengths[0]))
	}
	return float64(right) / float64(len(lengths)), err
}

// text returns the words of a language up to the end of a sentence.
func text(ids []int32, language int) string {
	var out []string
	for _, id := range ids {
		if id < firstWord {
			break
		}
		out = append(out, dictionary[id-firstWord][language])
	}
	return strings.Join(out, " ")
}

// draw writes a picture of the first sentence's attention: a row for each word that
// was written, a column for each word that was read.
func draw(file string, weights []float32, length int) error {
	const cell = 24
	img := image.NewGray(image.Rect(0, 0, length*cell, length*cell))
	for y := range length * cell {
		for x := range length * cell {
			w := weights[y/cell*tests*longest+x/cell]
			img.SetGray(x, y, color.Gray{Y: uint8(255 * min(max(w, 0), 1))})
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := png.Encode(f, img); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
