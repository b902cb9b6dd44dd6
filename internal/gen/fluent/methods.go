package main

// A form is how the arguments of a method become those of its op.
type form int

const (
	unary      form = iota // x.Op()
	binary                 // x.Op(y), where y may be a Go number
	product                // x.Op(y) of tensors that do not broadcast
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
	{"Acos", unary, "", "returns the angle whose cosine is o."},
	{"Acosh", unary, "", "returns the number whose hyperbolic cosine is o."},
	{"Add", binary, "AddV2", "returns o + y."},
	{"All", reduction, "", "reports whether all elements hold along axes, or all there are."},
	{"And", binary, "LogicalAnd", "reports where both o and y hold."},
	{"Any", reduction, "", "reports whether an element holds along axes, or among all."},
	{"ArgMax", position, "", "returns the positions of the greatest elements along an axis."},
	{"ArgMin", position, "", "returns the positions of the least elements along an axis."},
	{"Asin", unary, "", "returns the angle whose sine is o."},
	{"Asinh", unary, "", "returns the number whose hyperbolic sine is o."},
	{"Atan", unary, "", "returns the angle whose tangent is o."},
	{"Atan2", binary, "", "returns the angle of the point whose coordinates are y and o."},
	{"Atanh", unary, "", "returns the number whose hyperbolic tangent is o."},
	{"BatchMatMul", product, "BatchMatMulV2", "returns the products of stacks of matrices."},
	{"BiasAdd", product, "", "returns o with vector y added to every row."},
	{"BitwiseAnd", binary, "", "returns the bits that both integers o and y have."},
	{"BitwiseOr", binary, "", "returns the bits that o or y has."},
	{"BitwiseXor", binary, "", "returns the bits that one of o and y has."},
	{"BroadcastTo", vector, "", "returns o repeated to fill a shape of these sizes."},
	{"Cast", conversion, "", "returns o converted to type d."},
	{"Ceil", unary, "", "returns o rounded up."},
	{"Cos", unary, "", "returns the cosine of o."},
	{"Cosh", unary, "", "returns the hyperbolic cosine of o."},
	{"Cumprod", position, "", "returns the running products along an axis."},
	{"Cumsum", position, "", "returns the running sums along an axis."},
	{"Digamma", unary, "", "returns the derivative of Lgamma."},
	{"DivNoNan", binary, "", "returns o / y, and 0 where y is 0."},
	{"Elu", unary, "", "returns o where it is positive, else e^o - 1."},
	{"Equal", binary, "", "reports where o == y."},
	{"Erf", unary, "", "returns the error function of o."},
	{"Erfc", unary, "", "returns 1 - Erf(o)."},
	{"EuclideanNorm", reduction, "", "returns the square roots of the sums of squares along axes, or of all."},
	{"Exp", unary, "", "returns e to the power of o."},
	{"ExpandDims", position, "", "returns o with a dimension of size 1 put in at axis."},
	{"Expm1", unary, "", "returns e^o - 1."},
	{"Floor", unary, "", "returns o rounded down."},
	{"FloorDiv", binary, "", "returns o / y rounded down."},
	{"Greater", binary, "", "reports where o > y."},
	{"GreaterEqual", binary, "", "reports where o >= y."},
	{"Identity", unary, "", "returns o as the result of another operation."},
	{"Invert", unary, "", "returns the integers with all bits of o inverted."},
	{"IsFinite", unary, "", "reports where o is neither infinite nor NaN."},
	{"IsInf", unary, "", "reports where o is infinite."},
	{"IsNan", unary, "", "reports where o is NaN."},
	{"L2Loss", unary, "", "returns half the sum of the squares of all elements, a scalar."},
	{"LeakyRelu", unary, "", "returns o where it is positive, else 0.2·o."},
	{"LeftShift", binary, "", "returns o shifted left by y bits."},
	{"Less", binary, "", "reports where o < y."},
	{"LessEqual", binary, "", "reports where o <= y."},
	{"Lgamma", unary, "", "returns the logarithm of the absolute value of the gamma function."},
	{"Log", unary, "", "returns the natural logarithm of o."},
	{"Log1p", unary, "", "returns the natural logarithm of 1 + o."},
	{"LogSoftmax", unary, "", "returns the logarithm of Softmax."},
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
	{"OnesLike", unary, "", "returns ones of the type and shape of o."},
	{"Or", binary, "LogicalOr", "reports where o or y holds."},
	{"Pow", binary, "", "returns o to the power of y."},
	{"Prod", reduction, "", "returns the products along axes, or of all elements."},
	{"Rank", unary, "", "returns how many dimensions o has, an int32 scalar that the step computes."},
	{"Reciprocal", unary, "", "returns 1/o."},
	{"Relu", unary, "", "returns o where it is positive, else 0."},
	{"Relu6", unary, "", "returns o limited to [0, 6]."},
	{"Reshape", vector, "", "returns the elements of o in a shape of these sizes, of which one may be -1: what is left."},
	{"RightShift", binary, "", "returns o shifted right by y bits."},
	{"Rint", unary, "", "returns the integer nearest to o, the even one of two."},
	{"Round", unary, "", "returns the integer nearest to o, the even one of two."},
	{"Rsqrt", unary, "", "returns 1/√o."},
	{"SegmentSum", product, "", "returns the sums of the slices of o that y, sorted integers, gives the same id."},
	{"Selu", unary, "", "returns the scaled exponential linear unit of o."},
	{"Sigmoid", unary, "", "returns 1/(1 + e^-o)."},
	{"Sign", unary, "", "returns the sign of o."},
	{"Sin", unary, "", "returns the sine of o."},
	{"Sinh", unary, "", "returns the hyperbolic sine of o."},
	{"Size", unary, "", "returns how many elements o has, an int32 scalar that the step computes."},
	{"Softmax", unary, "", "returns e^o / Σe^o along the last dimension."},
	{"Softplus", unary, "", "returns log(1 + e^o)."},
	{"Softsign", unary, "", "returns o / (1 + |o|)."},
	{"Sqrt", unary, "", "returns the square root of o."},
	{"Square", unary, "", "returns o²."},
	{"SquaredDifference", binary, "", "returns |o - y|²."},
	{"StopGradient", unary, "", "returns o as a constant to differentiation."},
	{"Sub", binary, "", "returns o - y."},
	{"Sum", reduction, "", "returns the sums along axes, or of all elements."},
	{"Tan", unary, "", "returns the tangent of o."},
	{"Tanh", unary, "", "returns the hyperbolic tangent of o."},
	{"Tile", vector, "", "returns o repeated so many times along each dimension."},
	{"Where", unary, "", "returns the indices of the elements that are true or not zero, one row for each."},
	{"Xdivy", binary, "", "returns o / y, and 0 where o is 0."},
	{"Xlogy", binary, "", "returns o · log(y), and 0 where o is 0."},
	{"ZerosLike", unary, "", "returns zeros of the type and shape of o."},
}
