package main

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCommittedFilesAreCurrent is what continuous integration runs as -check.
func TestCommittedFilesAreCurrent(t *testing.T) {
	for _, args := range [][]string{
		{"-dir", "../../tf/pb", "-methods", "../../internal/method", "-stubs", "../../internal/rpc", "-check"},
		{"-dir", "../../tf/pb/servingpb", "-prefix", "gorge/serving", "-import", "gorge=../../tf/pb", "-methods", "../../internal/method", "-check"},
	} {
		if err := run(t.Context(), args, io.Discard); err != nil {
			t.Error(err)
		}
	}
}

const (
	shapeProto = `// A file.
syntax = "proto3";
package zoo;
option go_package = "example.com/zoo";
// Shape has sides.
message Shape { int32 sides = 1; }
`
	cageProto = `syntax = "proto3";
package zoo;
import "gorge/shape.proto";
import "google/protobuf/any.proto";
option go_package = "example.com/zoo";
message Cage { Shape shape = 1; google.protobuf.Any animal = 2; }
`
)

// protoDir makes a directory of the given files.
func protoDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGenerate(t *testing.T) {
	dir := protoDir(t, map[string]string{"shape.proto": shapeProto, "cage.proto": cageProto})
	got, _, err := generate(t.Context(), sources{dir: dir, prefix: "gorge"}, sources{})
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"cage.pb.go", "shape.pb.go"}) {
		t.Fatalf("generated %v", names)
	}
	for name, parts := range map[string][]string{
		"shape.pb.go": {"// A file.", "// Shape has sides.\ntype Shape struct", "source: gorge/shape.proto", "package zoo"},
		"cage.pb.go":  {"Shape         *Shape", "Animal        *anypb.Any"},
	} {
		for _, part := range parts {
			if !strings.Contains(got[name], part) {
				t.Errorf("%s lacks %q", name, part)
			}
		}
	}
}

func TestWriteThenCheck(t *testing.T) {
	dir := protoDir(t, map[string]string{
		"shape.proto": shapeProto,
		"old.pb.go":   "package zoo", // its .proto file is gone
		"hand.go":     "package zoo",
	})
	check := []string{"-dir", dir, "-check"}
	err := run(t.Context(), check, io.Discard)
	for _, want := range []string{"shape.pb.go is missing", "old.pb.go has no .proto file"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check before writing: %v, want %q in it", err, want)
		}
	}
	if err := run(t.Context(), []string{"-dir", dir}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), check, io.Discard); err != nil {
		t.Errorf("check after writing: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "hand.go")); err != nil {
		t.Errorf("a file that is not generated was touched: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shape.pb.go"), []byte("package zoo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), check, io.Discard); err == nil || !strings.Contains(err.Error(), "shape.pb.go is stale") {
		t.Errorf("check of an edited file: %v", err)
	}
}

// TestServices: what a service declares is in table and stubs; the messages do not
// know of it.
func TestServices(t *testing.T) {
	const zooService = `syntax = "proto3";
package gorge.zoo;
import "gorge/method.proto";
option go_package = "example.com/zoo";
// ZooService feeds animals.
service ZooService {
  // Feed gives an animal
  // something.
  rpc Feed(FeedRequest) returns (FeedResponse) { option (gorge.method.call) = { role: RUN, idempotent: true, wait_for_ready: true }; }
  // Watch looks.
  rpc Watch(stream FeedRequest) returns (stream FeedResponse) { option (gorge.method.call) = { role: OBSERVE }; }
  // Weigh weighs.
  rpc Weigh(FeedRequest) returns (FeedResponse) { option (gorge.method.call) = { role: ADMINISTER, audited: true, answer: "Weight" }; }
}
message FeedRequest {}
message FeedResponse {}
`
	dir, methods, stubs := protoDir(t, map[string]string{"zoo.proto": zooService}), t.TempDir(), t.TempDir()
	args := []string{"-dir", dir, "-methods", methods, "-stubs", stubs}
	for _, a := range [][]string{args, append(slices.Clone(args), "-check")} {
		if err := run(t.Context(), a, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	for file, parts := range map[string][]string{
		filepath.Join(methods, "zz_gorge.go"): {
			`ZooService = "tensorflow.zoo.ZooService"`, `ZooFeed  = "/tensorflow.zoo.ZooService/Feed"`, "ZooFeed:  {Role: Run, Idempotent: true},", "ZooWatch: {Role: Observe},", "ZooWeigh: {Role: Administer, Audited: true},",
		},
		filepath.Join(stubs, "zz_zoo.go"): {
			"// A ZooServer feeds animals.\ntype ZooServer interface {", "	// something.\n	Feed(context.Context, *pb.FeedRequest) (*pb.FeedResponse, error)",
			"Watch() func(context.Context, *pb.FeedRequest) (*pb.FeedResponse, error)", "Weigh(context.Context, *pb.FeedRequest) (*Weight, error)",
			"unary(method.ZooFeed, ZooServer.Feed)", "stream(method.ZooWatch, ZooServer.Watch)", "method.ZooFeed, req, grpc.WaitForReady(true))",
		},
	} {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(got), part) {
				t.Errorf("%s lacks %q:\n%s", filepath.Base(file), part, got)
			}
		}
		if strings.Contains(string(got), "func (c *ZooClient) W") {
			t.Errorf("%s has clients' methods that are written by hand:\n%s", filepath.Base(file), got)
		}
	}
	messages, err := os.ReadFile(filepath.Join(dir, "zoo.pb.go"))
	if err != nil || strings.Contains(string(messages), methodFile) || strings.Contains(string(messages), "ZooService") {
		t.Errorf("the messages know of the service, or %v", err)
	}
}

func TestGenerateRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, content, want string
	}{
		{"syntax error", "syntax = proto3;", "syntax error"},
		{"number used twice", `syntax = "proto3"; message M { int32 a = 1; int32 b = 1; }`, "both have the same tag 1"},
		{"import outside the prefix", `syntax = "proto3"; import "other/x.proto";`, "file does not exist"},
		{"import of a missing file", `syntax = "proto3"; import "gorge/x.proto";`, "no such file"},
		{"method without role", `syntax = "proto3"; package gorge; message M {} service S { rpc F(M) returns (M); }`, "gorge.S.F does not"},
		{"stream one way", `syntax = "proto3"; package gorge; message M {} service S { rpc F(stream M) returns (M); }`, "gorge.S.F has one"},
		{"no Go package", `syntax = "proto3"; message M {}`, "go_package"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := protoDir(t, map[string]string{"bad.proto": tc.content})
			err := run(t.Context(), []string{"-dir", dir}, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestEmptyDirectoryIsRefused(t *testing.T) {
	err := run(t.Context(), []string{"-dir", t.TempDir()}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "must hold .proto files") {
		t.Errorf("error = %v", err)
	}
}
