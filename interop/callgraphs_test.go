package interop

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Task names of the cluster that calls are made of.
const (
	task0 = "/job:worker/replica:0/task:0"
	task1 = "/job:worker/replica:0/task:1"
)

// ins are the inputs of a node.
type ins []string

// nodeOf makes a node as clients send it: attributes as name, value, name, value.
func nodeOf(name, op string, in ins, attrs ...any) *pb.NodeDef {
	n := &pb.NodeDef{Name: name, Op: op, Input: in}
	if len(attrs) > 0 {
		n.Attr = map[string]*pb.AttrValue{}
	}
	for i := 0; i < len(attrs); i += 2 {
		n.Attr[attrs[i].(string)] = attribute(attrs[i+1])
	}
	return n
}

func attribute(v any) *pb.AttrValue {
	switch v := v.(type) {
	case pb.DataType:
		return &pb.AttrValue{Value: &pb.AttrValue_Type{Type: v}}
	case tf.DType:
		return &pb.AttrValue{Value: &pb.AttrValue_Type{Type: pb.DataType(v)}}
	case string:
		return &pb.AttrValue{Value: &pb.AttrValue_S{S: []byte(v)}}
	case bool:
		return &pb.AttrValue{Value: &pb.AttrValue_B{B: v}}
	case int:
		return &pb.AttrValue{Value: &pb.AttrValue_I{I: int64(v)}}
	case []int64:
		return &pb.AttrValue{Value: &pb.AttrValue_Shape{Shape: shapeOf(v)}}
	case []tf.DType:
		l := &pb.AttrValue_ListValue{}
		for _, d := range v {
			l.Type = append(l.Type, pb.DataType(d))
		}
		return &pb.AttrValue{Value: &pb.AttrValue_List{List: l}}
	case *pb.TensorProto:
		return &pb.AttrValue{Value: &pb.AttrValue_Tensor{Tensor: v}}
	case *pb.NameAttrList:
		return &pb.AttrValue{Value: &pb.AttrValue_Func{Func: v}}
	}
	panic(v)
}

func shapeOf(dims []int64) *pb.TensorShapeProto {
	s := &pb.TensorShapeProto{}
	for _, d := range dims {
		s.Dim = append(s.Dim, &pb.TensorShapeProto_Dim{Size: d})
	}
	return s
}

// tensorOf makes a value; a proto is taken as it is.
func tensorOf(v any) *pb.TensorProto {
	switch v := v.(type) {
	case nil:
		return nil
	case *pb.TensorProto:
		return v
	case int:
		return &pb.TensorProto{Dtype: pb.DataType(tf.Int32), TensorShape: shapeOf(nil), IntVal: []int32{int32(v)}}
	case float64:
		return &pb.TensorProto{Dtype: pb.DataType(tf.Float32), TensorShape: shapeOf(nil), FloatVal: []float32{float32(v)}}
	case []float32:
		return &pb.TensorProto{Dtype: pb.DataType(tf.Float32), TensorShape: shapeOf([]int64{int64(len(v))}), FloatVal: v}
	case string:
		return &pb.TensorProto{Dtype: pb.DataType(tf.String), TensorShape: shapeOf(nil), StringVal: [][]byte{[]byte(v)}}
	case bool:
		return &pb.TensorProto{Dtype: pb.DataType(tf.Bool), TensorShape: shapeOf(nil), BoolVal: []bool{v}}
	}
	panic(v)
}

func graphOf(nodes ...*pb.NodeDef) *pb.GraphDef {
	return &pb.GraphDef{Node: nodes, Versions: &pb.VersionDef{Producer: 27}}
}

// at puts a node on a device.
func at(device string, n *pb.NodeDef) *pb.NodeDef {
	n.Device = device
	return n
}

func constant(name string, v any) *pb.NodeDef {
	p := tensorOf(v)
	return nodeOf(name, "Const", nil, "dtype", tf.DType(p.GetDtype()), "value", p)
}

func holder(name string, d tf.DType) *pb.NodeDef { return nodeOf(name, "Placeholder", nil, "dtype", d) }

func simple(name, op, in string) *pb.NodeDef { return nodeOf(name, op, ins{in}, "T", tf.Float32) }

func twofold(name, op, x, y string) *pb.NodeDef {
	return nodeOf(name, op, ins{x, y}, "T", tf.Float32)
}

// abc is r1 = a+b, r2 = r1*c with a default for c, r3 = -r2, and a node without
// outputs.
func abc() []*pb.NodeDef {
	return []*pb.NodeDef{
		holder("a", tf.Float32), holder("b", tf.Float32), constant("c", 2.0),
		twofold("r1", "AddV2", "a", "b"), twofold("r2", "Mul", "r1", "c"), simple("r3", "Neg", "r2"),
		nodeOf("nothing", "NoOp", nil), nodeOf("after", "NoOp", ins{"^r1"}),
	}
}

// across computes y = x², where x = -a is of the other task.
func across() []*pb.NodeDef {
	return []*pb.NodeDef{
		at(task0, holder("a", tf.Float32)), at(task1, simple("x", "Neg", "a")), at(task0, simple("y", "Square", "x")), at(task1, simple("z", "Neg", "y")),
	}
}

// counter is a variable with its initializer, a step and a read.
func counter(name, device string) []*pb.NodeDef {
	return []*pb.NodeDef{
		at(device, nodeOf(name, "VarHandleOp", nil, "dtype", tf.Float32, "shape", []int64{}, "shared_name", name)),
		at(device, constant(name+"/zero", 0.0)), at(device, constant(name+"/one", 1.0)),
		at(device, nodeOf(name+"/init", "AssignVariableOp", ins{name, name + "/zero"}, "dtype", tf.Float32)),
		at(device, nodeOf(name+"/add", "AssignAddVariableOp", ins{name, name + "/one"}, "dtype", tf.Float32)),
		at(device, nodeOf(name+"/read", "ReadVariableOp", ins{name}, "dtype", tf.Float32)),
	}
}

// waits is a queue from which nothing can be taken.
func waits(name, device string) []*pb.NodeDef {
	return []*pb.NodeDef{
		at(device, nodeOf(name, "FIFOQueueV2", nil, "component_types", []tf.DType{tf.Float32}, "shared_name", name)),
		at(device, nodeOf(name+"/take", "QueueDequeueV2", ins{name}, "component_types", []tf.DType{tf.Float32})),
	}
}

// fails divides by zero.
func fails(name, device string) []*pb.NodeDef {
	return []*pb.NodeDef{
		at(device, constant(name+"/x", 1)), at(device, constant(name+"/y", 0)),
		at(device, nodeOf(name, "FloorDiv", ins{name + "/x", name + "/y"}, "T", tf.Int32)),
	}
}
