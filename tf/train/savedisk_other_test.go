//go:build !linux

package train_test

import "errors"

// The file systems of these tests are Linux's.
var errNotHere = errors.New("only on Linux")

func fillDisk(string) error { return errNotHere }

func fillLimit(string) error { return errNotHere }
