package rnn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
)

// scored is a cell whose scores are its inputs.
type scored int

func (scored) StateSize() []int { return []int{1} }

func (n scored) OutputSize() int { return int(n) }

func (scored) Step(x tf.Output, s rnn.State) (tf.Output, rnn.State) { return x, s }

// A beamCase is a Markov chain and what TensorFlow 1.15 finds in it. See
// testdata/beams.py.
type beamCase struct {
	Kind                      string
	Words, Width, Steps, Time int
	Table                     []float32
	Starts, IDs, Lengths      []int32
	Norm                      float64
	Scores                    []float64
}

func (c *beamCase) decode(g *tf.Graph) rnn.Beams {
	table, zero := ops.Const(g, c.Table, c.Words, c.Words), ops.Scalar(g, float32(0))
	d := &rnn.BeamDecoder{
		Cell: scored(c.Words), Embed: func(ids tf.Output) tf.Output { return ops.Gather(table, ids, 0) },
		Starts: ops.Const(g, c.Starts), Classes: c.Words, Width: c.Width, LengthNorm: c.Norm,
		Initial: rnn.TileBatch(rnn.State{ops.Fill([]int{len(c.Starts), 1}, zero)}, c.Width),
	}
	return d.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(c.Steps))})
}

// scoreNear: scores of sequences that cannot be are -inf, -1e30 in the file.
func scoreNear(got float32, want float64) bool {
	return math.Abs(math.Max(float64(got), -1e30)-want) <= 1e-5*(1+math.Abs(want))
}

// TestBeamsOfTensorFlow: the same sequences in the same order as TensorFlow finds,
// where one input has long ended, where scores are equal, where the beam is wider
// than there are words, and without a step.
func TestBeamsOfTensorFlow(t *testing.T) {
	text, err := os.ReadFile("testdata/beams.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []beamCase
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for i, c := range all {
		t.Run(fmt.Sprint(c.Kind, i), func(t *testing.T) {
			g := tf.NewGraph()
			b := c.decode(g)
			out, err := open(t, g).Run(t.Context(), nil, b.IDs, b.Scores, b.Lengths)
			if err != nil {
				t.Fatal(err)
			}
			if ids := tf.Data[int32](out[0]); out[0].Dim(1) != c.Time || !slices.Equal(ids, c.IDs) {
				t.Errorf("width %d, penalty %v: ids %v %v, want %v", c.Width, c.Norm, out[0].Shape(), ids, c.IDs)
			}
			for i, want := range c.Scores {
				if got := tf.Data[float32](out[1])[i]; !scoreNear(got, want) {
					t.Errorf("score %d is %v, want %v", i, got, want)
				}
			}
			if lengths := tf.Data[int32](out[2]); !slices.Equal(lengths, c.Lengths) {
				t.Errorf("lengths %v, want %v", lengths, c.Lengths)
			}
		})
	}
}
