package image

import (
	"github.com/gorge-tf/gorge/internal/imagefile"
	"github.com/gorge-tf/gorge/internal/imagefile/jpeg"
	"github.com/gorge-tf/gorge/internal/sample"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() { sample.Register(imageSample, "DecodeJpeg", "DecodePng", "DecodeImage") }

// imageSample returns the file of a black image of one pixel: a JPEG, or a PNG for nodes
// that want an alpha channel or read PNG by their name.
func imageSample(n *core.Node, _ sample.Inputs) (string, bool) {
	if n.OpName() == "DecodePng" || n.Int("channels") == 4 {
		file, err := imagefile.EncodePNG(make([]byte, 3), 1, 1, 3, 1)
		return file, err == nil
	}
	file, err := jpeg.Encode(make([]byte, 3), 1, 1, 3, jpeg.Encoding{Quality: 75})
	return file, err == nil
}
