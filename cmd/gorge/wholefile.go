package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// writeWhole writes a file, which gets its name once it is complete. A device or a pipe is
// written to: a file in its place would take it from all programs.
func writeWhole(name string, content func(io.Writer) error) error {
	name, ends := behindLinks(name)
	info, err := os.Stat(name)
	if !ends || err == nil && !info.Mode().IsRegular() {
		return contentError(name, fill(name, os.O_WRONLY, content))
	}
	temporary := fmt.Sprintf("%s.tmp%d", name, rand.Uint64())
	defer os.Remove(temporary) // fails once the file has been renamed
	there := err == nil
	err = fill(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, content)
	if err == nil && there {
		err = os.Chmod(temporary, info.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(temporary, name)
	}
	return contentError(name, err)
}

// behindLinks returns where symbolic links lead, also if nothing is there yet, and whether
// they lead anywhere.
func behindLinks(name string) (at string, ends bool) {
	at = name
	for range 40 { // Linux follows as many
		to, err := os.Readlink(at)
		if err != nil {
			return at, true
		}
		if dir, _ := filepath.Split(at); !filepath.IsAbs(to) {
			to = dir + to
		}
		at = to
	}
	return name, false
}

// fill opens a file and writes its content, that of a new one to the disk: a name must not
// outlive it when the machine stops.
func fill(name string, how int, content func(io.Writer) error) error {
	f, err := os.OpenFile(name, how, 0o666)
	if err != nil {
		return err
	}
	err = content(f)
	if err == nil && how&os.O_CREATE != 0 {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// contentError gives errors of the file system their code; others have one.
func contentError(name string, err error) error {
	var coded *tf.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return core.FileError(name, err)
}
