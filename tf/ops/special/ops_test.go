package special_test

import (
	"embed"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

// The vocabulary of samples, in short.
type sample = optest.Sample

type tensors = []*core.Tensor

var (
	addSamples = optest.Add
	failing    = optest.Failing
	applied    = optest.Applied
	unary      = optest.Unary
	binary     = optest.Binary
	ternary    = optest.Ternary

	vec64 = optest.Vec[float64]
)

func vec(v ...float32) *core.Tensor { return optest.Vec(v...) }

// ends are where functions are not what they are elsewhere.
func ends() *core.Tensor {
	return vec64(math.Inf(-1), -40, -2.5, math.Copysign(0, -1), 0, math.Inf(1), math.NaN())
}

const notThere = "the function is not defined there"

// TestThreads: work is shared between threads, which changes nothing.
func TestThreads(t *testing.T) {
	x := optest.Positive(5000)
	optest.Threads(t,
		sample{Op: "BesselK1", In: tensors{x}, F: applied("BesselK1")},
		sample{Op: "Betainc", In: tensors{x, x, optest.Within(0, 1, 5000)}, F: applied("Betainc")})
}
