// Command charrnn learns a nursery rhyme character by character: an LSTM, run by
// DynamicRNN, guesses each next character. The last verse is kept back; it is
// guessed after training, and then the network writes a verse of its own.
//
//	go run ./examples/charrnn
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/examples/internal/program"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

//go:embed rhyme.txt
var rhyme string

const batch, window, steps, units, written = 16, 40, 220, 96, 120

func main() {
	program.Main("charrnn", func(ctx context.Context, out io.Writer) error {
		_, _, err := run(ctx, out)
		return err
	})
}

// alphabet holds the characters of the rhyme, in order: a character's number is
// its position.
var alphabet = func() (all []byte) {
	all = []byte(rhyme)
	slices.Sort(all)
	return slices.Compact(all)
}()

// numbers returns the numbers of the characters of a text.
func numbers(text string) []int32 {
	out := make([]int32, len(text))
	for i := range out {
		n, _ := slices.BinarySearch(alphabet, text[i])
		out[i] = int32(n)
	}
	return out
}

// model guesses, for each character of texts x [n time], the next one.
type model struct {
	x, y, logits, loss tf.Output
	step               *tf.Operation
	verse              tf.Output // what the network writes after a line end
}

func newModel() (*tf.Graph, *model) {
	g := tf.NewGraph()
	g.SetSeed(3)
	m := &model{x: ops.Placeholder(g, tf.Int32, tf.Shape{-1, -1}), y: ops.Placeholder(g, tf.Int32, tf.Shape{-1, -1})}
	embed := layers.NewEmbedding(len(alphabet), 24)
	cell, out := rnn.NewLSTM(units), layers.NewDense(len(alphabet))

	h, _ := rnn.DynamicRNN(cell, embed.Apply(m.x))
	m.logits = out.Apply(h)
	m.loss = rnn.SequenceLoss(m.logits, m.y, ops.OnesLike(m.y).Cast(tf.Float32))
	m.step = train.Adam{LearningRate: 0.01}.Minimize(m.loss)

	start := ops.Const(g, numbers("\n"), 1)
	writer := rnn.BasicDecoder{
		Cell: cell, Initial: rnn.ZeroState(cell, ops.Scalar(g, int32(1)), tf.Float32),
		Helper: rnn.SampleHelper(embed.Apply, start, -1, 0.3, 5),
		Output: out.Apply, OutputSize: len(alphabet),
	}
	m.verse = writer.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(written))}).Samples
	return g, m
}

// feeds draws a batch of windows of the text.
func (m *model) feeds(text []int32, r *rand.Rand) (session.Feeds, error) {
	var xs, ys []int32
	for range batch {
		at := r.IntN(len(text) - window)
		xs, ys = append(xs, text[at:at+window]...), append(ys, text[at+1:at+window+1]...)
	}
	return m.of(xs, ys, batch)
}

func (m *model) of(xs, ys []int32, n int) (session.Feeds, error) {
	x, err := tf.FromSlice(xs, n, len(xs)/n)
	if err != nil {
		return nil, err
	}
	y, err := tf.FromSlice(ys, n, len(ys)/n)
	return session.Feeds{m.x: x, m.y: y}, err
}

// run trains, and returns the share of the last verse's characters that are
// guessed, and what the network writes.
func run(ctx context.Context, out io.Writer) (accuracy float64, verse string, err error) {
	g, m := newModel()
	s, err := session.New(g)
	if err != nil {
		return 0, "", err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		return 0, "", err
	}
	last := strings.LastIndex(rhyme, "This is")
	if err := m.train(ctx, s, numbers(rhyme[:last]), out); err != nil {
		return 0, "", err
	}
	if accuracy, err = m.guess(ctx, s, numbers(rhyme[last:])); err != nil {
		return 0, "", err
	}
	ids, err := session.Fetch[int32](ctx, s, nil, m.verse)
	if err != nil {
		return 0, "", err
	}
	for _, id := range ids {
		verse += string(alphabet[id])
	}
	fmt.Fprintf(out, "of the verse it has not seen it guesses %.0f%% of the characters; it writes:\n%s\n", 100*accuracy, verse)
	return accuracy, verse, nil
}

func (m *model) train(ctx context.Context, s *session.Session, text []int32, out io.Writer) error {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range steps {
		feeds, err := m.feeds(text, r)
		if err != nil {
			return err
		}
		loss, err := session.Fetch[float32](ctx, s, feeds, m.loss, m.step)
		if err != nil {
			return err
		}
		if (i+1)%40 == 0 {
			fmt.Fprintf(out, "step %d  loss %.3f\n", i+1, loss[0])
		}
	}
	return nil
}

// guess returns the share of characters that are guessed from those before.
func (m *model) guess(ctx context.Context, s *session.Session, text []int32) (float64, error) {
	feeds, err := m.of(text[:len(text)-1], text[1:], 1)
	if err != nil {
		return 0, err
	}
	logits, err := s.Run(ctx, feeds, m.logits)
	if err != nil {
		return 0, err
	}
	scores, right := tf.Data[float32](logits[0]), 0
	for i, want := range text[1:] {
		row := scores[i*len(alphabet) : (i+1)*len(alphabet)]
		if slices.Index(row, slices.Max(row)) == int(want) {
			right++
		}
	}
	return float64(right) / float64(len(text)-1), nil
}
