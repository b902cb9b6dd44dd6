package image_test

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

var (
	addSamples = optest.Add
	failing    = optest.Failing
	applied    = optest.Applied
	unary      = optest.Unary
	binary     = optest.Binary

	i32    = optest.I32
	seq    = optest.Seq
	within = optest.Within
)

func arr[T tf.Elem](s tf.Shape, v ...T) *core.Tensor { return optest.Arr(s, v...) }
func scalar[T tf.Elem](v T) *core.Tensor             { return core.Scalar(v) }

type tensors = []*core.Tensor
