package train

import (
	"context"
	"log/slog"

	"github.com/gorge-tf/gorge/tf/session"
)

// saveAside begins a save that goes on beside training. The session is not closed
// before it ends, unless that takes longer than the coordinator's grace.
func (h *CheckpointSaverHook) saveAside(ctx context.Context, saver *Saver, s *session.Session, step int64, o SaveOptions) error {
	p, err := saver.SaveStepAsync(ctx, s, h.path(), step, o)
	if err != nil {
		return err
	}
	h.pending, h.saving = p, step
	if h.coord != nil {
		h.coord.Go(func(context.Context) error {
			<-p.Done()
			return nil
		})
	}
	return nil
}

// collect ends a save that has been written; with wait, it waits for that. It
// reports whether a listener asks to stop.
func (h *CheckpointSaverHook) collect(ctx context.Context, s *session.Session, wait bool) (stop bool, err error) {
	if h.pending == nil {
		return false, nil
	}
	select {
	case <-h.pending.Done():
	default:
		if !wait {
			return false, nil
		}
	}
	if _, err := h.pending.Wait(ctx); err != nil {
		if ctx.Err() == nil {
			h.pending = nil
			h.timer.Reset() // the step has not been saved
		}
		return false, err
	}
	h.pending = nil
	return h.saved(ctx, s, h.saving)
}

// abandon waits for a save whose session is lost or ended by an error. Its failure
// is due to that.
func (h *CheckpointSaverHook) abandon() {
	if h.pending == nil {
		return
	}
	h.pending.Cancel()
	if _, err := h.pending.Wait(context.Background()); err != nil {
		slog.Warn("a checkpoint was not completed", "step", h.saving, "error", err)
	}
	h.pending = nil
}

// Close ends a save that is still under way and gives up the event file.
func (h *CheckpointSaverHook) Close() error {
	h.abandon()
	return h.closing.Close()
}
