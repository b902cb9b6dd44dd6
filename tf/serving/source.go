package serving

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/gorge-tf/gorge/internal/serving/versions"
	"github.com/gorge-tf/gorge/tf/core"
)

// files returns the file system that has a model's versions.
func (m *Model) files() fs.FS {
	if m.FS == nil {
		return os.DirFS(core.LocalPath(m.BasePath))
	}
	sub, err := fs.Sub(m.FS, path.Clean(m.BasePath))
	if err != nil {
		return os.DirFS("") // which has no files
	}
	return sub
}

// find returns the versions that a model's policy chooses out of its directory,
// with their places.
func (m *Model) find() (map[int64]versions.Place, error) {
	files := m.files()
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, core.FileError(m.BasePath, err)
	}
	names := map[int64]string{}
	var have []int64
	for _, e := range entries {
		if v, ok := versions.Parse(e.Name()); ok && isDir(files, e) {
			names[v] = e.Name()
			have = append(have, v)
		}
	}
	out := map[int64]versions.Place{}
	for _, v := range m.Versions.Choose(have) {
		_, missing := fs.Stat(files, path.Join(names[v], variablesIndex))
		out[v] = versions.Place{Path: m.path(names[v]), Stamp: stamp(files, names[v]), Partial: missing != nil}
	}
	return out, nil
}

func (m *Model) path(version string) string {
	if m.FS != nil {
		return path.Join(m.BasePath, version)
	}
	return filepath.Join(core.LocalPath(m.BasePath), version)
}

// isDir reports whether an entry is a directory, or a link to one.
func isDir(files fs.FS, e fs.DirEntry) bool {
	if e.IsDir() {
		return true
	}
	info, err := fs.Stat(files, e.Name())
	return err == nil && info.IsDir()
}

// variablesIndex is there when a version has its variables.
const variablesIndex = "variables/variables.index"

// stamp tells sizes and times of a version's graph and variables. A version that was
// incomplete when it was first seen is so loaded once it is complete.
func stamp(files fs.FS, name string) string {
	variables, _ := fs.Glob(files, path.Join(name, "variables", "*")) // fails for bad patterns only
	out := ""
	for _, file := range append([]string{path.Join(name, "saved_model.pb"), path.Join(name, "saved_model.pbtxt")}, variables...) {
		if info, err := fs.Stat(files, file); err == nil {
			out += fmt.Sprint(info.Size(), " ", info.ModTime().Format(time.RFC3339Nano), " ")
		}
	}
	return out
}

// poll looks for versions until ctx ends.
func (s *Server) poll(ctx context.Context) {
	t := time.NewTicker(s.cfg.Poll)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.look()
		case <-ctx.Done():
			return
		}
	}
}

// look looks for versions once. A directory that cannot be read changes nothing:
// the file system may be back soon.
func (s *Server) look() {
	s.looking.Lock()
	defer s.looking.Unlock()
	for _, m := range s.list() {
		want, err := m.find()
		if err == nil {
			s.m.Aspire(m.Name, want)
		}
		s.note(m, len(want), err)
	}
}

// hint says what is wrong where a base path names a model instead of the directory with its
// versions, or these have no numbers.
func (m *Model) hint() string {
	files := m.files()
	for _, name := range []string{"saved_model.pb", "saved_model.pbtxt"} {
		if _, err := fs.Stat(files, name); err == nil {
			return ": it has a model itself, and should be the directory above, in which a directory for each version has a number as its name"
		}
	}
	if models, _ := fs.Glob(files, "*/saved_model.pb*"); len(models) > 0 { // fails for bad patterns only
		return ". Did you forget to name your leaf directory as a number (eg. '/1/')?"
	}
	return ""
}

// note logs what is wrong with a directory, once. The caller holds looking.
func (s *Server) note(m *Model, found int, err error) {
	text := ""
	switch {
	case err != nil:
		text = core.AsError(err).Message()
	case found == 0:
		text = "no versions of the model under its base path" + m.hint()
	}
	if s.noted[m.Name] == text {
		return
	}
	s.noted[m.Name] = text
	if text != "" {
		s.cfg.Log.Warn(text, "model", m.Name, "path", m.BasePath)
	}
}
