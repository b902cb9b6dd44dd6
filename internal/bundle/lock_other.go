//go:build !unix || solaris || illumos || aix

package bundle

import "os"

// locks: files that are open cannot be renamed on Windows, so they are closed.
const locks = false

func lock(*os.File) bool { return true }

// seize leaves it to the system: a file that is open cannot be removed on
// Windows.
func seize(string) (release func(), ok bool) { return func() {}, true }

func hold(string) (release func()) { return func() {} }
