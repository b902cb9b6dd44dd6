// Package all imports every package of operations, for programs that run
// graphs which others have built: servers, and programs that import GraphDefs.
package all

import (
	_ "github.com/gorge-tf/gorge/tf/ops" // registers
	_ "github.com/gorge-tf/gorge/tf/ops/batch"
	_ "github.com/gorge-tf/gorge/tf/ops/boosted"
	_ "github.com/gorge-tf/gorge/tf/ops/checkpoint"
	_ "github.com/gorge-tf/gorge/tf/ops/cluster"
	_ "github.com/gorge-tf/gorge/tf/ops/collective"
	_ "github.com/gorge-tf/gorge/tf/ops/data"
	_ "github.com/gorge-tf/gorge/tf/ops/debug"
	_ "github.com/gorge-tf/gorge/tf/ops/image"
	_ "github.com/gorge-tf/gorge/tf/ops/io"
	_ "github.com/gorge-tf/gorge/tf/ops/linalg"
	_ "github.com/gorge-tf/gorge/tf/ops/lookup"
	_ "github.com/gorge-tf/gorge/tf/ops/parsing"
	_ "github.com/gorge-tf/gorge/tf/ops/quantize"
	_ "github.com/gorge-tf/gorge/tf/ops/quantize/uniform"
	_ "github.com/gorge-tf/gorge/tf/ops/queue"
	_ "github.com/gorge-tf/gorge/tf/ops/ragged"
	_ "github.com/gorge-tf/gorge/tf/ops/random"
	_ "github.com/gorge-tf/gorge/tf/ops/rnn"
	_ "github.com/gorge-tf/gorge/tf/ops/sessionstate"
	_ "github.com/gorge-tf/gorge/tf/ops/signal"
	_ "github.com/gorge-tf/gorge/tf/ops/sparse"
	_ "github.com/gorge-tf/gorge/tf/ops/special"
	_ "github.com/gorge-tf/gorge/tf/ops/stage"
	_ "github.com/gorge-tf/gorge/tf/ops/summary"
	_ "github.com/gorge-tf/gorge/tf/ops/text"
	_ "github.com/gorge-tf/gorge/tf/ops/tftext"
	_ "github.com/gorge-tf/gorge/tf/ops/training"
	_ "github.com/gorge-tf/gorge/tf/ops/xla"
)
