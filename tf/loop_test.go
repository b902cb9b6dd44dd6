package tf_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// loopGraph squares x for as long as less is true, in a loop that a GraphDef
// brought.
const loopGraph = `
	node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
	node { name: "less" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } }
	node { name: "enter" op: "Enter" input: "x" attr { key: "T" value { type: DT_FLOAT } } attr { key: "frame_name" value { s: "f" } } }
	node { name: "merge" op: "Merge" input: "enter" input: "next" attr { key: "T" value { type: DT_FLOAT } } attr { key: "N" value { i: 2 } } }
	node { name: "constant" op: "Enter" input: "less" attr { key: "T" value { type: DT_BOOL } }
		attr { key: "frame_name" value { s: "f" } } attr { key: "is_constant" value { b: true } } }
	node { name: "cond" op: "LoopCond" input: "constant" }
	node { name: "switch" op: "Switch" input: "merge" input: "cond" attr { key: "T" value { type: DT_FLOAT } } }
	node { name: "square" op: "Mul" input: "switch:1" input: "switch:1" attr { key: "T" value { type: DT_FLOAT } } }
	node { name: "next" op: "NextIteration" input: "square" attr { key: "T" value { type: DT_FLOAT } } }
	node { name: "exit" op: "Exit" input: "switch" attr { key: "T" value { type: DT_FLOAT } } }`

func TestGradientsThroughImportedLoops(t *testing.T) {
	g := tf.NewGraph()
	if err := g.ImportProto(parseGraph(t, loopGraph), tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	x, y := g.Operation("x").Output(0), g.Operation("exit").Output(0)
	_, err := tf.Gradients(y, x)
	if err == nil || !strings.Contains(err.Error(), "loop") && !strings.Contains(err.Error(), "No gradient defined") {
		t.Errorf("got %v", err)
	}
}
