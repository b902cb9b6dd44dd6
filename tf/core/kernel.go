package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/resource"
)

// A Kernel computes an op on a device: a Compute, an ElementKernel or an
// AsyncCompute. It is made once per node and may be called by many steps at once.
type Kernel interface{ kernel() }

// Compute computes a node's outputs from its inputs.
type Compute func(*OpContext) error

// AsyncCompute does the same, and calls done when it is done, perhaps later
// and from another goroutine. It calls done once: after that the context belongs to
// other steps. Kernels that wait (receive, dequeue) are of this kind, so that waiting
// costs no goroutine.
type AsyncCompute func(c *OpContext, done func(error))

func (Compute) kernel()      {}
func (AsyncCompute) kernel() {}

// NewKernel makes the kernel of one node. Attributes are read here, once.
type NewKernel func(n *Node) (Kernel, error)

// A KernelSet says how the CPU computes an op: by one factory for each value
// of a type attribute, or by one factory for all.
type KernelSet struct {
	Attr string // the type attribute that chooses; "" when All serves
	By   map[DType]NewKernel
	All  NewKernel
	// Types lists what All supports, by attribute; nil: whatever the
	// signature allows.
	Types map[string][]DType
	// Only tells which value attributes of strings must have.
	Only map[string]string
}

// ByType returns the set of kernels that attribute attr chooses from.
func ByType(attr string, by map[DType]NewKernel) KernelSet { return KernelSet{Attr: attr, By: by} }

// AnyType returns the set whose one factory serves all types.
func AnyType(k NewKernel) KernelSet { return KernelSet{All: k} }

// Find returns the factory for node n.
func (k *KernelSet) Find(n *Node) (NewKernel, error) {
	if err := k.checkOnly(n); err != nil {
		return nil, err
	}
	switch {
	case k.All != nil:
		if err := k.checkTypes(n); err != nil {
			return nil, err
		}
		return k.All, nil
	case len(k.By) == 0:
		return nil, Errorf(NotFound, "No OpKernel was registered to support Op '%s'", n.OpName())
	}
	t := n.Type(k.Attr)
	if f := k.By[t]; f != nil {
		return f, nil
	}
	return nil, noKernel(n, k.Attr, slices.Sorted(maps.Keys(k.By)))
}

func (k *KernelSet) checkOnly(n *Node) error {
	for attr, want := range k.Only {
		if got := n.Str(attr); got != want {
			return Errorf(NotFound, "No OpKernel was registered to support Op '%s' with attr %s = %q; supported: %q", n.OpName(), attr, got, want)
		}
	}
	return nil
}

func (k *KernelSet) checkTypes(n *Node) error {
	for attr, types := range k.Types {
		if t := n.Type(attr); t != Invalid && !slices.Contains(types, t) {
			return noKernel(n, attr, types)
		}
	}
	return nil
}

// noKernel tells, in TensorFlow's form, that the CPU computes n only for some
// types in the place of the one that its attribute has.
func noKernel(n *Node, attr string, types []DType) error {
	name := func(d DType) string { return "DT_" + strings.ToUpper(d.CName()) }
	text := fmt.Sprintf("No OpKernel was registered to support Op '%s' used by {{node %s}} with these attrs: [%s=%s]\nRegistered devices: [CPU]\nRegistered kernels:\n",
		n.OpName(), n.Name, attr, name(n.Type(attr)))
	for _, d := range types {
		text += fmt.Sprintf("  device='CPU'; %s in [%s]\n", attr, name(d))
	}
	err := Errorf(NotFound, "%s", text).(*Error)
	err.Plain = fmt.Sprintf("%s has no kernel for %s = %v; it has them for %s", n.OpName(), attr, n.Type(attr), typeList(types))
	return err
}

