package core

import "context"

// NeedContext returns an error if ctx is nil, which what would otherwise meet as a panic:
// perhaps in a goroutine of its own, where no program can recover. Functions of the
// libraries ask before they do anything.
func NeedContext(ctx context.Context, what string) error {
	if ctx != nil {
		return nil
	}
	return Errorf(InvalidArgument, "%s needs a context, got nil: context.Background() never ends", what)
}
