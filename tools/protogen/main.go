// Protogen turns the .proto files of tf/pb into Go. It compiles and
// generates with Go libraries alone, so that a checkout and a Go toolchain are
// all that a change of the protocol needs: no protoc, no plug-in on the path.
//
//	go run . -dir ../../tf/pb          # write *.pb.go
//	go run . -dir ../../tf/pb -check   # fail when they are stale
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// run parses the command line and either writes or checks the generated files.
func run(ctx context.Context, args []string, usage io.Writer) error {
	flags := flag.NewFlagSet("protogen", flag.ContinueOnError)
	flags.SetOutput(usage)
	dir := flags.String("dir", ".", "directory of the .proto files and of their Go code")
	prefix := flags.String("prefix", "gorge", "path under which the files import each other and are registered")
	imports := flags.String("import", "", "`prefix=directory` of .proto files that are imported and not generated")
	check := flags.Bool("check", false, "compare with the files on disk and write nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	more, err := parseImport(*imports)
	if err != nil {
		return err
	}
	want, err := generate(ctx, sources{dir: *dir, prefix: *prefix}, more)
	if err != nil {
		return err
	}
	if *check {
		return compare(*dir, want)
	}
	return write(*dir, want)
}

// parseImport reads the value of -import; the empty one finds nothing.
func parseImport(s string) (sources, error) {
	prefix, dir, ok := strings.Cut(s, "=")
	if s != "" && !ok {
		return sources{}, fmt.Errorf("-import must have the form PREFIX=DIRECTORY, got %q", s)
	}
	return sources{dir: dir, prefix: prefix}, nil
}
