// Command gan trains two networks against each other (Goodfellow et al.,
// NeurIPS 2014): one makes points out of noise, the other one tells them from
// points on a ring. It draws what the first one makes in the end.
//
//	go run ./examples/gan
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gorge-tf/gorge/examples/internal/program"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

const batch, steps, noise, units = 128, 3000, 8, 64

func main() {
	program.Main("gan", func(ctx context.Context, out io.Writer) error {
		_, err := run(ctx, out)
		return err
	})
}

// mlp is a network with one hidden layer that is used more than once.
type mlp struct{ hidden, out *layers.DenseLayer }

func newMLP(g *tf.Graph, in, out int) (m mlp) {
	m = mlp{layers.NewDense(units, layers.Relu), layers.NewDense(out)}
	vars.Unique(g, "mlp", vars.ScopeOptions{}, func() { // the variables are wanted before there is an input
		m.hidden.Build(g, tf.Float32, tf.Shape{-1, in})
		m.out.Build(g, tf.Float32, tf.Shape{-1, units})
	})
	return m
}

func (m mlp) apply(x tf.Output) tf.Output { return m.out.Apply(m.hidden.Apply(x)) }

func (m mlp) variables() []*tf.Variable {
	return []*tf.Variable{m.hidden.Kernel, m.hidden.Bias, m.out.Kernel, m.out.Bias}
}

// ring returns points near the circle of radius 1.
func ring(g *tf.Graph) tf.Output {
	angle := ops.Mul(ops.RandomUniform(g, []int{batch, 1}, tf.Float32), ops.Scalar(g, float32(2*math.Pi)))
	on := ops.ConcatV2([]tf.Output{ops.Cos(angle), ops.Sin(angle)}, ops.Scalar(g, int32(1)))
	off := ops.RandomStandardNormal(g, []int{batch, 2}, tf.Float32)
	return ops.AddV2(on, ops.Mul(off, ops.Scalar[float32](g, 0.05)))
}

// game is the two networks and what makes each better.
type game struct {
	made                   tf.Output // points [batch 2]
	judgeLoss, makerLoss   tf.Output
	trainJudge, trainMaker *tf.Operation
}

func newGame(g *tf.Graph) *game {
	maker, judge := newMLP(g, noise, 2), newMLP(g, 2, 1)
	made := maker.apply(ops.RandomStandardNormal(g, []int{batch, noise}, tf.Float32))
	real, fake := judge.apply(ring(g)), judge.apply(made)
	yes, no := ops.OnesLike(real), ops.ZerosLike(fake)
	n := &game{made: made}
	n.judgeLoss = ops.AddV2(losses.SigmoidCrossEntropy(yes, real, 0), losses.SigmoidCrossEntropy(no, fake, 0))
	n.makerLoss = losses.SigmoidCrossEntropy(yes, fake, 0)
	// Each network is changed by its own loss alone.
	adam := train.Adam{LearningRate: 1e-3, Beta1: 0.5}
	n.trainJudge = adam.Minimize(n.judgeLoss, judge.variables()...)
	n.trainMaker = adam.Minimize(n.makerLoss, maker.variables()...)
	return n
}

// run plays the game and returns how far from the circle the points are that
// the maker makes, on average.
func run(ctx context.Context, out io.Writer) (float64, error) {
	g := tf.NewGraph()
	g.SetSeed(1)
	n := newGame(g)
	s, err := session.New(g)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		return 0, err
	}
	for i := range steps {
		if _, err := s.Run(ctx, nil, n.trainJudge); err != nil {
			return 0, err
		}
		v, err := s.Run(ctx, nil, n.judgeLoss, n.makerLoss, n.trainMaker)
		if err != nil {
			return 0, err
		}
		if (i+1)%500 == 0 {
			fmt.Fprintf(out, "step %d  loss of the judge %.3f, of the maker %.3f\n", i+1, tf.Data[float32](v[0])[0], tf.Data[float32](v[1])[0])
		}
	}
	v, err := s.Run(ctx, nil, n.made)
	if err != nil {
		return 0, err
	}
	points := tf.Data[float32](v[0])
	draw(out, points)
	return distance(points), nil
}

// distance is how far from the circle points are on average.
func distance(points []float32) (sum float64) {
	for i := 0; i < len(points); i += 2 {
		sum += math.Abs(math.Hypot(float64(points[i]), float64(points[i+1])) - 1)
	}
	return sum / float64(len(points)/2)
}

// draw shows points between -1.5 and 1.5.
func draw(out io.Writer, points []float32) {
	const rows, cols = 15, 31
	var plot [rows][cols]byte
	for y := range plot {
		copy(plot[y][:], strings.Repeat(".", cols))
	}
	for i := 0; i < len(points); i += 2 {
		x, y := int((points[i]+1.5)/3*cols), int((points[i+1]+1.5)/3*rows)
		if x >= 0 && x < cols && y >= 0 && y < rows {
			plot[y][x] = 'o'
		}
	}
	for y := range plot {
		fmt.Fprintf(out, "%s\n", plot[y][:])
	}
}
