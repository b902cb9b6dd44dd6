package core

// A Role is what an op is to the engine beside what it computes: how it directs
// values, moves them, or calls functions. Passes and executors ask for it instead of
// names, so that several ops may have one role. An op of the program's own may have
// one, too, if its kernel, inputs, outputs and attributes are as the role has them.
type Role uint8

const (
	// Computes is the role of all ops without another one.
	Computes Role = iota

	Constant // its output is attribute value
	Fed      // has no value unless it is fed

	// Control flow of TensorFlow 1: values that may be dead, frames for loops.

	Switches  // passes input 0 to one of its outputs; the others are dead
	Merges    // passes on the first input that is live
	Enters    // passes its input into the frame of its attribute frame_name
	Exits     // passes its input out of a frame when that is done
	Repeats   // passes its input into the next iteration of a frame
	Continues // its input says whether a frame has another iteration
	NeverDies // runs when what it waits for is done, dead or not

	// Transfers between graphs and devices, by a rendezvous.

	Sends    // from attribute send_device to recv_device
	Receives // the same at the other end; may have a dead output

	// The frame of a call: position index of its arguments and results.

	Argument
	Result

	// Calls of functions that attributes name.

	Calls          // f, with all inputs
	Differentiates // the gradient function of f
	ChoosesOfTwo   // then_branch or else_branch, by input 0
	ChoosesOfMany  // one of branches, by input 0
	Loops          // body as long as cond of the same holds
)

// DirectsFlow reports whether where values go depends on more than the values.
func (r Role) DirectsFlow() bool { return r >= Switches && r <= NeverDies }

// Transfers reports whether one end of a transfer has the role.
func (r Role) Transfers() bool { return r == Sends || r == Receives }

// MovesTensors reports whether nodes of the role only pass tensors between a graph and
// what is around it: they have effects, but neither state nor work of their own.
func (r Role) MovesTensors() bool { return r >= Sends && r <= Result }

// Role returns the role of the node's op.
func (n *Node) Role() Role {
	if n.Def == nil {
		return Computes
	}
	return n.Def.Role
}

// Chooses reports whether n is a Switch of two values: input 1 says which of two
// outputs input 0 goes to. Others of the role have as many outputs as there are cases.
func (n *Node) Chooses() bool {
	return n.Role() == Switches && len(n.Def.Outputs) == 2
}

// HasTrait reports whether an op has one of these traits, by its name.
func HasTrait(op string, t Traits) bool { return Lookup(op).Has(t) }

// RoleOf returns the role of an op by its name, Computes for one that is not known.
func RoleOf(op string) Role {
	if d := Lookup(op); d != nil {
		return d.Role
	}
	return Computes
}

// CalledFunctions returns the functions one of which n calls whenever it runs, those
// of a gradient as GradientOf names them; nil for nodes that call none by attributes.
func (n *Node) CalledFunctions() []Func {
	switch n.Role() {
	case Calls:
		return []Func{n.FuncAttr("f")}
	case Differentiates:
		return []Func{GradientOf(n.FuncAttr("f"))}
	case ChoosesOfTwo:
		return []Func{n.FuncAttr("then_branch"), n.FuncAttr("else_branch")}
	case ChoosesOfMany:
		all, _ := n.Attr("branches").([]Func)
		return all
	case Loops:
		return []Func{n.FuncAttr("cond")}
	}
	return nil
}

// ConstantFilter is the name of an attribute that convolutions have in graphs that are run: whether
// the filters are a constant, or a variable that the graph only reads.
const ConstantFilter = "_is_filter_const"

// Traits are properties of an op that passes ask for.
type Traits uint64

