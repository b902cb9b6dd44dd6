package core

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// LocalPath returns the path that the name of a file means: URIs of local files
// may stand for theirs. All names of files that operations get go through here: a
// file that may not be used has a path that does not exist, see [ConfineFiles].
func LocalPath(name string) string {
	path := localPath(name)
	if dirs := allowedDirs.Load(); dirs != nil {
		return confine(path, *dirs)
	}
	return path
}

func localPath(name string) string {
	rest, ok := strings.CutPrefix(name, "file://")
	if i := strings.IndexByte(rest, '/'); ok && i >= 0 {
		return rest[i:] // behind the host
	}
	return name
}

// errnoCodes are the codes of errors of the system that are not FAILED_PRECONDITION,
// TensorFlow's.
var errnoCodes = map[syscall.Errno]Code{
	syscall.ENOSPC: ResourceExhausted, syscall.EDQUOT: ResourceExhausted, syscall.ENOMEM: ResourceExhausted, syscall.EMFILE: ResourceExhausted,
	syscall.ENFILE: ResourceExhausted, syscall.EMLINK: ResourceExhausted, syscall.ENOBUFS: ResourceExhausted,
	syscall.EINVAL: InvalidArgument, syscall.ENAMETOOLONG: InvalidArgument,
	syscall.EFBIG: OutOfRange, syscall.EOVERFLOW: OutOfRange,
}

// errnoError gives an error of the system TensorFlow's code, and its words as C has them.
func errnoError(err syscall.Errno) (Code, string) {
	code, ok := errnoCodes[err]
	if !ok {
		code = FailedPrecondition
	}
	text := err.Error()
	return code, strings.ToUpper(text[:1]) + text[1:]
}

// FileError gives an error of the file system TensorFlow's code and words:
// "name; No such file or directory".
func FileError(name string, err error) error {
	if denied := outsideError(name, err); denied != nil {
		return denied
	}
	code, text := Unknown, err.Error()
	var p *fs.PathError
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, text = NotFound, name+"; No such file or directory"
	case errors.Is(err, fs.ErrPermission):
		code, text = PermissionDenied, name+"; Permission denied"
	case errors.Is(err, fs.ErrExist):
		code, text = AlreadyExists, name+"; File exists"
	case errors.As(err, &errno):
		code, text = errnoError(errno)
		text = name + "; " + text
	case errors.As(err, &p):
		code, text = FailedPrecondition, name+"; "+p.Err.Error()
	}
	return &Error{Code: code, Msg: text, Err: err}
}
