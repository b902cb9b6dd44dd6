// Command gorge runs a task of a cluster, looks at clusters, checkpoints, event files and
// graphs, and shows, runs, converts and serves models that TensorFlow has saved.
//
//	gorge serve --cluster_spec='ps|127.0.0.1:2222,worker|127.0.0.1:2223' --job_name=worker --task_id=0
//	gorge devices grpc://127.0.0.1:2222
//	gorge doctor --cluster_spec='ps|127.0.0.1:2222,worker|127.0.0.1:2223'
//	gorge checkpoint ls model.ckpt-100
//	gorge checkpoint show model.ckpt-100 dense/kernel
//	gorge checkpoint diff model.ckpt-100 model.ckpt-200
//	gorge checkpoint rename model.ckpt-100 renamed.ckpt old/=new/
//	gorge events ls logs
//	gorge events export logs
//	gorge savedmodel show DIR
//	gorge savedmodel run DIR --inputs=in.npz --outputs=out.npz
//	gorge savedmodel convert FROM TO
//	gorge savedmodel freeze DIR GRAPH.pb
//	gorge savedmodel bench DIR
//	gorge graph explain DIR
//	gorge model-server --model_name=m --model_base_path=DIR --rest_api_port=8501
//	gorge version
//
// gorge help COMMAND lists the flags of a command, or its own commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/gorge-tf/gorge/tf"
)

const usage = `usage: gorge COMMAND [flags]

commands:
  serve         be a task of a cluster until a signal comes; -h lists the flags
  devices       list the devices of a cluster: gorge devices grpc://host:port
  doctor        say what this machine can do, and which tasks of a cluster answer
  checkpoint    list, show, compare and rename what checkpoints have
  events        list and export what event files have
  savedmodel    show, run, convert, freeze and measure models that TensorFlow has saved
  graph         say which operations of a graph run as one, and why others do not
  model-server  serve SavedModels to clients of TensorFlow Serving; -h lists the flags
  version       print the version

gorge help COMMAND lists the flags of a command, or its own commands.
`

func main() {
	os.Exit(run(untilSignal(), os.Args[1:], os.Stdout, os.Stderr))
}

// untilSignal returns a context that ends with the first signal. The second one
// ends the process, whatever it does.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(os.Stderr, "ABORTED: a second signal came before all had ended")
		os.Exit(1)
	}()
	return ctx
}

// run is main without a process around it; it returns the exit status. Why a
// command failed is its last line, begun by the name of the error's code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, stdout, stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	e := tf.AsError(err)
	fmt.Fprintf(stderr, "%s: %s\n", e.Code, strings.ReplaceAll(e.Message(), "\n", " "))
	return 1
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return tf.Errorf(tf.InvalidArgument, "a command has to be given")
	}
	switch args[0] {
	case "serve":
		return serve(ctx, args[1:], stdout, stderr)
	case "devices":
		return devices(ctx, args[1:], stdout, stderr)
	case "doctor":
		return doctor(ctx, args[1:], stdout, stderr)
	case "checkpoint":
		return checkpoint(args[1:], stdout, stderr)
	case "events":
		return events(args[1:], stdout, stderr)
	case "savedmodel":
		return savedModel(ctx, args[1:], stdout, stderr)
	case "graph":
		return graphCommand(ctx, args[1:], stdout, stderr)
	case "model-server":
		return modelServer(ctx, args[1:], stdout, stderr)
	case "version":
		return versionCommand(args[1:], stdout)
	case "help", "-h", "--help":
		if rest := args[1:]; len(rest) > 0 && !slices.Contains([]string{"help", "-h", "--help"}, rest[0]) {
			return dispatch(ctx, append(slices.Clone(rest), "-h"), stdout, stderr)
		}
		fmt.Fprint(stdout, usage)
		return nil
	}
	fmt.Fprint(stderr, usage)
	return tf.Errorf(tf.InvalidArgument, "the command must be one of those listed, got %q", args[0])
}
