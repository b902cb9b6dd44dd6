package ops

import (
	"maps"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// The lists of types that signatures repeat, in TensorFlow's notation.
const (
	floatTypes    = "bfloat16, half, float, double"
	complexTypes  = "complex64, complex128"
	inexactTypes  = floatTypes + ", " + complexTypes
	signedTypes   = "int8, int16, int32, int64"
	unsignedTypes = "uint8, uint16, uint32, uint64"
)

// byType holds the kernels of an op by the value of its type attribute.
type byType = map[tf.DType]core.NewKernel

// merge joins sets of kernels.
func merge(sets ...byType) byType {
	all := byType{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

// elementGrain is the least number of elements worth a task of their own.
const elementGrain = 16 << 10

// stateless returns the factory of a kernel that reads no attributes.
func stateless(k core.Compute) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) { return k, nil }
}

// perElement returns the factory of an ElementKernel that reads no attributes, for loops
// without forms for operands that are repeated.
func perElement(k core.Compute, shape func(*core.Node, []tf.Shape) (tf.Shape, error), loop core.Loop) core.NewKernel {
	e := &core.ElementKernel{Compute: k, Shape: shape, Loop: loop}
	return func(*core.Node) (core.Kernel, error) { return e, nil }
}

// inLanes gives ElementKernels for elements of type d their form in machine code.
func inLanes(d tf.DType, l machine.Lanes, k byType) byType {
	k[d] = withLanes(l, k[d])
	return k
}

func withLanes(l machine.Lanes, k core.NewKernel) core.NewKernel {
	return changed(k, func(e *core.ElementKernel) { e.Lanes = l })
}

// laneMaps are floatMaps of an operation that float32 has in machine code, which kernels run, too.
func laneMaps(l machine.Lanes, f32 func(y, x []float32), f64 func(y, x []float64)) byType {
	return inLanes(tf.Float32, l, floatMaps(elementwise.CompiledMap(l, f32), f64))
}

// laneGates are floatGates of such an operation.
func laneGates(l machine.Lanes, f32 func(z, x, y []float32), f64 func(z, x, y []float64)) byType {
	return inLanes(tf.Float32, l, floatGates(elementwise.CompiledZip(l, f32), f64))
}

// laneTests are floatTests of such an operation.
func laneTests(l machine.Lanes, f32 func(y []bool, x []float32), f64 func(y []bool, x []float64)) byType {
	return inLanes(tf.Float32, l, floatTests(elementwise.CompiledMap(l, f32), f64))
}

// rectifiers says that kernels for float32 are those of a rectifier, or of its gradient.
func rectifiers(most float64, k byType) byType {
	r := &core.Rectifier{Most: float32(most)}
	k[tf.Float32] = changed(k[tf.Float32], func(e *core.ElementKernel) { e.Rectifies = r })
	return k
}

// changed returns a factory of ElementKernels like k's, but for what change does.
func changed(k core.NewKernel, change func(*core.ElementKernel)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		made, err := k(n)
		e, ok := made.(*core.ElementKernel)
		if !ok {
			return made, err
		}
		with := *e // which several nodes may share
		change(&with)
		return &with, err
	}
}

// mapKernel computes output 0 from input 0, element by element, in place if
// the input is needed no more.
func mapKernel[T tf.Elem](f func(y, x []T)) core.NewKernel {
	return perElement(func(c *core.OpContext) error {
		in := c.Input(0)
		x := core.Data[T](in)
		out, err := c.AllocFrom(0, 0, in.DType(), in.Shape())
		if err != nil {
			return err
		}
		y := core.Data[T](out)
		c.ParallelFor(len(y), elementGrain, func(lo, hi int) { f(y[lo:hi], x[lo:hi]) })
		return nil
	}, core.SameAsInput, core.MapLoop(f))
}

// mapToKernel is mapKernel with a result of type R.
func mapToKernel[R, T tf.Elem](f func(y []R, x []T)) core.NewKernel {
	return perElement(func(c *core.OpContext) error {
		in := c.Input(0)
		out, err := c.Alloc(0, tf.TypeOf[R](), in.Shape())
		if err != nil {
			return err
		}
		x, y := core.Data[T](in), core.Data[R](out)
		c.ParallelFor(len(y), elementGrain, func(lo, hi int) { f(y[lo:hi], x[lo:hi]) })
		return nil
	}, core.SameAsInput, core.MapLoop(f))
}

// floatMaps returns map kernels for the floating-point types. 16-bit ones are
// computed in float32.
func floatMaps(f32 func(y, x []float32), f64 func(y, x []float64)) byType {
	return byType{
		tf.Float32: mapKernel(f32), tf.Float64: mapKernel(f64),
		tf.Float16:  mapKernel(func(y, x []tf.Half) { elementwise.Widen1(y, x, f32) }),
		tf.BFloat16: mapKernel(func(y, x []tf.BF16) { elementwise.Widen1(y, x, f32) }),
	}
}

// floatTests returns map kernels from the floating-point types to bool.
func floatTests(f32 func(y []bool, x []float32), f64 func(y []bool, x []float64)) byType {
	return byType{
		tf.Float32: mapToKernel(f32), tf.Float64: mapToKernel(f64),
		tf.Float16:  mapToKernel(widenTest[tf.Half](f32)),
		tf.BFloat16: mapToKernel(widenTest[tf.BF16](f32)),
	}
}

func widenTest[H numeric.HalfFloat](f func(y []bool, x []float32)) func(y []bool, x []H) {
	return func(y []bool, x []H) {
		elementwise.WidenTo(y, x, x, func(y []bool, x, _ []float32) { f(y, x) })
	}
}

// signedMaps returns map kernels for the signed integers.
func signedMaps(i8 func(y, x []int8), i16 func(y, x []int16), i32 func(y, x []int32), i64 func(y, x []int64)) byType {
	return byType{tf.Int8: mapKernel(i8), tf.Int16: mapKernel(i16), tf.Int32: mapKernel(i32), tf.Int64: mapKernel(i64)}
}

// unsignedMaps returns map kernels for the unsigned integers.
func unsignedMaps(u8 func(y, x []uint8), u16 func(y, x []uint16), u32 func(y, x []uint32), u64 func(y, x []uint64)) byType {
	return byType{tf.Uint8: mapKernel(u8), tf.Uint16: mapKernel(u16), tf.Uint32: mapKernel(u32), tf.Uint64: mapKernel(u64)}
}

// complexMaps returns map kernels for the complex types.
func complexMaps(c64 func(y, x []complex64), c128 func(y, x []complex128)) byType {
	return byType{tf.Complex64: mapKernel(c64), tf.Complex128: mapKernel(c128)}
}

// complexFunc returns map kernels that compute f in complex128.
func complexFunc(f func(complex128) complex128) byType {
	return complexMaps(
		func(y, x []complex64) { elementwise.MapComplex128(y, x, f) },
		func(y, x []complex128) { elementwise.MapComplex128(y, x, f) })
}

// floatFunc returns map kernels that compute f in float64.
func floatFunc(f func(float64) float64) byType {
	return floatMaps(
		func(y, x []float32) { elementwise.MapFloat64(y, x, f) },
		func(y, x []float64) { elementwise.MapFloat64(y, x, f) })
}

// inFloat64 is floatFunc with a loop for float32, and for what is computed in it.
func inFloat64(f32 func(y, x []float32), f func(float64) float64) byType {
	return floatMaps(f32, func(y, x []float64) { elementwise.MapFloat64(y, x, f) })
}
