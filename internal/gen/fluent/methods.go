package main

// A form is how the arguments of a method become those of its op.
type form int

const (
	unary      form = iota // x.Op()
	binary                 // x.Op(y)
	reduction              // x.Op(axes...)
	position               // x.Op(axis)
	vector                 // x.Op(sizes...)
	conversion             // x.Op(dtype)
)

// A method is one method of tf.Output: what op it adds, and what it says of
// itself after its name. op is the method's own name if empty.
type method struct {
	name string
	form form
	op   string
	doc  string
}

// methods lists what reads well in a chain. Everything else is called by its
// function in package ops.
var methods = []method{
	{"Abs", unary, "", "returns |o|."},
	{"Add", binary, "AddV2", "returns o + y."},
	{"All", reduction, "", "reports whether all elements hold along axes, or all there are."},
	{"And", binary, "LogicalAnd", "reports where both o and y hold."},
	{"Any", reduction, "", "reports whether an element holds along axes, or among all."},
	{"ArgMax", position, "", "returns the positions of the greatest elements along an axis."},
	{"ArgMin", position, "", "returns the positions of the least elements along an axis."},
	{"BatchMatMul", binary, "BatchMatMulV2", "returns the products of stacks of matrices."},
	{"BiasAdd", binary, "", "returns o with vector y added to every row."},
	{"Cast", conversion, "", "returns o converted to type d."},
	{"Ceil", unary, "", "returns o rounded up."},
	{"Cos", unary, "", "returns the cosine of o."},
	{"Div", binary, "RealDiv", "returns o / y of floating-point or complex numbers."},
	{"Equal", binary, "", "reports where o == y."},
	{"Exp", unary, "", "returns e to the power of o."},
	{"ExpandDims", position, "", "returns o with a dimension of size 1 put in at axis."},
	{"Floor", unary, "", "returns o rounded down."},
	{"FloorDiv", binary, "", "returns o / y rounded down."},
	{"Greater", binary, "", "reports where o > y."},
	{"GreaterEqual", binary, "", "reports where o >= y."},
	{"Identity", unary, "", "returns o as the result of another operation."},
	{"Less", binary, "", "reports where o < y."},
	{"LessEqual", binary, "", "reports where o <= y."},
	{"Log", unary, "", "returns the natural logarithm of o."},
	{"Log1p", unary, "", "returns the natural logarithm of 1 + o."},
	{"LogSoftmax", unary, "", "returns the logarithm of Softmax."},
	{"MatMul", binary, "", "returns the product of matrices o and y."},
	{"Max", reduction, "", "returns the greatest elements along axes, or of all."},
	{"Maximum", binary, "", "returns the greater of o and y."},
	{"Mean", reduction, "", "returns the means along axes, or of all elements."},
	{"Min", reduction, "", "returns the least elements along axes, or of all."},
	{"Minimum", binary, "", "returns the lesser of o and y."},
	{"Mod", binary, "FloorMod", "returns the remainder of FloorDiv, which has the sign of y."},
	{"Mul", binary, "", "returns o · y, element by element."},
	{"Neg", unary, "", "returns -o."},
	{"Not", unary, "LogicalNot", "reports where o does not hold."},
	{"NotEqual", binary, "", "reports where o != y."},
	{"Or", binary, "LogicalOr", "reports where o or y holds."},
	{"Pow", binary, "", "returns o to the power of y."},
	{"Prod", reduction, "", "returns the products along axes, or of all elements."},
	{"Reciprocal", unary, "", "returns 1/o."},
	{"Relu", unary, "", "returns o where it is positive, else 0."},
	{"Reshape", vector, "", "returns the elements of o in a shape of these sizes, of which one may be -1: what is left."},
	{"Round", unary, "", "returns the integer nearest to o, the even one of two."},
	{"Rsqrt", unary, "", "returns 1/√o."},
	{"Sigmoid", unary, "", "returns 1/(1 + e^-o)."},
	{"Sign", unary, "", "returns the sign of o."},
	{"Sin", unary, "", "returns the sine of o."},
	{"Softmax", unary, "", "returns e^o / Σe^o along the last dimension."},
	{"Sqrt", unary, "", "returns the square root of o."},
	{"Square", unary, "", "returns o²."},
	{"SquaredDifference", binary, "", "returns |o - y|²."},
	{"StopGradient", unary, "", "returns o as a constant to differentiation."},
	{"Sub", binary, "", "returns o - y."},
	{"Sum", reduction, "", "returns the sums along axes, or of all elements."},
	{"Tanh", unary, "", "returns the hyperbolic tangent of o."},
	{"Transpose", vector, "", "returns o with its dimensions in the order of these."},
}
