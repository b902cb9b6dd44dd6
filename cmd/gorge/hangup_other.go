//go:build !unix

package main

import (
	"context"

	"github.com/gorge-tf/gorge/tf/cluster"
)

// reloadAtHangup does nothing: there is no such signal.
func reloadAtHangup(context.Context, *cluster.Security) {}

// atHangup does nothing.
func atHangup(context.Context, func()) {}
