package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
)

// devices lists the devices of the cluster that a server belongs to.
func devices(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := flag.NewFlagSet("gorge devices", flag.ContinueOnError)
	takes(s, "[flags] grpc://host:port")
	timeout := s.Duration("timeout", 10*time.Second, "how `long` the cluster may take to answer")
	secret := &tlsFlags{servesNoClient: true}
	secret.client(s)
	targets, err := arguments(s, args, stderr)
	if err != nil {
		return err
	}
	if len(targets) != 1 {
		return tf.Errorf(tf.InvalidArgument, "devices takes a target, grpc://host:port, got %q", targets)
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	guard, err := secret.open(nil, stderr)
	if err != nil {
		return err
	}
	defer secret.close(guard)
	list, err := cluster.ListDevicesSecured(ctx, targets[0], guard)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DEVICE\tTYPE\tMEMORY\tINCARNATION\tTRANSPORT")
	for _, d := range list {
		fmt.Fprintf(w, "%s\t%s\t%d MiB\t%016x\t%s\n", d.Name, d.Type, d.MemoryLimit>>20, d.Incarnation, cmp.Or(d.Transport, "grpc"))
	}
	return w.Flush()
}
