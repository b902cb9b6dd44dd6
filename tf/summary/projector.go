package summary

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Projector says which embeddings TensorBoard shows as points.
type Projector struct {
	ModelCheckpointPath string // the latest one of the directory if empty
	Embeddings          []Embedding
}

// An Embedding is a variable whose rows are points.
type Embedding struct {
	TensorName      string // the variable's, as in "embedding:0"
	MetadataPath    string // a file with a label on each line
	BookmarksPath   string
	SpriteImagePath string // an image for each row, side by side
	SpriteSize      [2]int // of one of them: width, height
}

// Write writes the file projector_config.pbtxt to a directory of event files. Text that is not
// UTF-8, and sizes of sprites that are negative, are refused with INVALID_ARGUMENT.
func (p *Projector) Write(dir string) error {
	if err := p.check(); err != nil {
		return err
	}
	dir = core.LocalPath(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return core.FileError(dir, err)
	}
	name := filepath.Join(dir, "projector_config.pbtxt")
	if err := os.WriteFile(name, []byte(p.text()), 0o644); err != nil {
		return core.FileError(name, err)
	}
	return nil
}

// check refuses what TensorBoard could not read.
func (p *Projector) check() error {
	texts := []string{p.ModelCheckpointPath}
	for _, e := range p.Embeddings {
		texts = append(texts, e.TensorName, e.MetadataPath, e.BookmarksPath, e.SpriteImagePath)
		if w, h := e.SpriteSize[0], e.SpriteSize[1]; min(w, h) < 0 || int64(max(w, h)) > math.MaxUint32 {
			return tf.Errorf(tf.InvalidArgument, "the size of a sprite must fit 32 bits without a sign, got %d by %d", w, h)
		}
	}
	for _, s := range texts {
		if err := checkText("a projector", s); err != nil {
			return err
		}
	}
	return nil
}

// text returns the configuration in the text format of protocol buffers.
func (p *Projector) text() string {
	var b strings.Builder
	field(&b, "", "model_checkpoint_path", p.ModelCheckpointPath)
	for _, e := range p.Embeddings {
		b.WriteString("embeddings {\n")
		field(&b, "  ", "tensor_name", e.TensorName)
		field(&b, "  ", "metadata_path", e.MetadataPath)
		field(&b, "  ", "bookmarks_path", e.BookmarksPath)
		if e.SpriteImagePath != "" {
			b.WriteString("  sprite {\n")
			field(&b, "    ", "image_path", e.SpriteImagePath)
			fmt.Fprintf(&b, "    single_image_dim: %d\n    single_image_dim: %d\n  }\n", e.SpriteSize[0], e.SpriteSize[1])
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// field writes a string, unless it is empty.
func field(b *strings.Builder, indent, name, value string) {
	if value != "" {
		fmt.Fprintf(b, "%s%s: %s\n", indent, name, strconv.QuoteToASCII(value))
	}
}
