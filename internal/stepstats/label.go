package stepstats

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
)

// Label describes a node as readers of traces take it apart: "y = MatMul(x, w:1, ^z)".
func Label(n *graph.Node) string {
	in := make([]string, 0, len(n.In)+len(n.Control))
	for _, x := range n.In {
		if x.Out == 0 {
			in = append(in, x.Node.Name)
			continue
		}
		in = append(in, x.Name())
	}
	for _, c := range n.Control {
		in = append(in, "^"+c.Name)
	}
	return fmt.Sprintf("%s = %s(%s)", n.Name, n.OpName(), strings.Join(in, ", "))
}
