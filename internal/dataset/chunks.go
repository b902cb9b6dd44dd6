package dataset

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// ordered returns what in a directory, whose name may have any characters, matches a pattern, in the
// order of the numbers that the names begin with.
func ordered(dir, pattern string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, core.FileError(dir, err)
	}
	var names []string
	for _, e := range entries {
		switch ok, err := filepath.Match(pattern, e.Name()); {
		case err != nil:
			return nil, core.Errorf(core.InvalidArgument, "%s is no pattern of files: %v", pattern, err)
		case ok:
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return names, nil
}

// removeShards is removeChunks for all shards of a run.
func removeShards(run string, from int64) error {
	dirs, err := ordered(run, "*.shard")
	for _, dir := range dirs {
		if err == nil {
			err = removeChunks(dir, from)
		}
	}
	return err
}

// removeChunks removes the files of chunks from one on in a directory.
func removeChunks(dir string, from int64) error {
	names, err := ordered(dir, "*.snapshot")
	if err != nil {
		return err
	}
	for _, name := range names {
		chunk, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".snapshot"), 10, 64)
		if err != nil || chunk < from {
			continue
		}
		if err := os.Remove(name); err != nil {
			return core.FileError(name, err)
		}
	}
	return nil
}
