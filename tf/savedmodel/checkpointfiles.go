package savedmodel

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// largeCheckpoint reports whether a checkpoint has memory.Much. Then it is worth it to give back at once,
// before it is read, the memory that reading the graph took: else that stays in use beside the
// variables, and the collector, which runs when the heap has doubled, finds it only when as much
// again has been allocated.
func largeCheckpoint(prefix string) bool {
	size := int64(0)
	for _, name := range dataFiles(prefix) {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	return size >= int64(memory.Much())
}

// dataFiles returns the files with the values of a checkpoint, none if they cannot be listed.
func dataFiles(prefix string) (names []string) {
	files, _ := os.ReadDir(filepath.Dir(prefix)) // a pattern would mistake names like "model[1]"
	for _, f := range files {
		if strings.HasPrefix(f.Name(), filepath.Base(prefix)+".data-") {
			names = append(names, filepath.Join(filepath.Dir(prefix), f.Name()))
		}
	}
	return names
}

// withoutVariables is what there is to say of a model without checkpoint: nothing,
// unless a signature reads variables, or the data are there.
func (l *loader) withoutVariables(prefix string) error {
	if len(dataFiles(prefix)) > 0 {
		return core.FileError(prefix+".index", fs.ErrNotExist)
	}
	return nil
}
