// Package leaktest finds goroutines that outlive what tests do with them.
package leaktest

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// patience is how long a goroutine whose end has come may take to end: as long as
// a machine with much else to do lets it wait.
const patience = 30 * time.Second

// Main runs the tests of a package, and fails if goroutines are left of them.
func Main(m goleak.TestingM) { os.Exit(run(m, patience)) }

func run(m goleak.TestingM, patience time.Duration, options ...goleak.Option) int {
	if status := m.Run(); status != 0 {
		return status
	}
	if err := find(patience, options...); err != nil {
		fmt.Fprintln(os.Stderr, "goroutines outlive their tests:", err)
		return 1
	}
	return 0
}

// Find returns an error that lists the goroutines that there are, but for those
// that options leave out, and do not end by themselves.
func Find(options ...goleak.Option) error { return find(patience, options...) }

func find(patience time.Duration, options ...goleak.Option) error {
	for end := time.Now().Add(patience); ; {
		err := goleak.Find(options...) // which itself waits a little
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
