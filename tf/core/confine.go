package core

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// What operations of this process may do is set once, before graphs come from
// elsewhere: servers do so. Nothing is confined by itself.
var (
	allowedDirs atomic.Pointer[[]string] // resolved; nil: files may be anywhere
	deniedOps   atomic.Pointer[[]string] // patterns; nil: none
)

// outside stands for the path of a file that may not be used: no system has one with
// a zero byte, so that whatever is done with it fails.
const outside = "/\x00outside"

// ConfineFiles lets operations use files in some directories and what is below them
// only; without directories, nowhere. Names that lead out by symbolic links are
// refused as they are when they are looked at: a program that can make links
// in these directories can get out.
func ConfineFiles(dirs ...string) error {
	resolved := []string{}
	for _, d := range dirs {
		full, err := filepath.Abs(d)
		if err == nil {
			full, err = filepath.EvalSymlinks(full)
		}
		if err != nil {
			return Errorf(InvalidArgument, "a directory for files must exist: %v", err)
		}
		resolved = append(resolved, full)
	}
	allowedDirs.Store(&resolved)
	return nil
}

// AllowFilesAnywhere undoes [ConfineFiles].
func AllowFilesAnywhere() { allowedDirs.Store(nil) }

// confine returns a path without links and dots, or outside.
func confine(name string, dirs []string) string {
	full, err := filepath.Abs(name)
	if err != nil || strings.ContainsRune(name, 0) {
		return outside
	}
	real, ok := resolve(full)
	if !ok || !slices.ContainsFunc(dirs, func(d string) bool { return isBelow(d, real) }) {
		return outside
	}
	return full
}

func isBelow(dir, name string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// resolve follows the links of a clean path as far as it exists. It reports false
// for links to what does not exist: creating a file there would follow them.
func resolve(full string) (string, bool) {
	rest := ""
	for p := full; ; p = filepath.Dir(p) {
		real, err := filepath.EvalSymlinks(p)
		if err == nil {
			return filepath.Join(real, rest), true
		}
		if _, there := os.Lstat(p); there == nil || !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			return "", false
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}

// outsideError says why a file may not be used; nil: that is not what is wrong.
func outsideError(name string, err error) error {
	dirs := allowedDirs.Load()
	if dirs == nil || !slices.ContainsFunc(pathsOf(err), func(p string) bool { return strings.Contains(p, outside) }) {
		return nil
	}
	return &Error{Code: PermissionDenied, Msg: name + "; operations may use files below " + strings.Join(*dirs, ", ") + " only"}
}

// pathsOf returns the files that an error of the system names: renaming has two.
func pathsOf(err error) []string {
	var one *fs.PathError
	var two *os.LinkError
	switch {
	case errors.As(err, &one):
		return []string{one.Path}
	case errors.As(err, &two):
		return []string{two.Old, two.New}
	}
	return nil
}

// DenyOps refuses operations whose names match one of the patterns, as [path.Match]
// has them, in graphs, functions, and when they are run one by one. Without
// patterns all are allowed again.
func DenyOps(patterns ...string) error {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return Errorf(InvalidArgument, "operations are denied by name or by a pattern like *Dataset, got %q", p)
		}
	}
	if len(patterns) == 0 {
		deniedOps.Store(nil)
		return nil
	}
	patterns = slices.Clone(patterns)
	deniedOps.Store(&patterns)
	return nil
}

// checkDenied returns an error for a node whose op is denied.
func checkDenied(node string, def *OpDef) error {
	patterns := deniedOps.Load()
	if patterns == nil || registry[def.Name] != def { // functions have names of their own
		return nil
	}
	op := def.Name
	for _, p := range *patterns {
		if ok, _ := path.Match(p, op); ok {
			return &Error{Code: PermissionDenied, Msg: "operation " + op + " is denied on this server (by " + p + "): {{node " + node + "}}", Node: node, Op: op}
		}
	}
	return nil
}
