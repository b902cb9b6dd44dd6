// Package all imports every package of operations, for programs that run
// graphs which others have built: servers, and whoever imports a GraphDef.
package all

import (
	_ "github.com/gorge-tf/gorge/tf/ops" // registers
	_ "github.com/gorge-tf/gorge/tf/ops/image"
	_ "github.com/gorge-tf/gorge/tf/ops/io"
	_ "github.com/gorge-tf/gorge/tf/ops/lookup"
	_ "github.com/gorge-tf/gorge/tf/ops/queue"
	_ "github.com/gorge-tf/gorge/tf/ops/random"
)
