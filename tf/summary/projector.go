package summary

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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

// Write writes the file projector_config.pbtxt to a directory of event files.
func (p *Projector) Write(dir string) error {
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
