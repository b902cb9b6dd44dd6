package savedmodel

import (
	"context"
	"io/fs"
	"os"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// LoadFS is Load for a SavedModel at the root of a file system: one that is embedded
// in the program, for example. Operations that read files, such as vocabularies,
// know only those of the machine; so the model is copied to a temporary directory,
// which Close removes.
func LoadFS(ctx context.Context, files fs.FS, o Options) (_ *Model, err error) {
	if err := core.NeedContext(ctx, "LoadFS"); err != nil {
		return nil, err
	}
	if files == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "a model must be loaded from a file system, got nil")
	}
	dir, err := os.MkdirTemp("", "savedmodel")
	if err != nil {
		return nil, tf.Errorf(tf.Unavailable, "a model from a file system needs a temporary directory: %v", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	if err := os.CopyFS(dir, files); err != nil {
		return nil, core.FileError("the files of the model", err)
	}
	m, err := Load(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	m.temporary = dir
	return m, nil
}
