// Command word2vec learns vectors of words from a book (Mikolov et al., NeurIPS
// 2013), so that words that are used alike have vectors alike, and shows words
// with their neighbours. Queues and their runners feed it.
//
//	go run ./examples/word2vec
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gorge-tf/gorge/examples/internal/program"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

const epochs, nearest = 14, 6

// shown are words that Newton uses often.
var shown = []string{"red", "blue", "glass", "angle", "two", "first", "white", "inch"}

func main() {
	program.Main("word2vec", func(ctx context.Context, out io.Writer) error {
		_, err := run(ctx, out, epochs)
		return err
	})
}

// run trains until the text has been read so many times and the queues are
// empty, and returns the neighbours of the words that are shown.
func run(ctx context.Context, out io.Writer, epochs int) (map[string][]string, error) {
	words, err := load()
	if err != nil {
		return nil, err
	}
	c := newCorpus(words, 5)
	text := c.thinned(share, 1)
	fmt.Fprintf(out, "%d words, %d different ones that come often\n", len(words), len(c.words))
	g := tf.NewGraph()
	g.SetSeed(1)
	center, around := pairs(g, text, epochs)
	m := newSkipGram(g, len(c.words), center, around)
	near := m.neighbours(ops.Const(g, c.numbers(shown)), 1+nearest)
	s, err := session.New(g)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		return nil, err
	}
	if err := learn(ctx, s, m, out); err != nil {
		return nil, err
	}
	v, err := s.Run(ctx, nil, near)
	if err != nil {
		return nil, err
	}
	return c.show(out, tf.Data[int32](v[0])), nil
}

// learn takes steps until the input ends. A coordinator stops the runners when
// a step or one of them fails.
func learn(ctx context.Context, s *session.Session, m *skipGram, out io.Writer) error {
	coord := train.NewCoordinator(ctx)
	train.StartQueueRunners(s.Graph(), coord, s)
	coord.RequestStop(steps(coord.Context(), s, m, out))
	return coord.Join()
}

func steps(ctx context.Context, s *session.Session, m *skipGram, out io.Writer) error {
	const every = 300
	var sum float32
	for n := 1; ; n++ {
		v, err := s.Run(ctx, nil, m.loss, m.step)
		if train.CleanStop(err) {
			fmt.Fprintf(out, "the text is read after %d steps\n", n-1)
			return nil
		}
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if sum += tf.Data[float32](v[0])[0]; n%every == 0 {
			fmt.Fprintf(out, "step %d  loss %.3f\n", n, sum/every)
			sum = 0
		}
	}
}

// numbers returns the numbers of words.
func (c *corpus) numbers(words []string) []int32 {
	out := make([]int32, len(words))
	for i, w := range words {
		out[i] = c.number[w]
	}
	return out
}

// show prints the words that are shown with their neighbours.
func (c *corpus) show(out io.Writer, near []int32) map[string][]string {
	all := map[string][]string{}
	for i, w := range shown {
		for _, n := range near[i*(1+nearest)+1 : (i+1)*(1+nearest)] {
			all[w] = append(all[w], c.words[n])
		}
		fmt.Fprintf(out, "%-6s %s\n", w, strings.Join(all[w], " "))
	}
	return all
}
