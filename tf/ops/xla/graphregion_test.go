package xla

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestRegionOfLargeFunctions: a function is read anew for each of its calls, with all of
// its nodes. A large one that is called often is refused before that takes minutes.
func TestRegionOfLargeFunctions(t *testing.T) {
	const nodes, calls = 1 << 12, 1 << 7
	float := &pb.AttrValue{Value: &pb.AttrValue_Type{Type: pb.DataType_DT_FLOAT}}
	floats := &pb.AttrValue{Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{Type: []pb.DataType{pb.DataType_DT_FLOAT}}}}
	function := func(name string, body []*pb.NodeDef, ret string) *pb.FunctionDef {
		arg := func(name string) []*pb.OpDef_ArgDef {
			return []*pb.OpDef_ArgDef{{Name: name, Type: pb.DataType_DT_FLOAT}}
		}
		return &pb.FunctionDef{Signature: &pb.OpDef{Name: name, InputArg: arg("x"), OutputArg: arg("y")}, NodeDef: body, Ret: map[string]string{"y": ret}}
	}
	var large, main []*pb.NodeDef
	for i := range nodes {
		large = append(large, &pb.NodeDef{Name: fmt.Sprintf("n%d", i), Op: "Identity", Input: []string{"x"}, Attr: map[string]*pb.AttrValue{"T": float}})
	}
	in := "x"
	for i := range calls {
		called := &pb.AttrValue{Value: &pb.AttrValue_Func{Func: &pb.NameAttrList{Name: "large"}}}
		n := &pb.NodeDef{Name: fmt.Sprintf("c%d", i), Op: "PartitionedCall", Input: []string{in}, Attr: map[string]*pb.AttrValue{"Tin": floats, "Tout": floats, "f": called}}
		main, in = append(main, n), n.Name+":output:0"
	}
	for _, last := range []int{1, calls} {
		l, err := core.NewLibrary(&pb.FunctionDefLibrary{Function: []*pb.FunctionDef{
			function("large", large, "n0:output:0"), function("main", main[:last], main[last-1].Name+":output:0")}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = regionOf(l, core.Func{Name: "main"})
		if want := last == calls; (err != nil) != want || want && tf.CodeOf(err) != tf.Unimplemented {
			t.Errorf("%d calls of a function of %d nodes: got %v", last, nodes, err)
		}
	}
}
