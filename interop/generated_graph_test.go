package interop

import (
	"fmt"
	"math/rand/v2"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// drawing is a graph that is drawn at random: arithmetic, conditionals and
// loops within each other, in the graph itself and by functions, variables of
// both kinds, on several devices. All values
// are small integers, so that every order of computing gives the same bits.
type drawing struct {
	*rand.Rand
	g       *tf.Graph
	feeds   map[tf.Output]*tf.Tensor
	mats    []tf.Output // of shape [2 3]
	scalars []tf.Output
	init    []*tf.Operation
	updates []tf.Output // what changes variables
	calls   bool        // some functions
	plain   bool        // without control flow, functions and variables, which eager graphs leave to Go
	devices []string    // that nodes are spread over
}

// bound is what all values are reduced by.
const bound = 97

// twoCPUs are the devices of graphs that run in one process.
var twoCPUs = []string{"/device:CPU:0", "/device:CPU:1"}

// draw draws a graph. It is the same for as many devices of any names.
func draw(seed uint64, devices ...string) *drawing {
	return drawIn(tf.NewGraph(), seed, false, devices...)
}

func drawIn(g *tf.Graph, seed uint64, plain bool, devices ...string) *drawing {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 42)), g: g, plain: plain, feeds: map[tf.Output]*tf.Tensor{}, devices: devices}
	d.mats = append(d.mats, d.feed("x", tf.Shape{2, 3}, tf.Shape{2, 3}))
	d.scalars = append(d.scalars, d.feed("s", tf.Shape{}, tf.Shape{}), ops.Scalar(d.g, float32(1)))
	for i := range d.IntN(3) {
		if !d.plain {
			d.variable(i)
		}
	}
	for range 6 + d.IntN(14) {
		d.onDevice(func() { d.add(0) })
	}
	return d
}

func (d *drawing) feed(name string, s, known tf.Shape) tf.Output {
	t := (*tf.Tensor)(core.NewTensor(tf.Float32, s))
	for i := range tf.Data[float32](t) {
		tf.Data[float32](t)[i] = float32(d.IntN(11) - 5)
	}
	if d.g.IsEager() {
		return ops.ConstTensor(d.g, t)
	}
	x := ops.Placeholder(d.g, tf.Float32, known, tf.Name(name))
	d.feeds[x] = t
	return x
}

func (d *drawing) onDevice(f func()) {
	dev := ""
	if k := d.IntN(len(d.devices) + 1); k < len(d.devices) {
		dev = d.devices[k]
	}
	d.g.Device(dev, f)
}

func (d *drawing) mat() tf.Output    { return d.mats[d.IntN(len(d.mats))] }
func (d *drawing) scalar() tf.Output { return d.scalars[d.IntN(len(d.scalars))] }

func (d *drawing) reduce(x tf.Output) tf.Output {
	return ops.FloorMod(x, ops.Scalar(d.g, float32(bound)))
}

// add adds a few nodes and keeps what they compute.
func (d *drawing) add(depth int) {
	if d.IntN(4) == 0 {
		d.scalars = append(d.scalars, d.newScalar())
		return
	}
	d.mats = append(d.mats, d.newMat(depth))
}

func (d *drawing) newScalar() tf.Output {
	axes := ops.Const(d.g, []int32{0, 1})
	switch d.IntN(4) {
	case 0:
		return ops.Scalar(d.g, float32(d.IntN(5)-2))
	case 1:
		return d.reduce(ops.Sum(d.mat(), axes))
	case 2:
		return d.reduce(ops.Sub(d.scalar(), d.scalar()))
	default:
		swap := ops.Const(d.g, []int32{1, 0})
		return d.reduce(ops.Sum(ops.MatMul(d.mat(), ops.Transpose(d.mat(), swap)), axes))
	}
}

func (d *drawing) newMat(depth int) tf.Output {
	kinds := 13
	if depth > 1 || d.plain {
		kinds = 8
	}
	switch x := d.mat(); d.IntN(kinds) {
	case 0:
		return ops.Const(d.g, []float32{1, 0, float32(d.IntN(3)), -1, 2, 5}, 2, 3)
	case 1:
		return d.reduce(ops.AddV2(x, d.mat()))
	case 2:
		return d.reduce(ops.Mul(x, d.scalar()))
	case 3:
		return ops.Maximum(x, d.scalar())
	case 4:
		return ops.Neg(ops.Neg(ops.Abs(x)))
	case 5:
		return ops.Identity(d.reduce(ops.Square(x)))
	case 6:
		swap := ops.Const(d.g, []int32{1, 0})
		return ops.Transpose(ops.Transpose(x, swap), swap)
	case 7:
		both := ops.ConcatV2([]tf.Output{x, d.mat()}, ops.Scalar(d.g, int32(0)))
		return ops.Slice(both, ops.Const(d.g, []int32{int32(d.IntN(3)), 0}), ops.Const(d.g, []int32{2, 3}))
	case 8:
		return d.cond(depth)
	case 9:
		return d.while(depth)
	case 10:
		return ops.PartitionedCall(d.function(depth, x), []tf.Output{x})[0]
	case 11:
		return d.branches(depth, x)
	default:
		return d.functionalWhile(depth, x)
	}
}

