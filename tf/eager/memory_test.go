package eager_test

import (
	"runtime"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/train"
)

// heap returns the bytes that are in use once all garbage is gone.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// growth returns how much more memory is in use after f than before.
func growth(f func()) int64 {
	before := heap()
	f()
	return heap() - before
}

// slack is what the runtime itself may need meanwhile.
const slack = 1 << 20

func TestAMillionAdditionsInFlatMemory(t *testing.T) {
	const n = 1_000_000
	g := eager.New()
	x, one := ops.Const(g, []float32{0}, 1), ops.Const(g, []float32{1}, 1)
	grown := growth(func() {
		for range n {
			x = ops.Add(x, one)
		}
	})
	tftest.Elements(t, value(t, x), []float32{n})
	if grown > slack {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	runtime.KeepAlive(g)
}

func TestGraphsDoNotGrow(t *testing.T) {
	const n = 20_000 // of 100 bytes each would be twice the slack
	for name, step := range map[string]func(g *tf.Graph, x tf.Output, i int){
		"names":     func(g *tf.Graph, x tf.Output, i int) { ops.Neg(x, tf.Name("same")) },
		"scopes":    func(g *tf.Graph, x tf.Output, i int) { g.Scope("s", func() { ops.Neg(x) }) },
		"constants": func(g *tf.Graph, x tf.Output, i int) { ops.Const(g, []int64{int64(i)}, 1) },
		"failures":  func(g *tf.Graph, x tf.Output, i int) { tf.Apply(g, "Nonsense", []tf.Output{x}) },
		"seeds": func(g *tf.Graph, x tf.Output, i int) {
			tf.Apply(g, "RandomUniform", []tf.Output{ops.Const(g, []int32{1}, 1)}, tf.Attr("dtype", tf.Float32), tf.Attr("seed", i))
		},
		"tapes": func(g *tf.Graph, x tf.Output, i int) {
			var y tf.Output
			tape := eager.Record(g, func() { y = ops.Mul(x, x) })
			if _, err := tape.Gradients(y, x); err != nil {
				t.Error(err)
			}
		},
		"training": trainStep(),
	} {
		t.Run(name, func(t *testing.T) {
			g := eager.New()
			x := ops.Const(g, []float32{1, 2}, 2)
			for i := range 5000 { // fill what has a bound
				step(g, x, i)
			}
			if grown := growth(func() {
				for i := range n {
					step(g, x, 5000+i)
				}
			}); grown > slack {
				t.Errorf("the heap has grown by %d bytes", grown)
			}
			runtime.KeepAlive(g)
		})
	}
}

// trainStep returns a step that trains one variable, which the first makes.
func trainStep() func(g *tf.Graph, x tf.Output, i int) {
	var v *tf.Variable
	adam := train.Adam{LearningRate: 1e-3}
	return func(g *tf.Graph, x tf.Output, i int) {
		if v == nil {
			v = tf.NewVariable(x, tf.VariableOptions{Name: "v"})
		}
		var loss tf.Output
		tape := eager.Record(g, func() { loss = ops.Mul(v.Read(), v.Read()) })
		gvs, err := train.TapeGradients(tape, loss)
		if err == nil {
			_, err = adam.ApplyGradients(gvs)
		}
		if err != nil {
			panic(err)
		}
	}
}

func TestUnrecordedValuesAreDropped(t *testing.T) {
	const size = 1 << 20
	g := eager.New()
	x := tf.Apply(g, "Const", nil, tf.Attr("value", (*tf.Tensor)(core.NewTensor(tf.Uint8, tf.Shape{size}))), tf.Attr("dtype", tf.Uint8)).Output(0)
	if grown := growth(func() {
		for range 50 {
			x = ops.Add(x, x)
		}
	}); grown > 2*size {
		t.Errorf("a chain of 50 values of %d bytes holds %d bytes", size, grown)
	}
	runtime.KeepAlive(x)
}

// TestSlicesOutliveTheirTensors keeps only the elements of what was computed.
func TestSlicesOutliveTheirTensors(t *testing.T) {
	kept := func() []float32 {
		g := eager.New()
		x := ops.Const(g, []float32{1, 2, 3, 4}, 4)
		return tf.Data[float32](value(t, ops.Mul(x, x)))
	}()
	g := eager.New()
	junk := ops.Const(g, []float32{-1, -1, -1, -1}, 4)
	for range 100 {
		junk = ops.Mul(junk, junk)
		runtime.GC()
	}
	for i, want := range []float32{1, 4, 9, 16} {
		if kept[i] != want {
			t.Errorf("element %d became %v, want %v", i, kept[i], want)
		}
	}
}
