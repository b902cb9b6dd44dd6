package remote

import (
	"context"

	"github.com/gorge-tf/gorge/tf/pb"
)

// Reset clears containers of the cluster and ends the sessions of its master.
func (r *remote) Reset(ctx context.Context, containers []string) error {
	ctx, cancel := r.cfg.Start(ctx)
	defer cancel()
	_, err := retry(ctx, &pb.ResetRequest{Container: containers, DeviceFilters: r.cfg.DeviceFilters}, r.master.Reset)
	return err
}
