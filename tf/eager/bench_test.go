package eager_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

func scalar(g *tf.Graph, v float32) tf.Output {
	return tf.Apply(g, "Const", nil, tf.Attr("value", tf.Scalar(v)), tf.Attr("dtype", tf.Float32)).Output(0)
}

func BenchmarkScalarAdd(b *testing.B) {
	g := eager.New()
	x, one := scalar(g, 0), scalar(g, 1)
	b.ReportAllocs()
	for b.Loop() {
		x = ops.Add(x, one)
	}
	if x.Err() != nil {
		b.Fatal(x.Err())
	}
}

func BenchmarkMatMulWithOptions(b *testing.B) {
	g := eager.New()
	m, err := tf.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	if err != nil {
		b.Fatal(err)
	}
	x := tf.Apply(g, "Const", nil, tf.Attr("value", m), tf.Attr("dtype", tf.Float32)).Output(0)
	b.ReportAllocs()
	for b.Loop() {
		if y := ops.MatMul(x, x, ops.MatMulOpts{TransposeB: true}); y.Err() != nil {
			b.Fatal(y.Err())
		}
	}
}
