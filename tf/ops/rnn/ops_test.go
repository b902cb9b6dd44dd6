package rnn_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

// The vocabulary of samples, in short.
type (
	sample  = optest.Sample
	tensors = []*core.Tensor
)

var (
	addSamples = optest.Add
	applied    = optest.Applied

	i32    = optest.I32
	within = optest.Within
)
