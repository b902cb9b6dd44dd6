package xla

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A graphKernel is the kernel of a node whose body depends on its inputs. It keeps the bodies
// that it has made, by what they depend on.
type graphKernel struct {
	n  *core.Node
	op graphOp

	mu     sync.Mutex
	bodies map[string]*core.FunctionBody
	exact  int // bodies made for all that was known
}

// maxExact is for how many different inputs a node gets bodies of known sizes. Further
// ones share bodies in which sizes are computed, where the operation allows it.
const maxExact = 8

// maxBodies bounds what a kernel keeps.
const maxBodies = 64

// bodyCount numbers bodies: names of functions must be distinct in a process.
var bodyCount atomic.Int64

func newGraphKernel(n *core.Node) (core.Kernel, error) {
	k := &graphKernel{n: n, op: graphOps[n.OpName()], bodies: map[string]*core.FunctionBody{}}
	return core.AsyncCompute(k.compute), nil
}

func (k *graphKernel) compute(c *core.OpContext, done func(error)) {
	b, err := k.body(c)
	if err != nil {
		done(err)
		return
	}
	c.CallFunction(core.FuncOf(b), done)
}

// body returns the body for the inputs that there are.
func (k *graphKernel) body(c *core.OpContext) (*core.FunctionBody, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	exact := k.key(c, true)
	if b := k.bodies[exact]; b != nil {
		return b, nil
	}
	if k.exact >= maxExact {
		if b := k.general(c); b != nil {
			return b, nil
		}
	}
	b, err := k.make(c, true)
	if err != nil {
		return nil, err
	}
	k.exact++
	k.keep(exact, b)
	return b, nil
}

// general returns a body for the ranks of the inputs, nil if there can be none.
func (k *graphKernel) general(c *core.OpContext) *core.FunctionBody {
	key := k.key(c, false)
	if b, ok := k.bodies[key]; ok {
		return b
	}
	b, _ := k.make(c, false) // what is wrong the exact one will tell
	k.keep(key, b)
	return b
}

func (k *graphKernel) keep(key string, b *core.FunctionBody) {
	if len(k.bodies) >= maxBodies {
		clear(k.bodies)
	}
	k.bodies[key] = b
}

// key tells inputs apart that need different bodies.
func (k *graphKernel) key(c *core.OpContext, exact bool) string {
	var s strings.Builder
	fmt.Fprint(&s, exact)
	for i := range c.In {
		shape := c.Input(i).Shape()
		if exact {
			fmt.Fprint(&s, []int(shape))
		} else {
			fmt.Fprintf(&s, "[%d]", len(shape))
		}
	}
	looked := k.op.staticInputs(k.n)
	if exact {
		looked = slices.Concat(looked, k.op.hintInputs(k.n))
	}
	for _, i := range looked {
		if t := c.Input(i); t.Len() <= most {
			s.Write(core.TensorProto(t).TensorContent)
		}
	}
	return s.String()
}

// make makes a body for the inputs, or for all of their ranks.
func (k *graphKernel) make(c *core.OpContext, exact bool) (*core.FunctionBody, error) {
	a := arguments{shapes: make([]tf.Shape, len(c.In))}
	statics := k.op.staticInputs(k.n)
	for i := range a.shapes {
		a.shapes[i] = slices.Clone(c.Input(i).Shape())
		for d := range a.shapes[i] {
			if !exact {
				a.shapes[i][d] = -1
			}
		}
	}
	a.known = func(i int) *core.Tensor {
		if exact || slices.Contains(statics, i) {
			return c.Input(i)
		}
		return nil
	}
	if l, ok := c.Functions.(core.FunctionLibrary); ok {
		a.library = l.Library()
	}
	b, err := graphBody(k.n, a, func(int) error { return nil })
	if err != nil {
		return nil, err
	}
	b.Name += fmt.Sprintf("_%d", bodyCount.Add(1))
	return b, nil
}
