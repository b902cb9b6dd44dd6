package pass

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph/graphtext"
)

// signature reads "feeds; fetches; targets; from>to".
func signature(text string) Signature {
	parts := strings.Split(strings.TrimSpace(text), ";")
	list := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	}
	s := Signature{Feeds: list(parts[0]), Fetches: list(parts[1]), Targets: list(parts[2])}
	for _, x := range list(strings.Join(parts[3:], "")) {
		from, to, _ := strings.Cut(x, ">")
		s.Connections = append(s.Connections, Connection{From: from, To: to})
	}
	return s
}

func TestClientGraph(t *testing.T) {
	for _, c := range readCases(t, "prune.txt") {
		t.Run(c.name, func(t *testing.T) {
			g := parse(t, c.sections[0])
			before := graphtext.Print(g)
			pruned, err := ClientGraph(g, signature(c.sections[1]), Terminals{Frame: true, ClientDevice: "/client"})
			if err != nil {
				same(t, "error "+message(err), c.sections[2])
				return
			}
			same(t, sorted(graphtext.Print(pruned)), sorted(c.sections[2]))
			if err := Check(pruned); err != nil {
				t.Error(err)
			}
			same(t, graphtext.Print(g), before)
		})
	}
}

// TestClientGraphOfMaster: feeds are received from the client, fetches sent.
func TestClientGraphOfMaster(t *testing.T) {
	g := parse(t, "x = Placeholder[dtype=float32, shape=[]]\ny = Neg(x)")
	pruned, err := ClientGraph(g, signature("x:0; y:0;"), Terminals{ClientDevice: "/task:0", Incarnation: 9})
	if err != nil {
		t.Fatal(err)
	}
	const common = `client_terminated=true, recv_device="/task:0", send_device="/task:0", send_device_incarnation=9, `
	same(t, graphtext.Print(pruned), `_recv_x_0 = _Recv[`+common+`tensor_name="x:0", tensor_type=float32] @/task:0
y = Neg(_recv_x_0)
_send_y_0 = _Send[`+common+`tensor_name="y:0"](y) @/task:0`)
}

// TestDeepGraph: depth costs no stack.
func TestDeepGraph(t *testing.T) {
	var b strings.Builder
	const depth = 50000
	b.WriteString("n0 = NoOp\n")
	for i := range depth {
		fmt.Fprintf(&b, "n%d = NoOp(^n%d)\n", i+1, i)
	}
	g := parse(t, b.String())
	pruned, err := ClientGraph(g, Signature{Targets: []string{fmt.Sprintf("n%d", depth)}}, Terminals{Frame: true, ClientDevice: "/c"})
	if err != nil || len(pruned.Nodes) != depth+1 {
		t.Errorf("got %d nodes of %d, %v", len(pruned.Nodes), depth+1, err)
	}
}

// sorted puts lines in order.
func sorted(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestSignatureKey(t *testing.T) {
	seen := map[string]Signature{}
	for _, s := range []Signature{
		{}, {Feeds: []string{"a"}}, {Fetches: []string{"a"}}, {Targets: []string{"a"}},
		{Feeds: []string{"a", "b"}}, {Feeds: []string{"a"}, Fetches: []string{"b"}}, {Feeds: []string{"ab"}},
		{Fetches: []string{"a", "b"}}, {Fetches: []string{"b", "a"}},
	} {
		if other, ok := seen[s.Key()]; ok {
			t.Errorf("%v and %v have the same key", s, other)
		}
		seen[s.Key()] = s
	}
}

// TestResultsOfCallsAreFed: what reads past a call that has been taken apart reads what is
// fed or connected in the place of its result.
func TestResultsOfCallsAreFed(t *testing.T) {
	g := calling(t, "a = Placeholder[dtype=float32, shape=[]]\nc = PartitionedCall[f=\"f\", Tout=(float32, float32)](a)\nd = AddV2(c, c:1)\n",
		functions(t, map[string]string{"f": arg + "y = Neg(x)\nz = Exp(x)\nr = _Retval[index=0](y)\ns = _Retval[index=1](z)\n"}))
	if err := Lower(g, nil); err != nil {
		t.Fatal(err)
	}
	before := graphtext.Print(g)
	for s, want := range map[string]string{
		"a:0; d:0;;":         "d = AddV2(c/y, c/z)",
		"a:0, c:1; d:0;;":    "d = AddV2(c/y, _arg_c_1_1)",
		"c:0, c:1; d:0;;":    "d = AddV2(_arg_c_0_0, _arg_c_1_1)",
		"a:0; d:0;; a:0>c:1": "d = AddV2(c/y, _identity_c_1)",
	} {
		pruned, err := ClientGraph(g, signature(s), Terminals{Frame: true, ClientDevice: "/client"})
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if got := graphtext.Print(pruned); !strings.Contains(got, want) {
			t.Errorf("%s: want %s, got\n%s", s, want, got)
		}
	}
	same(t, graphtext.Print(g), before)
}
