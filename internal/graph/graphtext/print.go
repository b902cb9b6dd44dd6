package graphtext

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Print writes g, nodes in the order in which they stand.
func Print(g *graph.Graph) string {
	var b strings.Builder
	for _, n := range g.Nodes {
		b.WriteString(node(n))
		b.WriteByte('\n')
	}
	return b.String()
}

func node(n *graph.Node) string {
	s := n.Name + " = " + n.OpName()
	if attrs := attrList(n); len(attrs) > 0 {
		s += "[" + strings.Join(attrs, ", ") + "]"
	}
	if in := inputList(n); len(in) > 0 {
		s += "(" + strings.Join(in, ", ") + ")"
	}
	if n.Device != "" {
		s += " @" + n.Device
	}
	return s
}

func inputList(n *graph.Node) []string {
	var out []string
	for _, e := range n.In {
		out = append(out, input{e.Node.Name, e.Out}.String())
	}
	for _, c := range n.Control {
		out = append(out, "^"+c.Name)
	}
	return out
}

// attrList writes the attributes that are worth it, in the order of names.
func attrList(n *graph.Node) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
		v, d := n.Attrs[name], n.Def.Attr(name)
		if d != nil && (d.Default != nil && core.AttrEqual(v, d.Default) || implied(n, name)) {
			continue
		}
		out = append(out, name+"="+format(v))
	}
	return out
}

// implied reports whether the inputs, read back, would give the attribute its
// value.
func implied(n *graph.Node, attr string) bool {
	l := &line{op: n.Def, attrs: core.Attrs{}, inputs: make([]input, len(n.In))}
	if !bound(n.Def, attr) || n.Def.Attr(attr).Default != nil {
		return false
	}
	at := 0
	for i := range n.Def.Inputs {
		a := &n.Def.Inputs[i]
		k := l.length(a)
		if k < 0 {
			return false
		}
		if k > 0 && a.TypeAttr == attr {
			return n.In[at].Type().Base() == n.Attrs[attr]
		}
		if a.NumAttr == attr || a.ListAttr == attr {
			return true
		}
		at += k
	}
	return false
}

func format(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case core.Func:
		return strconv.Quote(v.Name)
	case *core.Tensor:
		return formatTensor(v)
	case []string:
		return formatList(v)
	case []int64:
		return formatList(v)
	case []float32:
		return formatList(v)
	case []bool:
		return formatList(v)
	case []core.DType:
		return formatList(v)
	case []core.Shape:
		return formatList(v)
	case []*core.Tensor:
		return formatList(v)
	case []core.Func:
		return formatList(v)
	}
	return fmt.Sprint(v)
}

func formatList[T any](list []T) string {
	items := make([]string, len(list))
	for i, v := range list {
		items[i] = format(v)
	}
	return "(" + strings.Join(items, ", ") + ")"
}
