package optest

import (
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// Run runs all samples of a package of ops in all the ways there are: eagerly,
// as a graph, with unknown shapes, against TensorFlow's values, errors and
// gradients, and against a numeric gradient. It fails for an op of the package
// that has no sample, or another signature than TensorFlow's. Golden values
// are in the files testdata/golden/FAMILY.bin of files, which may be nil if
// TensorFlow has none of the ops: their samples say what they want.
//
// It is called by the test TestOps of the package beside the ops.
func Run(t *testing.T, files fs.FS) {
	own := opsOf(callersPackage())
	values := openGolden(t, files)
	for _, c := range []struct {
		name string
		test func(*testing.T, *suite)
	}{
		{"Complete", testComplete}, {"Export", testExport}, {"Signatures", testSignatures}, {"Samples", testSamples}, {"Gradients", testGradients},
		{"NumericGradients", testNumericGradients}, {"LoneGradients", testLoneGradients}, {"Reuse", testReuse}, {"Robust", testRobust}, {"Scribble", testScribble},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, &suite{own, values}) })
	}
}

// A suite is what the tests of a package's ops need to know.
type suite struct {
	ops    []string // names of the package's ops
	golden golden
}

// callersPackage returns the import path of the package whose tests call Run.
func callersPackage() string {
	pc, _, _, _ := runtime.Caller(2)
	name := runtime.FuncForPC(pc).Name()
	pkg, _, _ := strings.Cut(name, ".Test")
	return strings.TrimSuffix(pkg, "_test")
}

// opsOf returns the names of the ops that a package has registered.
func opsOf(pkg string) []string {
	return slices.DeleteFunc(core.OpNames(), func(op string) bool { return core.Lookup(op).Package() != pkg })
}

// testComplete keeps ops from being forgotten.
func testComplete(t *testing.T, s *suite) {
	if len(s.ops) == 0 {
		t.Error("the package has no ops")
	}
	have := map[string]bool{}
	for i := range samples {
		have[samples[i].Op] = true
		if core.Lookup(samples[i].Op) == nil {
			t.Errorf("sample %s is of no registered op", samples[i].id())
		}
	}
	for _, name := range s.ops {
		switch {
		case !have[name] && unsampled[name] == "":
			t.Errorf("op %s has no sample", name)
		case have[name] && unsampled[name] != "":
			t.Errorf("op %s has samples and a reason for none", name)
		}
	}
	ids := map[string]bool{}
	for _, c := range s.trials() {
		if ids[c.id] {
			t.Errorf("two samples are named %s", c.id)
		}
		ids[c.id] = true
	}
}
