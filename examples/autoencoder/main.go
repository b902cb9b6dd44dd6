// Command autoencoder learns to pass pictures of simple shapes through a few
// numbers, and draws some beside what comes out.
//
//	go run ./examples/autoencoder
package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/gorge-tf/gorge/examples/internal/program"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

const (
	side   = 12 // pixels of a picture's edge
	pixels = side * side
	code   = 8 // numbers that a picture is made to go through
	batch  = 64
	steps  = 600
)

func main() {
	program.Main("autoencoder", func(ctx context.Context, out io.Writer) error {
		_, err := run(ctx, out)
		return err
	})
}

// pictures draws n filled rectangles.
func pictures(r *rand.Rand, n int) (*tf.Tensor, error) {
	out := make([]float32, n*pixels)
	for i := range n {
		w, h := 3+r.IntN(7), 3+r.IntN(7)
		left, top := r.IntN(side-w), r.IntN(side-h)
		for y := top; y < top+h; y++ {
			for x := left; x < left+w; x++ {
				out[i*pixels+y*side+x] = 1
			}
		}
	}
	return tf.FromSlice(out, n, pixels)
}

// network is an autoencoder and what trains it.
type network struct {
	in, out, error tf.Output
	step           *tf.Operation
}

func build(g *tf.Graph) *network {
	n := &network{in: ops.Placeholder(g, tf.Float32, tf.Shape{-1, pixels})}
	y := layers.Dense(n.in, 96, layers.Relu)
	y = layers.Dense(y, code) // the narrow place
	y = layers.Dense(y, 96, layers.Relu)
	logits := layers.Dense(y, pixels)
	n.out = ops.Sigmoid(logits)
	n.error = losses.MeanSquaredError(n.in, n.out)
	n.step = train.Adam{LearningRate: 2e-3}.Minimize(losses.SigmoidCrossEntropy(n.in, logits, 0))
	return n
}

// run trains and returns the mean squared error of pictures not seen before.
func run(ctx context.Context, out io.Writer) (float32, error) {
	g := tf.NewGraph()
	g.SetSeed(1)
	n := build(g)
	s, err := session.New(g)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		return 0, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range steps {
		x, err := pictures(r, batch)
		if err != nil {
			return 0, err
		}
		v, err := session.Fetch[float32](ctx, s, session.Feeds{n.in: x}, n.error, n.step)
		if err != nil {
			return 0, err
		}
		if (i+1)%100 == 0 {
			fmt.Fprintf(out, "step %d  mean squared error %.4f\n", i+1, v[0])
		}
	}
	return show(ctx, s, n, r, out)
}

// show draws pictures beside what the network makes of them.
func show(ctx context.Context, s *session.Session, n *network, r *rand.Rand, out io.Writer) (float32, error) {
	x, err := pictures(r, batch)
	if err != nil {
		return 0, err
	}
	v, err := s.Run(ctx, session.Feeds{n.in: x}, n.out, n.error)
	if err != nil {
		return 0, err
	}
	for y := range side {
		var line strings.Builder
		for i := range 3 {
			at := i*pixels + y*side
			line.WriteString(shades(tf.Data[float32](x)[at:at+side]) + " → " + shades(tf.Data[float32](v[0])[at:at+side]) + "    ")
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
	return tf.Data[float32](v[1])[0], nil
}

// shades draws a line of pixels from 0 to 1.
func shades(row []float32) string {
	const levels = "·░▒▓█"
	var b strings.Builder
	for _, v := range row {
		b.WriteRune([]rune(levels)[min(int(v*5), 4)])
	}
	return b.String()
}
