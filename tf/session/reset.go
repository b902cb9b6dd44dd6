package session

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Resetter is a Backend that can reset its target.
type Resetter interface {
	// Reset does what the function of that name does.
	Reset(ctx context.Context, containers []string) error
}

// Reset clears containers of resources of a cluster, in all its tasks: variables, queues,
// tables and iterators in them are gone. Without a name of one it clears the default
// container of each task, where what names none is. All sessions of the server that the
// target names end, too: their steps fail with Aborted.
//
// Options say how the server is reached, as for [New]; [DeviceFilters] restricts the tasks
// whose containers are cleared. A session in this process has containers of its own, which
// end with it, so that there must be a target.
func Reset(ctx context.Context, target string, containers []string, opts ...Option) error {
	if err := core.NeedContext(ctx, "Reset"); err != nil {
		return err
	}
	if target == "" {
		return tf.Errorf(tf.InvalidArgument, "Reset needs the target of a cluster, got none: what a session in this process keeps ends with the session")
	}
	b, cfg, err := openBackend(tf.NewGraph(), append(opts[:len(opts):len(opts)], Target(target)))
	if err != nil {
		return err
	}
	r, ok := b.(Resetter)
	if !ok {
		err = tf.Errorf(tf.Unimplemented, "a target must be one that can be reset, got %q", target)
	} else {
		ctx, cancel := cfg.bounded(ctx)
		defer cancel()
		err = r.Reset(ctx, containers)
	}
	if e := b.Close(); err == nil {
		err = e
	}
	return err
}
