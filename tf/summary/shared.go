package summary

import (
	"path/filepath"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// shared are the writers that Shared has given out, by directory.
var shared = struct {
	sync.Mutex
	by map[string]*sharedWriter
}{by: map[string]*sharedWriter{}}

type sharedWriter struct {
	w     *FileWriter
	users int
}

// Shared returns the writer for dir that all parts of a program have in common:
// one file has the events of all. It is closed when each user has called
// release. One that a user has closed nevertheless begins a new file.
func Shared(dir string) (w *FileWriter, release func() error, err error) {
	key := directoryOf(dir)
	shared.Lock()
	defer shared.Unlock()
	s := shared.by[key]
	if s == nil {
		w, err := NewFileWriter(dir)
		if err != nil {
			return nil, nil, err
		}
		s = &sharedWriter{w: w}
		shared.by[key] = s
	}
	if err := s.w.Reopen(); err != nil { // if a user has closed it
		return nil, nil, err
	}
	s.users++
	var once sync.Once
	return s.w, func() (err error) {
		once.Do(func() { err = s.release(key) })
		return err
	}, nil
}

// directoryOf returns the one name of a directory, which may be given by a URI or from where
// the program is.
func directoryOf(dir string) string {
	path := filepath.Clean(core.LocalPath(dir))
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func (s *sharedWriter) release(key string) error {
	shared.Lock()
	defer shared.Unlock()
	if s.users--; s.users > 0 {
		return s.w.Flush()
	}
	delete(shared.by, key)
	return s.w.Close()
}
