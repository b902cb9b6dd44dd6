package gorge_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/image"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/ops/signal"
	"github.com/gorge-tf/gorge/tf/ops/summary"
)

// TestMistakesOfInlinedCalls: an error names the program's line where the compiler puts a function
// of the library into the program's, with its closures. This package's name begins as those of
// programs do, and not as the library's packages.
func TestMistakesOfInlinedCalls(t *testing.T) {
	for name, build := range map[string]func(g *tf.Graph, x tf.Output){
		"crop":     func(g *tf.Graph, x tf.Output) { image.CentralCrop(x, 3) },
		"distance": func(g *tf.Graph, x tf.Output) { losses.CosineDistance(x, x, 9) },
		"summary":  func(g *tf.Graph, x tf.Output) { summary.Histogram("words", ops.Const(g, []string{"a"})) },
		"frame":    func(g *tf.Graph, x tf.Output) { signal.Frame(x, 2, -1, false) },
		"pinv":     func(g *tf.Graph, x tf.Output) { linalg.Pinv(ops.Const(g, []string{"a"}), -1) },
		"scaling": func(g *tf.Graph, x tf.Output) {
			initializers.VarianceScaling(-1, initializers.FanIn, initializers.Uniform)(g, tf.Float32, tf.Shape{2, 2})
		},
	} {
		g := tf.NewGraph()
		build(g, ops.Const(g, make([]float32, 12), 2, 2, 3))
		if err := g.Err(); err == nil || !strings.HasPrefix(err.Error(), "place_test.go:") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
