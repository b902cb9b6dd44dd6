package optest

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Sample is one use of an op.
type Sample struct {
	Op   string
	Name string // tells the samples of one op apart
	In   []*core.Tensor
	F    func(g *tf.Graph, in []tf.Output) []tf.Output

	// Want are the results, for ops that TensorFlow does not have.
	Want []*core.Tensor
	// Fails says that TensorFlow refuses the inputs at run time. Its words
	// have to be ours.
	Fails bool
	// Refused is part of the error of a sample that Fails, for ops that TensorFlow
	// does not have.
	Refused string
	// Tol is the tolerance against TensorFlow, for results that it computes
	// less exactly than we do; 0 is the default of the type.
	Tol float64
	// Types are further types to run the sample with: those of the op's
	// kernels if nil, for the first sample of an op.
	Types []tf.DType
	// GraphOnly gives the reason why there is no eager form.
	GraphOnly string
	// NoGolden gives the reason why TensorFlow cannot compute the sample.
	NoGolden string
	// Static gives the reason why TensorFlow has to know the shapes.
	Static string
	// Rough gives the reason why the numeric gradient does not apply.
	Rough string

	family string // the test file that adds it, which has golden values of its own
}

// OnlyOwn is for samples that are not to be run with other types.
var OnlyOwn = []tf.DType{}

var samples []Sample

// Add adds samples to those that Run runs. It is for the init functions of test
// files beside the ops.
func Add(s ...Sample) {
	_, file, _, _ := runtime.Caller(1)
	for i := range s {
		s[i].family = strings.TrimSuffix(path.Base(filepath.ToSlash(file)), "_test.go")
	}
	samples = append(samples, s...)
}

// own reports whether the sample is of an op that TensorFlow does not have, so that
// it says itself what is right.
func (s *Sample) own() bool { return s.Want != nil || s.Refused != "" }

// unsampled lists the ops that no sample can use by themselves, with the
// reason.
var unsampled = map[string]string{}

// Unsampled says why there can be no sample of an op.
func Unsampled(op, why string) { unsampled[op] = why }

// A trial is a sample with inputs of definite types.
type trial struct {
	*Sample
	id     string
	In     []*core.Tensor
	golden golden
}

// trials returns all samples in all types they are to be run with.
func (su *suite) trials() (all []trial) {
	seen := map[string]bool{}
	for i := range samples {
		s := &samples[i]
		all = append(all, trial{s, s.id(), s.In, su.golden})
		for _, d := range s.otherTypes(!seen[s.Op]) {
			all = append(all, trial{s, s.id() + "@" + d.String(), s.retyped(d), su.golden})
		}
		seen[s.Op] = true
	}
	slices.SortStableFunc(all, func(a, b trial) int { return strings.Compare(a.id, b.id) })
	return all
}

func (s *Sample) id() string {
	if s.Name == "" {
		return s.Op
	}
	return s.Op + "/" + s.Name
}

// base returns the type that other types replace: that of the first input.
func (s *Sample) base() tf.DType {
	if len(s.In) == 0 {
		return tf.Invalid
	}
	return s.In[0].DType()
}

func (s *Sample) otherTypes(first bool) []tf.DType {
	def := core.Lookup(s.Op)
	if s.Types != nil || !first || def == nil {
		return s.Types
	}
	var types []tf.DType
	for d := range def.Kernels.By {
		if d != s.base() && hasElements(d) {
			types = append(types, d)
		}
	}
	slices.Sort(types)
	return types
}

// retyped returns the inputs with those of the base type converted to d.
func (s *Sample) retyped(d tf.DType) []*core.Tensor {
	out := slices.Clone(s.In)
	for i, t := range out {
		if t.DType() == s.base() {
			out[i] = Convert(t, d)
		}
	}
	return out
}
