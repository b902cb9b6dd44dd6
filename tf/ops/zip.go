package ops

import (
	"slices"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// zip returns the loops of an operation that has one form only.
func zip[T any](f func(z, x, y []T)) elementwise.Loops[T, T] { return elementwise.Loops[T, T]{Zip: f} }

// zipKernel computes output 0 from inputs 0 and 1, broadcast.
func zipKernel[R, T tf.Elem](l elementwise.Loops[R, T]) core.NewKernel { return checkedZip(l, nil) }

// checkedZip is zipKernel for operations that some values of y are refused for.
func checkedZip[R, T tf.Elem](l elementwise.Loops[R, T], check func(y []T) error) core.NewKernel {
	result, operand := tf.TypeOf[R](), tf.TypeOf[T]()
	loop, columns := zipLoop(l), core.BroadcastColumns(l.Zip, l.ScalarX, l.ScalarY)
	return func(*core.Node) (core.Kernel, error) {
		var plans broadcastPlans
		run := core.Compute(func(c *core.OpContext) error {
			b, err := plans.get(c.Input(0).Shape(), c.Input(1).Shape())
			if err != nil {
				return err
			}
			x, y := core.Data[T](c.Input(0)), core.Data[T](c.Input(1))
			if check != nil && b.Len > 0 {
				if err := check(y); err != nil {
					return err
				}
			}
			out, err := zipOutput(c, result, b.Shape, result == operand)
			if err != nil {
				return err
			}
			elementwise.ZipBroadcast(c.ParallelFor, b, core.Data[R](out), x, y, l)
			return nil
		})
		if check != nil {
			return run, nil
		}
		k := &core.ElementKernel{Compute: run, Shape: core.BroadcastOf, Loop: loop, Columns: columns, Repeats: l.ScalarX != nil && l.ScalarY != nil, Lanes: l.Lanes}
		return withColumn(k, l.Column, result, operand), nil
	}
}

// zipLoop returns the loop of operations whose loops are l.
func zipLoop[R, T tf.Elem](l elementwise.Loops[R, T]) core.Loop {
	return core.BroadcastLoop(l.Zip, l.ScalarX, l.ScalarY)
}

// withColumn makes a kernel of float32 compute rows, of which an operand may have one element each,
// by a loop over all of them, if there is one. It is not copied into the kernels of all types.
//
//go:noinline
func withColumn(k *core.ElementKernel, c elementwise.Column, r, t tf.DType) *core.ElementKernel {
	if r != tf.Float32 || t != tf.Float32 {
		return k
	}
	each := k.Columns
	k.Columns = func(z []byte, in []core.Operand, n int) {
		x, y := core.Elements[float32](in[0].Data), core.Elements[float32](in[1].Data)
		if !c.Rows(core.Elements[float32](z), x, in[0].Repeated, y, in[1].Repeated, n) {
			each(z, in, n)
		}
	}
	return k
}

// zipOutput allocates the result, in the place of an operand of its size if
// one is needed no more.
func zipOutput(c *core.OpContext, d tf.DType, s tf.Shape, inPlace bool) (*core.Tensor, error) {
	if inPlace && c.Last != nil {
		for i := range 2 {
			if c.Last[i] && c.Input(i).Len() == s.NumElements() {
				return c.AllocFrom(i, 0, d, s)
			}
		}
	}
	return c.Alloc(0, d, s)
}

// broadcastPlans remembers the plan for the shapes that came last: in a
// training loop they are the same every time.
type broadcastPlans struct{ last atomic.Pointer[broadcastPlan] }

type broadcastPlan struct {
	x, y tf.Shape
	b    *elementwise.Broadcast
}

func (p *broadcastPlans) get(x, y tf.Shape) (*elementwise.Broadcast, error) {
	if l := p.last.Load(); l != nil && slices.Equal(l.x, x) && slices.Equal(l.y, y) {
		return l.b, nil
	}
	x, y = x.Clone(), y.Clone()
	s, ok := tf.BroadcastShapes(x, y)
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "Incompatible shapes: %s vs. %s", x.String(), y.String())
	}
	if err := core.CheckSize(tf.Complex128, s); err != nil {
		return nil, err
	}
	b, _ := elementwise.NewBroadcast(x, y)
	p.last.Store(&broadcastPlan{x, y, b})
	return b, nil
}

func floatZips(f32 elementwise.Loops[float32, float32], f64 elementwise.Loops[float64, float64]) byType {
	return byType{
		tf.Float32: zipKernel(f32), tf.Float64: zipKernel(f64),
		tf.Float16: zipKernel(elementwise.WidenLoops[tf.Half](f32)), tf.BFloat16: zipKernel(elementwise.WidenLoops[tf.BF16](f32)),
	}
}

// roundedZips are kernels of two operations for 16-bit floats. TensorFlow rounds the result of the
// first one, f.
func roundedZips(f func(z, x, y []float32), then func(y, x []float32)) byType {
	return byType{tf.Float16: zipKernel(zip(rounded[tf.Half](f, then))), tf.BFloat16: zipKernel(zip(rounded[tf.BF16](f, then)))}
}

func rounded[H numeric.HalfFloat](f func(z, x, y []float32), then func(y, x []float32)) func(z, x, y []H) {
	return func(z, x, y []H) { elementwise.WidenRounded(z, x, y, f, then) }
}

func signedZips(i8 elementwise.Loops[int8, int8], i16 elementwise.Loops[int16, int16], i32 elementwise.Loops[int32, int32], i64 elementwise.Loops[int64, int64]) byType {
	return byType{tf.Int8: zipKernel(i8), tf.Int16: zipKernel(i16), tf.Int32: zipKernel(i32), tf.Int64: zipKernel(i64)}
}

func unsignedZips(u8 elementwise.Loops[uint8, uint8], u16 elementwise.Loops[uint16, uint16], u32 elementwise.Loops[uint32, uint32], u64 elementwise.Loops[uint64, uint64]) byType {
	return byType{tf.Uint8: zipKernel(u8), tf.Uint16: zipKernel(u16), tf.Uint32: zipKernel(u32), tf.Uint64: zipKernel(u64)}
}

func complexZips(c64 elementwise.Loops[complex64, complex64], c128 elementwise.Loops[complex128, complex128]) byType {
	return byType{tf.Complex64: zipKernel(c64), tf.Complex128: zipKernel(c128)}
}