// within draws nodes that may use what is there already; what they compute can
// only be used there.
func (d *drawing) within(depth int, more ...tf.Output) tf.Output {
	mats, scalars := d.mats, d.scalars
	defer func() { d.mats, d.scalars = mats, scalars }()
	d.mats = append(append([]tf.Output{}, mats...), more...)
	d.scalars = append([]tf.Output{}, scalars...)
	for range 1 + d.IntN(3) {
		d.onDevice(func() { d.add(depth + 1) })
	}
	return d.reduce(ops.AddV2(d.mats[len(d.mats)-1], d.mat()))
}

func (d *drawing) cond(depth int) tf.Output {
	pred := ops.Less(d.scalar(), d.scalar())
	if d.IntN(4) == 0 {
		pred = ops.Scalar(d.g, d.IntN(2) == 0)
	}
	return tf.Cond(pred,
		func() []tf.Output { return []tf.Output{d.within(depth)} },
		func() []tf.Output { return []tf.Output{d.within(depth)} })[0]
}

func (d *drawing) while(depth int) tf.Output {
	rounds := float32(d.IntN(5))
	vars := []tf.Output{ops.Scalar(d.g, float32(0)), d.mat()}
	return tf.While(vars,
		func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar(d.g, rounds)) },
		func(v []tf.Output) []tf.Output {
			next := ops.AddV2(v[0], ops.Scalar(d.g, float32(1)))
			return []tf.Output{next, d.within(depth, v[1])}
		})[1]
}

// function draws a function of something like x, which may use all that is
// there.
func (d *drawing) function(depth int, x tf.Output) *tf.Function {
	d.calls = true
	return tf.NewFunction(d.g, "drawn", tf.SpecOf(x), func(in []tf.Output) []tf.Output {
		return []tf.Output{d.within(depth, in...)}
	})
}

// branches is a conditional of functions.
func (d *drawing) branches(depth int, x tf.Output) tf.Output {
	args := []tf.Output{x}
	if d.IntN(2) == 0 {
		return ops.StatelessIf(ops.Less(d.scalar(), d.scalar()), args, d.function(depth, x), d.function(depth, x))[0]
	}
	index := ops.Cast(d.scalar(), tf.Int32) // of no branch, often: the last serves
	return ops.Case(index, args, []*tf.Function{d.function(depth, x), d.function(depth, x), d.function(depth, x)})[0]
}

// functionalWhile is a loop of functions.
func (d *drawing) functionalWhile(depth int, x tf.Output) tf.Output {
	rounds := float32(d.IntN(4))
	vars := []tf.Output{ops.Scalar(d.g, float32(0)), x}
	cond := tf.NewFunction(d.g, "cond", tf.SpecOf(vars...), func(v []tf.Output) []tf.Output {
		return []tf.Output{ops.Less(v[0], ops.Scalar(d.g, rounds))}
	})
	body := tf.NewFunction(d.g, "body", tf.SpecOf(vars...), func(v []tf.Output) []tf.Output {
		return []tf.Output{ops.AddV2(v[0], ops.Scalar(d.g, float32(1))), d.within(depth, v[1])}
	})
	return ops.While(vars, cond, body)[1]
}

// variable adds a variable, which changes whenever what it keeps is computed.
func (d *drawing) variable(i int) {
	dev := d.devices[d.IntN(len(d.devices))]
	name := tf.Name(fmt.Sprintf("v%d", i))
	d.g.Device(dev, func() {
		start := ops.Const(d.g, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
		if d.IntN(2) == 0 {
			v := ops.VariableV2(d.g, tf.Float32, tf.Shape{2, 3}, name)
			d.init = append(d.init, ops.Assign(v, start).Operation())
			next := ops.Assign(v, d.reduce(ops.AddV2(ops.Identity(v), d.mat())))
			d.mats = append(d.mats, ops.Identity(next))
			d.updates = append(d.updates, d.mats[len(d.mats)-1])
			return
		}
		v := ops.VarHandleOp(d.g, tf.Float32, tf.Shape{2, 3}, name, tf.Attr("shared_name", fmt.Sprint("v", i))) // without it TensorFlow has one variable for all
		d.init = append(d.init, ops.AssignVariableOp(v, start))
		set := ops.AssignVariableOp(v, d.reduce(ops.AddV2(ops.ReadVariableOp(v, tf.Float32), d.mat())))
		d.mats = append(d.mats, ops.ReadVariableOp(v, tf.Float32, tf.After(set)))
		d.updates = append(d.updates, d.mats[len(d.mats)-1])
	})
}

// wanted draws what a step fetches.
func (d *drawing) wanted() (out []tf.Output) {
	all := append(append([]tf.Output{}, d.mats...), d.scalars...)
	seen := map[tf.Output]bool{}
	for range 1 + d.IntN(4) {
		x := all[d.IntN(len(all))]
		if _, fed := d.feeds[x]; !fed && !seen[x] {
			out = append(out, x)
		}
		seen[x] = true
	}
	if len(out) == 0 {
		return d.mats[len(d.mats)-1:]
	}
	return out
}
