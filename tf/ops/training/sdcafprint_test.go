package training_test

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	f := optest.Applied("SdcaFprint")
	var all []string
	for _, n := range []int{0, 1, 3, 4, 7, 8, 15, 16, 17, 23, 24, 31, 32, 33, 47, 48, 49, 64, 100, 127, 128, 143, 144, 145, 160, 200, 271, 272, 273, 400, 1000} {
		all = append(all, strings.Repeat("abcdefghijklmnopqrstuvwxyz+0123456789", n/37+1)[:n])
	}
	addSamples(
		sample{Op: "SdcaFprint", In: []*core.Tensor{arr(tf.Shape{len(all)}, all...)}, F: f, Types: onlyOwn},
		optest.Failing("SdcaFprint", "matrix", f, arr(tf.Shape{1, 2}, "a", "b")))
}
