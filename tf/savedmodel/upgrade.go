package savedmodel

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// upgrade changes the nodes that old releases of TensorFlow wrote for signatures of
// ops which have changed since. GatherTree had no end token in 1.4: what lay beyond a
// beam's length was -1.
func upgrade(g *pb.GraphDef) {
	var tokens []*pb.NodeDef
	for _, n := range g.GetNode() {
		if n.GetOp() != "GatherTree" || len(dataInputs(n)) != 3 {
			continue
		}
		token := endToken(n.GetName()+"/end_token_of_beams", nodeOf(n.GetInput()[0]))
		n.Input = slices.Insert(n.Input, 3, token.GetName())
		tokens = append(tokens, token)
	}
	if len(tokens) > 0 {
		g.Node = append(g.Node, tokens...)
	}
}

// endToken is a constant that runs after a node, in the loop where that is.
func endToken(name, after string) *pb.NodeDef {
	value := &pb.AttrValue{Value: &pb.AttrValue_Tensor{Tensor: core.TensorProto(core.Scalar(int32(-1)))}}
	return &pb.NodeDef{Name: name, Op: "Const", Input: []string{"^" + after}, Attr: map[string]*pb.AttrValue{"dtype": typeAttr(pb.DataType_DT_INT32), "value": value}}
}
