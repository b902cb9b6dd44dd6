// Package program is what examples without flags have around their work.
package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Main runs an example until it ends or is interrupted, and exits with its
// error. An example takes no arguments: one that was given is a mistake.
func Main(name string, run func(ctx context.Context, out io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := start(ctx, os.Args[1:], os.Stdout, run); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string, out io.Writer, run func(ctx context.Context, out io.Writer) error) error {
	if len(args) > 0 {
		return fmt.Errorf("no arguments are taken, got %q", args)
	}
	return run(ctx, out)
}
