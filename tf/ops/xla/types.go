package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

var dtypes = map[stablehlo.Elem]tf.DType{"f32": tf.Float32}
