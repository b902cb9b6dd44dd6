package signal_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
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

	seq = optest.Seq
	i32 = optest.I32
)

// spectra returns complex numbers.
func spectra(s ...int) *core.Tensor { return optest.Convert(seq(s...), tf.Complex64) }

// TestThreads: work is shared between threads, which changes nothing.
func TestThreads(t *testing.T) {
	optest.Threads(t, sample{Op: "FFT2D", In: tensors{spectra(20, 64, 60)}, F: applied("FFT2D")})
}
