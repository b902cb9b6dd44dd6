package debug_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/debug"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

// The vocabulary of samples, in short.
type sample = optest.Sample

var (
	addSamples = optest.Add
	failing    = optest.Failing
	unary      = optest.Unary
	onlyOwn    = optest.OnlyOwn

	seq = optest.Seq
)

func vec[T tf.Elem](v ...T) *core.Tensor { return optest.Vec(v...) }
