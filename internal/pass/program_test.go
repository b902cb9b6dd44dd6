package pass_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestProgramsMeanTheSame: a program drawn at random gives the same values and leaves
// the same variables with all passes, with all but one, with one alone and with none,
// where kernels call functions. Programs call functions within one another, choose,
// loop, order their effects, and run on two devices.
func TestProgramsMeanTheSame(t *testing.T) {
	n := 16
	if testing.Short() {
		n = 4
	}
	settings := [][]string{nil}
	for _, name := range pass.PassNames() {
		settings = append(settings, []string{name}, slices.DeleteFunc(pass.PassNames(), func(p string) bool { return p == name }))
	}
	for seed := range uint64(n) {
		want := runProgram(t, seed, []string{"all"})
		for _, disabled := range settings {
			if got := runProgram(t, seed, disabled); got != want {
				t.Errorf("program %d without %q:\ngot  %s\nwant %s", seed, disabled, got, want)
			}
		}
	}
}

// runProgram runs a program twice and tells what comes of it.
func runProgram(t *testing.T, seed uint64, disabled []string) string {
	t.Helper()
	p := newProgram(seed)
	s, err := session.New(p.g, session.With(session.Config{Devices: map[string]int{"CPU": 2}, DisabledPasses: disabled}))
	if err != nil {
		t.Fatalf("program %d: %v", seed, err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, p.inits...); err != nil {
		t.Fatal(err)
	}
	text := ""
	for x := range int32(2) {
		out, err := s.Run(t.Context(), session.Feeds{p.fed: tf.Scalar(x)}, p.fetches...)
		if err != nil {
			return fmt.Sprintf("%serror %v", text, err)
		}
		for _, v := range out {
			if v != nil {
				text += fmt.Sprint(v, " ")
			}
		}
	}
	for _, v := range p.vars {
		out, err := s.Run(t.Context(), nil, v)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprint(out[0], " ")
	}
	return text
}

// A program is a graph of integers, functions of them and variables.
type program struct {
	*rand.Rand
	g       *tf.Graph
	fed     tf.Output
	vars    []*tf.Variable
	inits   []tf.Fetchable
	fetches []tf.Fetchable
	last    *tf.Operation // the last effect of the graph: each comes after the one before
}

func newProgram(seed uint64) *program {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 11)), g: tf.NewGraph()}
	p.fed = ops.Placeholder(p.g, tf.Int32, tf.Shape{})
	p.g.Device("/device:CPU:0", func() {
		for i := range 2 {
			v := tf.NewVariable(ops.Scalar(p.g, int32(3+4*i)), tf.VariableOptions{Name: "v"})
			p.vars, p.inits = append(p.vars, v), append(p.inits, v.Initializer())
		}
	})
	for _, x := range p.block([]tf.Output{p.fed, ops.Scalar(p.g, int32(2))}, 0, 10) {
		p.fetches = append(p.fetches, x)
	}
	if p.last != nil {
		p.fetches = append(p.fetches, p.last)
	}
	return p
}

// block adds n statements that may use xs, and returns all values. It is called for the
// graph (depth 0) and for bodies of functions.
func (p *program) block(xs []tf.Output, depth, n int) []tf.Output {
	values := slices.Clone(xs)
	for range n {
		values = append(values, p.statement(values, depth)...)
	}
	return values
}

func (p *program) pick(xs []tf.Output) tf.Output { return xs[p.IntN(len(xs))] }

// device puts some operations on one of two devices.
func (p *program) device() (opts []tf.Option) {
	if p.IntN(4) == 0 {
		opts = append(opts, tf.OnDevice(fmt.Sprintf("/device:CPU:%d", p.IntN(2))))
	}
	return opts
}

// ordered are the options of an effect of the graph. Within functions effects are in the
// order in which they are added. Variables, and what uses them, are on one device: a
// function that is called, not expanded, has no resources of other devices.
func (p *program) ordered(depth int) []tf.Option {
	if depth == 0 && p.last != nil {
		return []tf.Option{tf.After(p.last)}
	}
	return nil
}

func (p *program) did(op *tf.Operation, depth int) {
	if depth == 0 {
		p.last = op
	}
}

