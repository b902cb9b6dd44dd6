package ops_test

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A sample is one use of an op. The test files beside the ops add samples; the
// tests in this package run every sample in all the ways there are: eagerly, as
// a graph, with unknown shapes, against TensorFlow's values, errors and
// gradients, and against a numeric gradient.
type sample struct {
	op     string
	name   string // tells the samples of one op apart
	family string // the test file that adds it, which has golden values of its own
	in     []*tf.Tensor
	f      func(g *tf.Graph, in []tf.Output) []tf.Output

	// fails says that TensorFlow refuses the inputs at run time. Its words
	// have to be ours.
	fails bool
	// tol is the tolerance against TensorFlow, for results that it computes
	// less exactly than we do; 0 is the default of the type.
	tol float64
	// types are further types to run the sample with: those of the op's
	// kernels if nil, for the first sample of an op.
	types []tf.DType
	// graphOnly gives the reason why there is no eager form.
	graphOnly string
	// noGolden gives the reason why TensorFlow cannot compute the sample.
	noGolden string
	// static gives the reason why TensorFlow has to know the shapes.
	static string
	// rough gives the reason why the numeric gradient does not apply.
	rough string
}

// onlyOwn is for samples that are not to be run with other types.
var onlyOwn = []tf.DType{}

var samples []sample

func addSamples(s ...sample) {
	_, file, _, _ := runtime.Caller(1)
	for i := range s {
		s[i].family = strings.TrimSuffix(path.Base(filepath.ToSlash(file)), "_test.go")
	}
	samples = append(samples, s...)
}

// unsampled lists the ops that no sample can use by themselves, with the
// reason.
var unsampled = map[string]string{}

// unary makes the function of a sample from that of an op with one input.
func unary(f func(x tf.Output, opts ...tf.Option) tf.Output, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0], opts...)} }
}

// binary makes the function of a sample from that of an op with two inputs.
func binary(f func(x, y tf.Output, opts ...tf.Option) tf.Output, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0], in[1], opts...)} }
}

// ternary makes the function of a sample from that of an op with three inputs.
func ternary(f func(x, y, z tf.Output, opts ...tf.Option) tf.Output, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0], in[1], in[2], opts...)} }
}

// applied makes the function of a sample that adds an op by its name.
func applied(op string, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		o := tf.Apply(g, op, in, opts...)
		if o.Err() != nil {
			return []tf.Output{o.Output(0)}
		}
		return o.Outputs()
	}
}

// vec returns a vector.
func vec[T tf.Elem](v ...T) *tf.Tensor { return arr(tf.Shape{len(v)}, v...) }

// mat returns a matrix with rows of n elements.
func mat[T tf.Elem](n int, v ...T) *tf.Tensor { return arr(tf.Shape{len(v) / n, n}, v...) }

// arr returns a tensor of the given shape.
func arr[T tf.Elem](s tf.Shape, v ...T) *tf.Tensor {
	t := tf.NewTensor(tf.TypeOf[T](), s)
	if copy(tf.Data[T](t), v) != t.Len() {
		panic(fmt.Sprintf("%d values for shape %v", len(v), s))
	}
	return t
}

// seq returns float32 numbers of both signs, none of them an integer and no
// two equal, of the given shape.
func seq(s ...int) *tf.Tensor {
	t := tf.NewTensor(tf.Float32, append(tf.Shape{}, s...))
	for i := range tf.Data[float32](t) {
		tf.Data[float32](t)[i] = float32(i*37%101)/16 - 2.97
	}
	return t
}

// positive is seq with numbers greater than 0.
func positive(s ...int) *tf.Tensor {
	t := seq(s...)
	for i, v := range tf.Data[float32](t) {
		tf.Data[float32](t)[i] = v + 3.5
	}
	return t
}

// A trial is a sample with inputs of definite types.
type trial struct {
	*sample
	id string
	in []*tf.Tensor
}

// trials returns all samples in all types they are to be run with.
func trials() (all []trial) {
	seen := map[string]bool{}
	for i := range samples {
		s := &samples[i]
		all = append(all, trial{s, s.id(), s.in})
		for _, d := range s.otherTypes(!seen[s.op]) {
			all = append(all, trial{s, s.id() + "@" + d.String(), s.retyped(d)})
		}
		seen[s.op] = true
	}
	slices.SortStableFunc(all, func(a, b trial) int { return strings.Compare(a.id, b.id) })
	return all
}

func (s *sample) id() string {
	if s.name == "" {
		return s.op
	}
	return s.op + "/" + s.name
}

// base returns the type that other types replace: that of the first input.
func (s *sample) base() tf.DType {
	if len(s.in) == 0 {
		return tf.Invalid
	}
	return s.in[0].DType()
}

func (s *sample) otherTypes(first bool) []tf.DType {
	def := tf.Lookup(s.op)
	if s.types != nil || !first || def == nil {
		return s.types
	}
	var types []tf.DType
	for d := range def.Kernels.By {
		if d != s.base() && ops.ElementSize(d) > 0 {
			types = append(types, d)
		}
	}
	slices.Sort(types)
	return types
}

// retyped returns the inputs with those of the base type converted to d.
func (s *sample) retyped(d tf.DType) []*tf.Tensor {
	out := slices.Clone(s.in)
	for i, t := range out {
		if t.DType() == s.base() {
			out[i] = convert(t, d)
		}
	}
	return out
}

// convert returns t with elements of type d. Unsigned types get absolute
// values, complex ones an imaginary part.
func convert(t *tf.Tensor, d tf.DType) *tf.Tensor {
	out := tf.NewTensor(d, t.Shape())
	vals := make([]float64, t.Len())
	if !kernel.Cast(vals, elements(t)) {
		return out
	}
	for i, v := range vals {
		switch {
		case d == tf.String:
			tf.Data[string](out)[i] = fmt.Sprint(v)
		case d == tf.Uint8 || d == tf.Uint16 || d == tf.Uint32 || d == tf.Uint64 || d == tf.QUint8 || d == tf.QUint16:
			vals[i] = max(v, -v)
		}
	}
	if d.IsComplex() {
		z := make([]complex128, len(vals))
		for i, v := range vals {
			z[i] = complex(v, 0.5-v/4)
		}
		kernel.Cast(elements(out), z)
		return out
	}
	kernel.Cast(elements(out), vals)
	return out
}

// elements returns the elements of t as a slice of their type.
func elements(t *tf.Tensor) any { return ops.Elements(t) }

// TestEveryOpHasSamples keeps ops from being forgotten.
func TestEveryOpHasSamples(t *testing.T) {
	have := map[string]bool{}
	for i := range samples {
		have[samples[i].op] = true
		if tf.Lookup(samples[i].op) == nil {
			t.Errorf("sample %s is of no registered op", samples[i].id())
		}
	}
	for _, name := range tf.OpNames() {
		switch {
		case !have[name] && unsampled[name] == "":
			t.Errorf("op %s has no sample", name)
		case have[name] && unsampled[name] != "":
			t.Errorf("op %s has samples and a reason for none", name)
		}
	}
	ids := map[string]bool{}
	for _, c := range trials() {
		if ids[c.id] {
			t.Errorf("two samples are named %s", c.id)
		}
		ids[c.id] = true
	}
}
