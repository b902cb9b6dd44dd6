package master

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestCheckSyntax(t *testing.T) {
	for name, want := range map[string]string{
		"a": "", ".a/b-c_D.9": "", "a>b>.c": "",
		"": "Illegal op name ''", "_a": "Illegal op name '_a'", "a b": "Illegal op name 'a b'", "a:0": "Illegal op name 'a:0'", "/a": "Illegal op name '/a'",
		"a>": "Illegal op name 'a>'", ">a": "Illegal op name '>a'", "a>_b": "Illegal op name 'a>_b'", "ä": "Illegal op name 'ä'", `a\b`: `Illegal op name 'a\b'`,
	} {
		refused(t, name, checkSyntax(&pb.GraphDef{Node: []*pb.NodeDef{{Name: name}}}), want)
	}
	for inputs, want := range map[string]string{
		"a b:0 c:12 ^d ^e>f": "", "^a b": "All control inputs must follow all data inputs",
		"a:": "Illegal op input name 'a:'", "a:-1": "Illegal op input name 'a:-1'", "a:01": "Illegal op input name 'a:01'", "^": "Illegal op input name '^'",
		"^a:0": "Illegal op input name '^a:0'", "a:0:0": "Illegal op input name 'a:0:0'", "_a": "Illegal op input name '_a'",
	} {
		refused(t, inputs, checkSyntax(&pb.GraphDef{Node: []*pb.NodeDef{{Name: "n", Input: strings.Fields(inputs)}}}), want)
	}
}

// refused checks that an error is InvalidArgument and says something, or that
// there is none if that is empty.
func refused(t *testing.T, what string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%q: %v, want no error", what, err)
	case want != "" && (core.CodeOf(err) != core.InvalidArgument || !strings.Contains(core.AsError(err).Message(), want)):
		t.Errorf("%q: %v, want an InvalidArgument error: %s", what, err, want)
	}
}

func TestCheckVersions(t *testing.T) {
	for want, v := range map[string]*pb.VersionDef{
		"":                             {Producer: 1 << 30, MinConsumer: core.ProducerVersion, BadConsumers: []int32{1}},
		"producer version -1 below":    {Producer: -1},
		"min consumer version 9999":    {MinConsumer: 9999},
		"disallows consumer version 2": {BadConsumers: []int32{3, core.ProducerVersion}},
	} {
		refused(t, want, checkVersions(v), want)
	}
	refused(t, "no versions", checkVersions(nil), "")
}

func TestCheckCycles(t *testing.T) {
	for want, nodes := range map[string][]*pb.NodeDef{
		"":                   {{Name: "a", Op: "NoOp"}, {Name: "b", Op: "NoOp", Input: []string{"^a"}}},
		"1 nodes in a cycle": {{Name: "a", Op: "NoOp", Input: []string{"^a"}}},
		"3 nodes in a cycle": {{Name: "x", Op: "NoOp"}, {Name: "a", Op: "NoOp", Input: []string{"^b"}}, {Name: "b", Op: "NoOp", Input: []string{"^a"}}, {Name: "c", Op: "NoOp", Input: []string{"^a"}}},
	} {
		g, err := graph.FromProto(&pb.GraphDef{Node: nodes})
		if err != nil {
			t.Fatal(err)
		}
		refused(t, want, checkCycles(g), want)
	}
}

func TestExtendedTakesTheNewVersions(t *testing.T) {
	old := &pb.GraphDef{Versions: &pb.VersionDef{Producer: 27}}
	got, err := extended(old, &pb.GraphDef{Versions: &pb.VersionDef{Producer: 26, MinConsumer: 5}})
	if err != nil || got.GetVersions().GetProducer() != 26 || got.GetVersions().GetMinConsumer() != 5 {
		t.Errorf("extended by a graph of producer 26 = %v, %v; want that one's versions", got.GetVersions(), err)
	}
}

func TestCheckDevices(t *testing.T) {
	for want, device := range map[string]string{"": "/job:worker/cpu:0", "Malformed device specification '///' in node": "///"} {
		g, err := graph.FromProto(&pb.GraphDef{Node: []*pb.NodeDef{{Name: "a", Op: "NoOp", Device: device}}})
		if err != nil {
			t.Fatal(err)
		}
		refused(t, device, checkDevices(g), want)
	}
}

// TestCheckTyped: what is missing has another code in a new session's graph if types
// depend on it.
func TestCheckTyped(t *testing.T) {
	number := &pb.AttrValue{Value: &pb.AttrValue_Type{Type: 1}}
	for want, n := range map[string]*pb.NodeDef{
		"No attr named 'T' in NodeDef":     {Name: "n", Op: "Neg"},
		"No attr named 'N' in NodeDef":     {Name: "n", Op: "Pack", Attr: map[string]*pb.AttrValue{"T": number}},
		"No attr named 'dtype' in NodeDef": {Name: "n", Op: "Const"},
		"":                                 {Name: "n", Op: "Const", Attr: map[string]*pb.AttrValue{"dtype": number}},
	} {
		err := checkTyped(&pb.GraphDef{Node: []*pb.NodeDef{n}}, nil)
		if want == "" && err != nil || want != "" && (core.CodeOf(err) != core.NotFound || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v, want %s", n, err, want)
		}
	}
}