func (p *program) statement(xs []tf.Output, depth int) []tf.Output {
	kinds := 12
	if depth >= 3 {
		kinds = 6 // no more functions
	}
	x, y := p.pick(xs), p.pick(xs)
	switch p.IntN(kinds) {
	case 0:
		return []tf.Output{ops.Scalar(x.Graph(), int32(p.IntN(3)))}
	case 1, 2:
		return []tf.Output{p.arithmetic(x, y)}
	case 3:
		v := p.vars[p.IntN(len(p.vars))]
		op := v.AssignAdd(x, p.ordered(depth)...)
		p.did(op, depth)
	case 4:
		read := p.vars[p.IntN(len(p.vars))].Read(p.ordered(depth)...)
		p.did(read.Operation(), depth)
		return []tf.Output{read}
	case 5:
		return []tf.Output{ops.Identity(x, tf.After(y.Operation()))}
	case 6, 7:
		f := p.function("call", 2, depth, 1+p.IntN(4))
		return p.called(f.Call([]tf.Output{x, y}, p.ordered(depth)...), depth)
	case 8, 9:
		return p.choose(xs, depth)
	case 10:
		return p.loop(x, y, depth)
	default:
		return p.oldFlow(x, y, depth)
	}
	return nil
}

func (p *program) called(out []tf.Output, depth int) []tf.Output {
	p.did(out[0].Operation(), depth)
	return out
}

func (p *program) arithmetic(x, y tf.Output) tf.Output {
	opts := p.device()
	switch p.IntN(7) {
	case 0:
		return ops.AddV2(x, y, opts...)
	case 1:
		return ops.Sub(x, y, opts...)
	case 2:
		return ops.Mul(x, y, opts...)
	case 3:
		return ops.Neg(ops.Neg(x, opts...), opts...)
	case 4:
		return ops.FloorMod(x, ops.Scalar(x.Graph(), int32(7)), opts...)
	case 5:
		return ops.AddV2(x, ops.ZerosLike(y), opts...)
	}
	return ops.Maximum(x, y, opts...)
}

// function makes a function of n integers that returns one or two.
func (p *program) function(name string, n, depth, statements int) *tf.Function {
	spec := slices.Repeat([]tf.ArgSpec{{DType: tf.Int32, Shape: tf.Shape{}}}, n)
	return tf.NewFunction(p.g, name, spec, func(args []tf.Output) []tf.Output {
		values := p.block(args, depth+1, statements)
		return []tf.Output{values[len(values)-1], p.pick(values)}
	})
}

// choose adds an If or a Case.
func (p *program) choose(xs []tf.Output, depth int) []tf.Output {
	x, y, opts := p.pick(xs), p.pick(xs), p.ordered(depth)
	branches := []*tf.Function{p.function("a", 2, depth, 1+p.IntN(3)), p.function("b", 2, depth, 1+p.IntN(3))}
	if p.IntN(2) == 0 {
		branches = append(branches, p.function("c", 2, depth, 1))
		return p.called(ops.Case(ops.FloorMod(x, ops.Scalar(x.Graph(), int32(4))), []tf.Output{x, y}, branches, opts...), depth)
	}
	pred := ops.Less(x, y)
	if p.IntN(3) == 0 {
		pred = x // a number stands for whether it is 0
	}
	return p.called(ops.If(pred, []tf.Output{x, y}, branches[0], branches[1], opts...), depth)
}

// loop adds a While of up to three iterations.
func (p *program) loop(x, y tf.Output, depth int) []tf.Output {
	spec := slices.Repeat([]tf.ArgSpec{{DType: tf.Int32, Shape: tf.Shape{}}}, 3)
	most := int32(p.IntN(4))
	cond := tf.NewFunction(p.g, "cond", spec, func(v []tf.Output) []tf.Output {
		return []tf.Output{ops.Less(v[0], ops.Scalar(v[0].Graph(), most))}
	})
	body := tf.NewFunction(p.g, "body", spec, func(v []tf.Output) []tf.Output {
		values := p.block(v[1:], depth+1, 1+p.IntN(3))
		return []tf.Output{ops.AddV2(v[0], ops.Scalar(v[0].Graph(), int32(1))), p.pick(values), values[len(values)-1]}
	})
	zero := ops.Scalar(x.Graph(), int32(0))
	return p.called(ops.While([]tf.Output{zero, x, y}, cond, body, p.ordered(depth)...), depth)
}

// oldFlow adds a conditional or a loop of Switch and Merge without effects; in a
// function it becomes an If or a While.
func (p *program) oldFlow(x, y tf.Output, depth int) []tf.Output {
	plain := func(v []tf.Output) tf.Output { return p.arithmetic(p.pick(v), p.pick(v)) }
	if p.IntN(2) == 0 {
		return tf.Cond(ops.Less(x, y), func() []tf.Output { return []tf.Output{plain([]tf.Output{x, y})} }, func() []tf.Output { return []tf.Output{plain([]tf.Output{y, x})} })
	}
	zero := ops.Scalar(x.Graph(), int32(0))
	out := tf.While([]tf.Output{zero, x},
		func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar(v[0].Graph(), int32(3))) },
		func(v []tf.Output) []tf.Output {
			return []tf.Output{ops.AddV2(v[0], ops.Scalar(v[0].Graph(), int32(1))), plain([]tf.Output{v[0], v[1], y})}
		})
	return out[1:]
}
