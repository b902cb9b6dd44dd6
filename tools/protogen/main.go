// Protogen turns the .proto files of tf/pb into Go: messages beside them, a table
// of the methods of the services that they declare for internal/method, stubs of
// servers and clients for internal/rpc. It compiles and generates with Go libraries
// alone, so that a checkout and a Go toolchain are all that a change of the protocol
// needs: no protoc, no plug-in on the path.
//
//	go generate ./tf/pb/...                         # write
//	go -C tools/protogen run . -dir ../../tf/pb …   # with -check: fail when files are stale
//
// What a service says of its methods beside their messages is declared in
// method.proto.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
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
	methods := flags.String("methods", "", "`directory` of the table of all methods of services; none: there is no table")
	stubs := flags.String("stubs", "", "`directory` of the stubs of services; none: there are no stubs")
	check := flags.Bool("check", false, "compare with the files on disk and write nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	more, err := parseImport(*imports)
	if err != nil {
		return err
	}
	messages, services, err := generate(ctx, sources{dir: *dir, prefix: *prefix}, more)
	if err != nil {
		return err
	}
	all := []output{{*dir, "*.pb.go", messages}}
	if *methods != "" {
		files, err := tableFile(path.Base(*prefix), services)
		if err != nil {
			return err
		}
		all = append(all, output{*methods, generatedPrefix + path.Base(*prefix) + ".go", files})
	}
	if *stubs != "" {
		files, err := stubFiles(services)
		if err != nil {
			return err
		}
		all = append(all, output{*stubs, generatedPrefix + "*.go", files})
	}
	return update(all, *check)
}

// update writes or compares what was generated.
func update(all []output, check bool) error {
	each := output.write
	if check {
		each = output.compare
	}
	var errs []error
	for _, out := range all {
		errs = append(errs, each(out))
	}
	return errors.Join(errs...)
}

// parseImport reads the value of -import; the empty one finds nothing.
func parseImport(s string) (sources, error) {
	prefix, dir, ok := strings.Cut(s, "=")
	if s != "" && !ok {
		return sources{}, fmt.Errorf("-import must have the form PREFIX=DIRECTORY, got %q", s)
	}
	return sources{dir: dir, prefix: prefix}, nil
}
