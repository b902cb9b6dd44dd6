package savedmodel

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// assetFiles copies assets to the directory of a model that is being written.
type assetFiles struct {
	dir     string
	sources map[string]string // by name in dir: where the file comes from
}

// add copies a file and returns its name in dir. A file that several MetaGraphs
// have is copied once; files of one name get different ones.
func (f *assetFiles) add(source string) (string, error) {
	source, err := filepath.Abs(core.LocalPath(source))
	if err != nil {
		return "", core.FileError(source, err)
	}
	base := filepath.Base(source)
	ext := filepath.Ext(base)
	name := base
	for i := 1; ; i++ {
		have, taken := f.sources[name]
		if taken && have == source {
			return name, nil
		}
		if !taken {
			break
		}
		name = fmt.Sprintf("%s_%d%s", strings.TrimSuffix(base, ext), i, ext)
	}
	f.sources[name] = source
	return name, f.copy(source, name)
}

func (f *assetFiles) copy(source, name string) (err error) {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return core.FileError(f.dir, err)
	}
	in, _, err := core.OpenRegular(source)
	if err != nil {
		return err
	}
	defer in.Close()
	to := filepath.Join(f.dir, name)
	out, err := os.Create(to)
	if err != nil {
		return core.FileError(to, err)
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Sync() // the directory must not get its name before
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return core.FileError(to, err)
	}
	return nil
}
