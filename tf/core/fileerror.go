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

// errnoCodes are TensorFlow's codes for errors of the system; those that are not here
// are UNKNOWN.
var errnoCodes = map[syscall.Errno]Code{
	syscall.EINVAL: InvalidArgument, syscall.ENAMETOOLONG: InvalidArgument, syscall.E2BIG: InvalidArgument, syscall.EFAULT: InvalidArgument,
	syscall.EILSEQ: InvalidArgument, syscall.ENOTTY: InvalidArgument, syscall.ESPIPE: InvalidArgument,
	syscall.ETIMEDOUT: DeadlineExceeded,
	syscall.ENODEV:    NotFound, syscall.ENXIO: NotFound, syscall.ESRCH: NotFound,
	syscall.ENOENT: NotFound, syscall.EEXIST: AlreadyExists,
	syscall.EPERM: PermissionDenied, syscall.EACCES: PermissionDenied, syscall.EROFS: PermissionDenied,
	syscall.EISDIR: FailedPrecondition, syscall.ENOTDIR: FailedPrecondition, syscall.EBADF: FailedPrecondition, syscall.EBUSY: FailedPrecondition,
	syscall.EPIPE: FailedPrecondition, syscall.ENOTEMPTY: FailedPrecondition, syscall.ETXTBSY: FailedPrecondition,
	syscall.ENOSPC: ResourceExhausted, syscall.EDQUOT: ResourceExhausted, syscall.ENOMEM: ResourceExhausted, syscall.EMFILE: ResourceExhausted,
	syscall.ENFILE: ResourceExhausted, syscall.EMLINK: ResourceExhausted, syscall.ENOBUFS: ResourceExhausted,
	syscall.EFBIG: OutOfRange, syscall.EOVERFLOW: OutOfRange, syscall.ERANGE: OutOfRange,
	syscall.ENOSYS: Unimplemented, syscall.ENOTSUP: Unimplemented, syscall.EXDEV: Unimplemented,
	syscall.EAGAIN: Unavailable, syscall.EINTR: Unavailable, syscall.ENOLCK: Unavailable,
	syscall.EDEADLK: Aborted, syscall.ESTALE: Aborted,
	syscall.ECANCELED: Canceled,
}

// errnoText returns C's words for an error of the system.
func errnoText(err syscall.Errno) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
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
	case errors.As(err, &errno) && errnoCodes[errno] != OK:
		code, text = errnoCodes[errno], name+"; "+errnoText(errno)
	case errors.Is(err, fs.ErrNotExist): // other systems have more numbers for these three
		code, text = NotFound, name+"; No such file or directory"
	case errors.Is(err, fs.ErrPermission):
		code, text = PermissionDenied, name+"; Permission denied"
	case errors.Is(err, fs.ErrExist):
		code, text = AlreadyExists, name+"; File exists"
	case errors.As(err, &errno):
		text = name + "; " + errnoText(errno)
	case errors.As(err, &p):
		code, text = FailedPrecondition, name+"; "+p.Err.Error()
	}
	return &Error{Code: code, Msg: text, Err: err}
}