// typeList names types for a reader: "float32, float64 and int32".
func typeList(types []DType) string {
	if len(types) == 0 {
		return "no type"
	}
	names := make([]string, len(types))
	for i, d := range types {
		names[i] = d.String()
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// deviceKernels holds, by device type, how kernels are found there.
var deviceKernels = map[string]func(*Node) (NewKernel, error){
	"CPU": func(n *Node) (NewKernel, error) { return n.Def.Kernels.Find(n) },
}

// RegisterDeviceType tells how kernels are found on devices of a type. It is
// meant for init functions of device packages.
func RegisterDeviceType(typ string, find func(*Node) (NewKernel, error)) {
	if deviceKernels[typ] != nil {
		panic("tf: device type " + typ + " registered twice")
	}
	deviceKernels[typ] = find
}

// FindKernel returns the factory for n on a device type.
func FindKernel(deviceType string, n *Node) (NewKernel, error) {
	find := deviceKernels[deviceType]
	if find == nil {
		return nil, Errorf(InvalidArgument, "unknown device type %q", deviceType)
	}
	return find(n)
}

// CheckKernels returns why no device type that is linked in can compute n with
// the types that it has; nil if one can. An op without any kernel passes: it is
// lowered or called, never computed. So does a layout that the CPU does not
// compute: layouts are for devices of other kinds.
func CheckKernels(n *Node) (err error) {
	if k := &n.Def.Kernels; k.All == nil && len(k.By) == 0 || k.checkOnly(n) != nil {
		return nil
	}
	for _, typ := range slices.Sorted(maps.Keys(deviceKernels)) {
		_, why := deviceKernels[typ](n)
		if why == nil {
			return nil
		}
		err = cmp.Or(err, why)
	}
	return err
}

// A Rendezvous passes tensors between the devices of one step, keyed by name.
// Sending never waits; receiving may come first.
type Rendezvous interface {
	// Send gives t, or the fact that it is dead, to the receiver of key. It
	// takes a reference of its own.
	Send(key string, t *Tensor, dead bool) error
	// Recv calls done once with the tensor sent under key, which done owns.
	Recv(ctx context.Context, key string, done func(t *Tensor, dead bool, err error))
}

// A CallFrame carries the arguments and results of a function, and the feeds
// and fetches of a step that runs in one process.
type CallFrame interface {
	// Arg returns argument i, which stays the frame's.
	Arg(i int) (*Tensor, error)
	// SetRetval gives t as result i. The frame takes a reference of its own.
	SetRetval(i int, t *Tensor) error
}

// A Step is what all nodes of one step on one device share.
type Step struct {
	ID         int64
	Context    context.Context
	Device     Device
	Rendezvous Rendezvous
	Resources  *Resources
	// ContainerID is the number of the container for what lives as long as the step;
	// 0: there is none.
	ContainerID int64
	Frame       CallFrame
	Functions   FunctionCaller
	// GraphVersion is that of the GraphDef format which the graph was made in.
	GraphVersion int
	// Collectives does what several devices do together; nil: that is not possible.
	Collectives Collectives
	// SessionTensors keeps tensors beyond this step; nil: that is not possible.
	SessionTensors SessionTensors
	// Parallel runs f over [0, n) in pieces of at least grain, on as many
	// threads as the session allows. Nil: on the caller.
	Parallel func(n, grain int, f func(lo, hi int))
	// Begin begins what Parallel does, on other threads than the caller's. What it returns
	// reports whether that has ended; told to wait it returns when it has, which the caller
	// has to do once, as the last thing. It returns nil, and begins nothing, if there are no
	// other threads. Nil: there are none.
	Begin func(n, grain int, f func(lo, hi int)) (ended func(wait bool) bool)
	// Tracer is told of the nodes that are run; nil: the step is not traced.
	Tracer Tracer
	// InterOp bounds the nodes that are computed at once; 0: as many as the
	// executor allows.
	InterOp int
}

// Container returns the name of the container for what lives as long as the step,
// "" if there is none, as in graphs that are run eagerly. s may be nil.
func (s *Step) Container() string {
	if s == nil || s.ContainerID == 0 {
		return ""
	}
	return resource.StepContainer(s.ContainerID)
}

// A Tracer is called for the nodes of a step that is traced.
type Tracer interface {
	// Ran tells that a node has been run, from any goroutine. The inputs and
	// outputs of c are valid during the call. The label names the node, its
	// op and its inputs: "y = MatMul(x, w)".
	Ran(c *OpContext, label string, t NodeTimes)
}

// NodeTimes says when a node could have been run, when that was begun, and when
// its kernel began and ended. A kernel that never ran has none.
type NodeTimes struct{ Ready, Start, KernelStart, KernelEnd time.Time }

// A Slot is one input or output of a running node: a tensor, or a reference
// to a variable. Both are nil in an output that is dead.
type Slot struct {
	T   *Tensor
	Ref *Ref
}

// An OpContext is what a kernel sees of one execution of its node. Executors
// fill it; kernels use the methods.
type OpContext struct {
	*Step
	Node      *Node
	In        []Slot
	Out       []Slot
	FrameID   uint64 // of the loop frame, 0 outside of loops
	Iteration int64
	Dead      bool // a transfer node that runs though an input is dead

	// Scratch, if not nil, holds by output the tensor header to use for
	// memory that the executor reclaims; nil for outputs that escape.
	Scratch []*Tensor
	Pool    *Pool
	// Last reports, by input, that it is not read after this node.
	Last []bool

	borrowed []*Buffer // see Borrow
}

// Input returns input i.
func (c *OpContext) Input(i int) *Tensor { return c.In[i].T }

// Inputs returns the number of inputs.
func (c *OpContext) Inputs() int { return len(c.In) }

// Alloc makes output i a tensor of the given type and shape. Its elements are
// not initialized.
func (c *OpContext) Alloc(i int, d DType, s Shape) (*Tensor, error) {
	if d.Size() == 0 {
		return c.allocObjects(i, d, s)
	}
	if err := c.checkSize(d, s); err != nil {
		return nil, err
	}
	n := s.NumElements() * d.Size()
	if c.Scratch == nil || c.Scratch[i] == nil {
		buf, err := c.buffer(n, false)
		if err != nil {
			return nil, c.oom(d, s, err)
		}
		c.Out[i].T = TensorOf(d, s, buf)
		return c.Out[i].T, nil
	}
	h := c.Scratch[i]
	buf := h.takeSpare(n)
	if buf == nil {
		var err error
		if buf, err = c.buffer(n, true); err != nil {
			return nil, c.oom(d, s, err)
		}
	}
	h.Reuse(d, s, buf, nil)
	c.Out[i].T = h
	return h, nil
}

func (c *OpContext) allocObjects(i int, d DType, s Shape) (*Tensor, error) {
	t, err := AllocTensor(d, s)
	if err != nil {
		return nil, err
	}
	c.Out[i].T = t
	return t, nil
}

// buffer returns memory that counts to the step, in which pooled says that it
// goes back to the pool.
func (c *OpContext) buffer(n int, pooled bool) (*memory.Buffer, error) {
	switch {
	case c.Pool == nil:
		return memory.TryNew(n)
	case pooled:
		return c.Pool.GetFor(c.stepID(), n)
	}
	return c.Pool.NewFor(c.stepID(), n)
}

func (c *OpContext) stepID() int64 {
	if c.Step == nil {
		return 0
	}
	return c.ID
}

// checkSize is CheckSize for what a kernel computes: as in TensorFlow, elements that can
// be counted and have too many bytes are a matter of memory.
func (c *OpContext) checkSize(d DType, s Shape) error {
	err := CheckSize(d, s)
	switch {
	case err == nil || !s.Known():
		return err
	case s.NumElements() < 0:
		return Errorf(InvalidArgument, "Shape %s would have more than 2**63 - 1 elements", s.String())
	}
	return c.oom(d, s, errors.New("it would have more than 2**63 - 1 bytes"))
}

// oom says why there is no memory for a tensor, and on which device.
func (c *OpContext) oom(d DType, s Shape, err error) error {
	if c.Step == nil || c.Device == nil {
		return oom(d, s, "", err)
	}
	return oom(d, s, c.Device.Spec().String(), err)
}

// Temp returns a tensor for use within the kernel. Release gives it back.
func (c *OpContext) Temp(d DType, s Shape) (*Tensor, error) {
	if c.Pool == nil || d.Size() == 0 {
		return AllocTensor(d, s)
	}
	if err := c.checkSize(d, s); err != nil {
		return nil, err
	}
	buf, err := c.buffer(s.NumElements()*d.Size(), true)
	if err != nil {
		return nil, c.oom(d, s, err)
	}
	return TensorOf(d, s, buf), nil
}

// Set makes t output i. The output takes over the caller's reference.
func (c *OpContext) Set(i int, t *Tensor) { c.Out[i].T = t }

// Forward makes output o the same tensor as input i.
func (c *OpContext) Forward(i, o int) { c.ForwardShape(i, o, c.In[i].T.Shape()) }

// ForwardShape makes output o input i in another shape of equal size.
func (c *OpContext) ForwardShape(i, o int, s Shape) { c.ShareShape(o, c.In[i].T, s) }

// ShareShape makes output o a tensor over the memory of t, which stays the
// caller's, in a shape of equal size.
func (c *OpContext) ShareShape(o int, t *Tensor, s Shape) {
	if c.Scratch == nil || c.Scratch[o] == nil {
		r := t.Share()
		r.setShape(s)
		c.Out[o].T = r
		return
	}
	if t.buf != nil {
		t.buf.Ref()
	}
	c.Scratch[o].Reuse(t.dtype, s, t.buf, t.obj)
	c.Out[o].T = c.Scratch[o]
}

// AllocFrom makes output o a tensor of the given type and shape, in the memory
// of input i if that has the same size and no other reader.
func (c *OpContext) AllocFrom(i, o int, d DType, s Shape) (*Tensor, error) {
	t := c.In[i].T
	if c.Last == nil || !c.Last[i] || t.buf == nil || d.Size() == 0 || t.NumBytes() != s.NumElements()*d.Size() || !t.buf.Sole() {
		return c.Alloc(o, d, s)
	}
	c.ForwardShape(i, o, s)
	c.Out[o].T.dtype = d.Base()
	return c.Out[o].T, nil
}

// AllocWithin makes output o a tensor at the beginning of the memory of input i, and reports
// whether that is possible: it has room, and no other reader.
func (c *OpContext) AllocWithin(i, o int, d DType, s Shape) bool {
	t := c.In[i].T
	n := s.NumElements() * d.Size()
	if c.Last == nil || !c.Last[i] || t.buf == nil || n <= 0 || t.NumBytes() < n || !t.buf.Sole() {
		return false
	}
	buf := t.buf.Piece(0, n)
	if c.Scratch == nil || c.Scratch[o] == nil {
		c.Out[o].T = TensorOf(d, s, buf)
		return true
	}
	c.Scratch[o].Reuse(d, s, buf, nil)
	c.Out[o].T = c.Scratch[o]
	return true
}

// ParallelFor runs f over [0, n) in pieces of at least grain.
func (c *OpContext) ParallelFor(n, grain int, f func(lo, hi int)) {
	if c.Step == nil || c.Parallel == nil || n <= grain {
		f(0, n)
		return
	}
	c.Parallel(n, grain, f)
}

// Par returns ParallelFor as a value, without allocating one. It may leave out the call for
// n = 0.
func (c *OpContext) Par() func(n, grain int, f func(lo, hi int)) {
	if c.Step == nil || c.Parallel == nil {
		return serially
	}
	return c.Parallel
}

func serially(n, _ int, f func(lo, hi int)) { f(0, n) }

// StepContext returns the context that is cancelled when the step ends early.
func (c *OpContext) StepContext() context.Context {
	if c.Step == nil || c.Step.Context == nil {
		return context.Background()
	}
	return c.Step.Context
}

// Describe lists the inputs with dtypes and shapes, for messages.
func (c *OpContext) Describe() []string {
	out := make([]string, len(c.In))
	for i, s := range c.In {
		switch {
		case s.T != nil:
			out[i] = fmt.Sprintf("%v%v", s.T.dtype, s.T.shape)
		case s.Ref != nil:
			out[i] = c.Node.InTypes[i].String()
		default:
			out[i] = "dead"
		}
	}
	return out
}
