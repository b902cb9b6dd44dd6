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
	if s == nil {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-signals:
				_ = s.Reload() // which logs what is wrong
			case <-ctx.Done():
				return
			}
		}
	}()
}