const (
	// Droppable ops are stateful, but to leave one out whose outputs are not read
	// changes nothing.
	Droppable Traits = 1 << iota

	// ReadsState ops take a resource and do not change it. They are Droppable.
	ReadsState

	// ReadsDescription ops need the type and the shape of their only input, not the
	// elements.
	ReadsDescription

	// View ops have one output, which shares the memory of input 0.
	View

	// Awaited ops have no effects and yet are there to be waited for: they fail where
	// something is wrong, or where nothing is fed.
	Awaited

	// Reduction ops combine the elements of input 0 along the axes that input 1 names,
	// so that the output is input 0 if those are none. Attribute keep_dims says whether
	// these axes stay, with size 1. Their kernels are RowKernels for the types that may
	// be computed row by row with elementwise ops.
	Reduction

	// Involution ops undo themselves: f(f(x)) is x.
	Involution

	// Passthrough ops have one output, which is input 0 as it is. Programs put them
	// between nodes to give a value a name, a device or an order, so that a pass that
	// leaves one out has to keep these.
	Passthrough

	// Marker ops are Passthrough to the values and say something to gradients or tests
	// only: where a graph is computed they may be left out.
	Marker

	// Reshapes ops give input 0 the shape that input 1 says, so that the output is
	// input 0 if it has that shape.
	Reshapes

	// NeutralOne and NeutralZero ops have two operands, which are broadcast, and the
	// output is the left one if the right one is 1 or 0. For ops that are Commutative
	// it is the other way round, too. A commutative op with NeutralZero does
	// not keep the negative zero of floating point numbers.
	NeutralOne
	NeutralZero

	// Commutative ops have two operands of one type, whose order does not matter.
	Commutative

	// ReadsVariable ops give the value of the variable whose resource is input 0, and
	// fail if it has none.
	ReadsVariable

	// HoldsVariable ops have one output, which stands for a variable: its resource, or
	// a reference to it. Attribute dtype is the type of its elements, attribute
	// shared_name its name, if that is not the node's.
	HoldsVariable

	// TestsVariable ops say whether the variable that input 0 stands for has a value.
	TestsVariable

	// ChangingTable ops have one output, which stands for a table whose pairs change:
	// they are kept elsewhere than in the graph, as values of variables are.
	ChangingTable

	// Parameter ops keep what is trained, or is gathered while that is done: in
	// clusters with parameter servers they go there.
	Parameter

	// Overridable ops have one output, which programs may feed in place of what the op
	// computes: it is not computed in advance.
	Overridable

	// DescribesList ops need of a list of tensors, their only input, what all its
	// elements have in common or how many there are, not the elements.
	DescribesList

	// ClientSide ops are computed by the client's process only, which puts them on a
	// device of its own task.
	ClientSide

	// GroupInstance ops are collectives that are matched between the tasks of several
	// masters: by attribute instance_key or, if they have none, by an input.
	GroupInstance

	// Elementwise ops have one output, each element of which follows from the elements
	// of the inputs at the same place, broadcast. Their kernels are ElementKernels for
	// the types that may be computed block by block with other such ops.
	Elementwise

	// Cheap ops are Elementwise and as simple as an addition: to compute one again takes
	// no longer than to write its result to memory and to read it.
	Cheap

	// Rowwise ops have one input and one output of its shape, each row of which, along
	// the last axis, follows from the same row of the input. Their kernels are
	// RowKernels for the types that may be computed with elementwise ops.
	Rowwise

	// SaysItsName ops put the name of their node into what they compute: two with the
	// same inputs and attributes differ.
	SaysItsName

	// HoldsOther ops have one output, the handle of what checkpoints keep by ops of its
	// own: neither a variable nor a table.
	HoldsOther

	// MatrixProduct ops have one output, the product of two matrices, each of which is
	// transposed first if attribute transpose_a or transpose_b says so.
	MatrixProduct

	// Adds ops have one output: the sum of two inputs, where they are Commutative, else
	// that of the first one and the second, a vector, for each of its rows. With a list of
	// inputs, whose length is attribute N, it is the sum of all of them, in their order.
	Adds

	// Convolution ops have one output, which is linear in input 1, the filters: these have
	// the rank of the output, and their last dimension, or the product of the last two,
	// is that of the output's channels. Attribute data_format says where those are.
	// Kernels find attribute ConstantFilter if input 1 rarely changes.
	Convolution

	// NormalizesChannels ops have inputs x, scale, offset, mean and variance. If attribute
	// is_training is false, output 0 is (x - mean) · scale / √(variance + epsilon) + offset
	// for each channel of x.
	NormalizesChannels

	// RepeatsInput ops give input 0, repeated along each dimension as often as input 1 says.
	RepeatsInput

	// PairsRows ops have inputs and outputs with equally many rows, along the first axis:
	// a row of each output follows from the same row of each input.
	PairsRows

	// SumsRows ops have one input of two dimensions or more and one output, its sum along all
	// axes but the last. Attribute data_format may name another axis.
	SumsRows

	// FillsShape ops have one output of the type and shape of their only input, whose elements
	// are the same number whatever those of the input are.
	FillsShape
)

// Has reports whether the op has one of these traits.
func (d *OpDef) Has(t Traits) bool { return d != nil && d.Traits&t != 0 }
