//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/gorge-tf/gorge/tf/cluster"
)

// reloadAtHangup reads files again when the process gets SIGHUP, until ctx ends.
func reloadAtHangup(ctx context.Context, s *cluster.Security) {
	if s != nil {
		atHangup(ctx, func() { _ = s.Reload() }) // which logs what is wrong
	}
}

// atHangup calls do each time the process gets SIGHUP, which does not end it, until
// ctx ends.
func atHangup(ctx context.Context, do func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-signals:
				do()
			case <-ctx.Done():
				return
			}
		}
	}()
}
