package image

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// IsJPEG reports whether contents, a scalar string, begin as a JPEG file does: a bool
// scalar.
func IsJPEG(contents tf.Output) tf.Output {
	if contents.Err() != nil {
		return contents
	}
	g := contents.Graph()
	head := text.Substr(contents, ops.Scalar[int32](g, 0), ops.Scalar[int32](g, 3))
	return ops.Equal(head, ops.Scalar(g, "\xff\xd8\xff"))
}
