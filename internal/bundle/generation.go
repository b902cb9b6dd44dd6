package bundle

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// A bundle that is written over an older one of the same prefix has its data
// under names that the older one does not use: those of another number of shards.
// The rename of the index then decides which one there is. A generation is that
// number.

// shardOf returns which of how many shards a data file of prefix is, by its name.
func shardOf(prefix, file string) (shard, shards int, ok bool) {
	rest, ok := strings.CutPrefix(file, filepath.Base(prefix)+".data-")
	this, of, cut := strings.Cut(rest, "-of-")
	if !ok || !cut || len(this) < 5 || len(of) < 5 {
		return 0, 0, false
	}
	i, err := strconv.ParseUint(this, 10, 31)
	if err != nil {
		return 0, 0, false
	}
	n, err := strconv.ParseUint(of, 10, 31)
	return int(i), int(n), err == nil
}

// dataFiles returns the data files of a prefix, by the number of shards.
func dataFiles(prefix string) (map[int][]string, error) {
	dir := filepath.Dir(prefix)
	names, err := readNames(dir)
	if err != nil {
		return nil, core.FileError(dir, err)
	}
	out := map[int][]string{}
	for _, name := range names {
		if _, n, ok := shardOf(prefix, name); ok {
			out[n] = append(out[n], filepath.Join(dir, name))
		}
	}
	return out, nil
}

func readNames(dir string) ([]string, error) {
	d, err := openNow(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// claimGeneration calls take with numbers of shards, not less than least, under
// which prefix has no data, until take finds the name of the first free.
func claimGeneration(prefix string, least int, take func(shards int) error) (int, error) {
	have, err := dataFiles(prefix)
	if err != nil {
		return 0, err
	}
	for n := least; n < math.MaxInt32; n++ {
		if len(have[n]) > 0 {
			continue
		}
		if err := take(n); !errors.Is(err, fs.ErrExist) {
			return n, named(err, prefix)
		}
	}
	return 0, core.Errorf(core.ResourceExhausted, "a bundle must have a number of shards that is not taken: %s", prefix)
}

// named gives an error of the file system TensorFlow's words.
func named(err error, name string) error {
	if err == nil || core.CodeOf(err) != core.Unknown {
		return err
	}
	return core.FileError(name, err)
}

// retire removes the data of prefix that the index does not speak of any more,
// and what dead writers have left in the directory. What is left does no harm.
//
// Another writer may be at work. The first file of its data is marked until its index is
// in place. So data whose first file could be seized belongs to the index that is read
// afterwards, or to an older one. No writer reuses the name of data that is held.
func retire(prefix string) {
	if have, err := dataFiles(prefix); err == nil {
		for shards, names := range have {
			retireGeneration(prefix, shards, names)
		}
	}
	// A writer that died while it gave data its name left the file under two names. So
	// the data must not be held here any more.
	Sweep(filepath.Dir(prefix))
}

// retireGeneration removes the data of a number of shards, unless it is marked or the
// index speaks of it. Data that is held here is skipped by the other writers. So whoever
// keeps data reads the index once more when others can hold it again: the writer of an
// index that came in between may have skipped it.
func retireGeneration(prefix string, shards int, names []string) {
	for removeOutdated(prefix, shards, names) == kept && outdated(prefix, shards) {
		continue
	}
}

// What removeOutdated did with data.
type retirement int

const (
	marked  retirement = iota // by a writer or by another that looks after it
	removed                   // since the index speaks of another number
	kept                      // since the index spoke of it
)

// removeOutdated removes data while it holds it. The first file goes last: until then no
// writer can claim the number.
func removeOutdated(prefix string, shards int, names []string) retirement {
	first := dataName(prefix, 0, shards)
	release, made, ok := guard(first)
	if !ok {
		return marked
	}
	defer release()
	if !outdated(prefix, shards) {
		if made {
			_ = storage.remove(first)
		}
		return kept
	}
	for _, name := range names {
		if filepath.Base(name) != filepath.Base(first) {
			_ = storage.remove(name)
		}
	}
	_ = storage.remove(first)
	return removed
}

// guard seizes the first file of data, which it makes if only others were left.
func guard(first string) (release func(), made, ok bool) {
	if release, ok = seize(first); ok {
		return release, false, true
	}
	f, err := storage.create(first)
	if err != nil {
		return nil, false, false
	}
	return func() { _ = f.Close() }, true, true
}

// outdated reports whether the index speaks of another number of shards.
func outdated(prefix string, shards int) bool {
	r, err := openIndex(prefix, openFile)
	if err != nil {
		return false
	}
	r.Close()
	return r.shards != shards
}

// Names of files that are not complete: tempMark and a number, as TensorFlow has
// them, and ownMark behind it for files of this package. These are locked while they
// are written. TensorFlow's are not, so a lock does not tell whether its writer lives;
// it may be writing another part of the same checkpoint.
const (
	tempMark = ".tempstate"
	ownMark  = "g"
)

// abandonedAfter is how long a file of a writer that takes no locks has not changed
// when it is taken for abandoned.
const abandonedAfter = time.Hour

// Sweep removes the incomplete files that writers have left in a directory which
// no longer live. It leaves files of living ones.
func Sweep(dir string) {
	names, err := readNames(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		if !isTemporary(name) || !mayBeAbandoned(filepath.Join(dir, name)) {
			continue
		}
		if release, ok := seize(filepath.Join(dir, name)); ok {
			_ = storage.remove(filepath.Join(dir, name))
			release()
		}
	}
}

func isTemporary(name string) bool {
	i := strings.LastIndex(name, tempMark)
	if i < 0 {
		return false
	}
	_, err := strconv.ParseUint(strings.TrimSuffix(name[i+len(tempMark):], ownMark), 10, 64)
	return err == nil
}

// mayBeAbandoned reports whether the writer of an incomplete file may be dead, unless
// the file is locked.
func mayBeAbandoned(file string) bool {
	if strings.HasSuffix(file, ownMark) {
		return true
	}
	info, err := os.Stat(file)
	return err == nil && time.Since(info.ModTime()) > abandonedAfter
}

// SweepDir removes a directory of parts that were never merged, unless a living
// writer is at work in it.
func SweepDir(dir string) {
	names, err := readNames(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		if !isTemporary(name) {
			continue
		}
		if !mayBeAbandoned(filepath.Join(dir, name)) {
			return
		}
		release, ok := seize(filepath.Join(dir, name))
		if !ok {
			return
		}
		defer release()
	}
	_ = os.RemoveAll(dir)
}

// Remove removes a bundle: the index first, without which there is none. It is
// no error if there is no bundle.
func Remove(prefix string) error {
	prefix = core.LocalPath(prefix)
	err := removeFile(indexName(prefix))
	have, e := dataFiles(prefix)
	if e != nil {
		return e
	}
	for _, names := range have {
		for _, name := range names {
			if e := removeFile(name); err == nil {
				err = e
			}
		}
	}
	return err
}

func removeFile(name string) error {
	if err := storage.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return core.FileError(name, err)
	}
	return nil
}
