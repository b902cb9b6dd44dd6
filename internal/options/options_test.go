package options_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gorge-tf/gorge/internal/options"
	"github.com/gorge-tf/gorge/tf/pb"
)

var update = flag.Bool("update", false, "write docs/options.md anew")

const root, page = "../..", "../../docs/options.md"

// messages are those whose fields the table lists.
var messages = []protoreflect.ProtoMessage{
	&pb.ConfigProto{}, &pb.ConfigProto_Experimental{}, &pb.GraphOptions{}, &pb.OptimizerOptions{}, &pb.RewriterConfig{},
	&pb.RPCOptions{}, &pb.RunOptions{}, &pb.RunOptions_Experimental{},
}

func TestEveryFieldIsInTheTable(t *testing.T) {
	var want []string
	for _, m := range messages {
		fields := m.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			want = append(want, options.Name(fields.Get(i)))
		}
	}
	have := map[string]bool{}
	for _, r := range options.Table() {
		if have[r.Name] {
			t.Errorf("%s is listed twice", r.Name)
		}
		have[r.Name] = true
		if r.Fate != options.Served && r.Fate != options.Refused && r.Fate != options.Ignored {
			t.Errorf("%s is %q, which is no fate", r.Name, r.Fate)
		}
	}
	for _, name := range want {
		if !have[name] {
			t.Errorf("%s is not in table.txt", name)
		}
		delete(have, name)
	}
	for name := range have {
		t.Errorf("%s is no field of a message", name)
	}
}

// TestServedFieldsAreRead looks for code that reads a field that is said to be
// served or refused, and for none that reads one without effect.
func TestServedFieldsAreRead(t *testing.T) {
	read := fieldsRead(t)
	for _, r := range options.Table() {
		name := r.Name[strings.LastIndex(r.Name, ".")+1:]
		if r.Fate != options.Ignored && !read[camel(name)] {
			t.Errorf("%s is said to be %s, but no code reads it", r.Name, r.Fate)
		}
	}
	for _, r := range options.ProgramTable() {
		if name := r.Name[strings.LastIndex(r.Name, ".")+1:]; !read[name] {
			t.Errorf("%s is said to be %s and %s, but no code reads it", r.Name, r.Local, r.Cluster)
		}
	}
}

// fieldsRead returns the names of all fields that our code selects, as x.Name or
// x.GetName(), outside of the messages' own package and tests.
func fieldsRead(t *testing.T) map[string]bool {
	read := map[string]bool{}
	for _, dir := range []string{"internal", "tf", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			slashed := filepath.ToSlash(path)
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(slashed, "/tf/pb/") || strings.Contains(slashed, "internal/options/") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					read[strings.TrimPrefix(s.Sel.Name, "Get")] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return read
}

// camel turns "device_count" into "DeviceCount".
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func TestWhatHasNoEffectIsToldOnce(t *testing.T) {
	cfg := &pb.ConfigProto{
		PlacementPeriod: 3, AllowSoftPlacement: true, GraphOptions: &pb.GraphOptions{RewriteOptions: &pb.RewriterConfig{LayoutOptimizer: pb.RewriterConfig_OFF}},
		Experimental: &pb.ConfigProto_Experimental{UseNumaAffinity: true}, GpuOptions: &pb.GPUOptions{AllowGrowth: true},
	}
	var buf bytes.Buffer
	log := slog.New(slog.NewTextHandler(&buf, nil))
	var teller options.Teller
	for range 3 {
		teller.Tell(log, cfg)
	}
	for _, name := range []string{"ConfigProto.placement_period", "RewriterConfig.layout_optimizer", "ConfigProto.Experimental.use_numa_affinity", "ConfigProto.gpu_options"} {
		if n := strings.Count(buf.String(), "option="+name); n != 1 {
			t.Errorf("%s is told %d times, want once:\n%s", name, n, buf.String())
		}
	}
	if strings.Contains(buf.String(), "soft_placement") {
		t.Errorf("an option that is served is told:\n%s", buf.String())
	}
}

func TestThePageIsCurrent(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Options of sessions and steps\n\nWhat becomes of each field of TensorFlow's `ConfigProto` and `RunOptions`. An option without effect is logged once by the server that gets it.\n" +
		"Made from `internal/options/table.txt` by `go test ./internal/options -update`.\n\n| field | what becomes of it | |\n|---|---|---|\n")
	words := map[options.Fate]string{options.Served: "served", options.Refused: "**refused**", options.Ignored: "no effect"}
	for _, r := range options.Table() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Name, words[r.Fate], r.Why)
	}
	b.WriteString("\n# Options of Go programs\n\nWhat becomes of the fields of `session.Config` and `session.RunOptions`, in sessions of this process and on clusters. An option without effect is logged once in a process.\n" +
		"The options of servers, `cluster.Config`, are all served. Made from `internal/options/program.txt`.\n\n| field | in this process | on a cluster | |\n|---|---|---|---|\n")
	for _, r := range options.ProgramTable() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, words[r.Local], words[r.Cluster], r.Why)
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(page); err != nil || string(have) != b.String() {
		t.Errorf("%s is not what table.txt says (%v): run go test ./internal/options -update", page, err)
	}
}
