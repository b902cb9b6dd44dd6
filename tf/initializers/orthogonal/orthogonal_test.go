package orthogonal_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers/orthogonal"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// TestNumbers: equal seeds give TensorFlow 2.21's numbers; the graph's is 1.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		gain  float64
		seed  []int64
		shape tf.Shape
		want  []float32
	}{
		{1, nil, tf.Shape{3, 2}, []float32{0.3636990785598755, -0.1893864870071411, 0.4987351596355438, -0.7873682975769043, -0.7867567539215088, -0.5866717100143433}},
		{1.5, []int64{7}, tf.Shape{2, 1, 3}, []float32{-1.1546738147735596, -0.718435525894165, 0.6329132318496704, -0.5002467632293701, -0.3927723169326782, -1.358485460281372}},
	} {
		g := tf.NewGraph()
		g.SetSeed(1)
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		out, err := s.Run(t.Context(), nil, orthogonal.New(c.gain, c.seed...)(g, tf.Float32, c.shape))
		if err != nil {
			t.Fatal(err)
		}
		tftest.Elements(t, out[0], c.want, tftest.Within(3e-7, 3e-7))
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		d tf.DType
		s tf.Shape
	}{{tf.Float32, tf.Shape{3}}, {tf.String, tf.Shape{3, 3}}} {
		if y := orthogonal.New(1)(tf.NewGraph(), c.d, c.s); tf.CodeOf(y.Err()) != tf.InvalidArgument {
			t.Errorf("%v%v: %v", c.d, c.s, y.Err())
		}
	}
}
