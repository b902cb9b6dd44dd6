package savedmodel

import (
	"context"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// Function returns a function of a model of TensorFlow 2 that need not be a
// signature: by its path in the model's objects, as in "__call__" or
// "encoder.embed", or by the name that it has in the graph's library. A function
// that was traced several times has a name for each trace; its path alone is then
// an error that lists them.
//
// The inputs have the names of the function's arguments. Outputs have the keys of
// the dictionary that it returns, or else are output_0, output_1 and so on.
// Running what is returned fails with NotFound if there is no such function.
func (m *Model) Function(name string) *Signature {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.functions[name]; s != nil {
		return s
	}
	s, err := m.makeFunction(name)
	if err != nil {
		e := *tf.AsError(err)
		e.Msg = "function \"" + name + "\": " + e.Message()
		return &Signature{name: name, m: m, err: &e}
	}
	m.functions[name] = s
	return s
}

// makeFunction adds a call of a function to the graph.
func (m *Model) makeFunction(name string) (*Signature, error) {
	concrete, err := m.concrete(name)
	if err != nil {
		return nil, err
	}
	b, err := m.bindingOf(concrete)
	if err != nil {
		return nil, err
	}
	s := &Signature{name: name, def: &pb.SignatureDef{}, m: m, calls: map[string]*session.Callable{}}
	ins := specsOf(b.def.GetCanonicalizedInputSignature(), b.args, "arg")
	args := make([]tf.Output, len(ins))
	s.ins = map[string]*TensorSpec{}
	for i := range ins {
		in := &ins[i]
		in.DType = b.body.ArgTypes[i]
		args[i] = ops.Placeholder(m.graph, in.DType, in.Shape, tf.Name("function/input"))
		in.Name, in.out = args[i].Name(), args[i]
		s.ins[in.Key] = in
		s.inKeys = append(s.inKeys, in.Key)
	}
	slices.Sort(s.inKeys)
	s.fed = s.inKeys
	results, err := b.call(append(args, b.captures...))
	if err != nil {
		return nil, err
	}
	outs := specsOf(b.def.GetOutputSignature(), make([]string, len(results)), "output_")
	s.outs = map[string]*TensorSpec{}
	for i := range outs {
		out := &outs[i]
		out.Name, out.DType, out.out = results[i].Name(), results[i].DType(), results[i]
		s.outs[out.Key] = out
		s.outKeys = append(s.outKeys, out.Key)
	}
	slices.Sort(s.outKeys)
	return s, nil
}

// concrete returns the name in the library of the function that name means.
func (m *Model) concrete(name string) (string, error) {
	objects := m.MetaGraph().GetObjectGraphDef()
	if objects == nil {
		return "", tf.Errorf(tf.FailedPrecondition, "only models of TensorFlow 2 have functions by name")
	}
	if objects.GetConcreteFunctions()[name] != nil {
		return name, nil
	}
	o := m.object(name)
	traces := o.GetFunction().GetConcreteFunctions()
	if bare := o.GetBareConcreteFunction(); bare != nil {
		traces = []string{bare.GetConcreteFunctionName()}
	}
	switch len(traces) {
	case 0:
		return "", tf.Errorf(tf.NotFound, "the model has no function of this name that was traced")
	case 1:
		return traces[0], nil
	}
	return "", tf.Errorf(tf.InvalidArgument, "it was traced %d times: choose one of %s", len(traces), strings.Join(traces, ", "))
}

// object returns the object at a path from the root, nil if there is none.
func (m *Model) object(path string) *pb.SavedObject {
	o := savedObject(m.MetaGraph(), 0)
	for _, name := range strings.Split(path, ".") {
		i := slices.IndexFunc(o.GetChildren(), func(c *pb.TrackableObjectGraph_TrackableObject_ObjectReference) bool { return c.GetLocalName() == name })
		if i < 0 {
			return nil
		}
		o = savedObject(m.MetaGraph(), o.GetChildren()[i].GetNodeId())
	}
	return o
}

// binding is a concrete function with what is bound to its last arguments.
type binding struct {
	m        *Model
	name     string
	def      *pb.SavedConcreteFunction
	body     *core.FunctionBody
	args     []string // names of the arguments that callers give
	captures []tf.Output
}

// bindingOf finds a concrete function and what it captures.
func (m *Model) bindingOf(name string) (*binding, error) {
	def := m.MetaGraph().GetObjectGraphDef().GetConcreteFunctions()[name]
	library, _ := m.graph.Library()
	if def == nil || library.Find(name) == nil {
		return nil, tf.Errorf(tf.NotFound, "the graph's library has no function %q", name)
	}
	body, err := library.Body(core.Func{Name: name})
	if err != nil {
		return nil, err
	}
	own := len(body.Args) - len(def.GetBoundInputs())
	if own < 0 {
		return nil, tf.Errorf(tf.DataLoss, "function %q takes %d arguments, %d are bound", name, len(body.Args), len(def.GetBoundInputs()))
	}
	b := &binding{m: m, name: name, def: def, body: body, args: body.Args[:own]}
	for i, object := range def.GetBoundInputs() {
		x, err := m.captured(object, body.ArgTypes[own+i])
		if err != nil {
			return nil, err
		}
		b.captures = append(b.captures, x)
	}
	return b, nil
}

// call adds a call of the function. The error is its own: that of the graph may be of
// another function, which those that are whole do not need.
func (b *binding) call(args []tf.Output) ([]tf.Output, error) {
	op := tf.Apply(b.m.graph, "StatefulPartitionedCall", args, tf.Attr("f", core.Func{Name: b.name}),
		tf.Attr("Tin", slices.Clone(b.body.ArgTypes)), tf.Attr("Tout", slices.Clone(b.body.RetTypes)))
	if err := op.Err(); err != nil {
		return nil, err
	}
	return op.Outputs(), nil
}

// captured returns what object stands for, as functions get it. What has not been
// made before is made and initialized.
func (m *Model) captured(object int32, d tf.DType) (x tf.Output, err error) {
	switch x, ok := m.objects[object]; {
	case ok && x.IsZero():
		return x, tf.Errorf(tf.DataLoss, "a resource must be made without itself, object %d takes itself", object)
	case ok:
		return x, nil
	}
	m.objects[object] = tf.Output{} // while it is made
	if m.capturing++; m.capturing > maxCapturing {
		err = tf.Errorf(tf.DataLoss, "resources must be made of at most %d others, one within the other", maxCapturing)
	} else if x, err = m.capture(object); err == nil {
		err = x.Err()
	}
	m.capturing--
	if err == nil && x.DType().Base() != d {
		err = tf.Errorf(tf.DataLoss, "object %d must be %v, it is %v", object, d, x.DType())
	}
	if err != nil {
		delete(m.objects, object)
		return x, err
	}
	m.objects[object] = x
	return x, nil
}

// maxCapturing bounds how deep resources capture resources: each level takes space on the
// stack, and a file may have very many.
const maxCapturing = 1000

func (m *Model) capture(object int32) (tf.Output, error) {
	switch o := savedObject(m.MetaGraph(), object); {
	case o.GetVariable() != nil:
		return m.captureVariable(object, o.GetVariable())
	case o.GetConstant() != nil:
		return m.graph.Output(o.GetConstant().GetOperation() + ":0")
	case o.GetAsset() != nil:
		return m.captureAsset(int(o.GetAsset().GetAssetFileDefIndex()))
	case o.GetResource() != nil:
		return m.captureResource(object)
	}
	return tf.Output{}, tf.Errorf(tf.Unimplemented, "a function must capture variables, constants, assets or resources, object %d is none of them", object)
}

// captureVariable makes a variable and restores it.
func (m *Model) captureVariable(object int32, v *pb.SavedVariable) (tf.Output, error) {
	shape, err := core.ShapeFromProto(v.GetShape())
	if err != nil {
		return tf.Output{}, err
	}
	d := tf.DType(v.GetDtype())
	h := tf.Apply(m.graph, "VarHandleOp", nil, tf.Attr("dtype", d), tf.Attr("shape", shape), tf.Attr("shared_name", sharedName(object)))
	if h.Err() != nil {
		return tf.Output{}, h.Err()
	}
	r := objectRestore{map[string]int32{h.Name: object}}
	return h.Output(0), r.restore(context.Background(), m, m.prefix())
}

// captureAsset returns the path of an asset.
func (m *Model) captureAsset(index int) (tf.Output, error) {
	assets, err := m.assets()
	if err != nil {
		return tf.Output{}, err
	}
	if index < 0 || index >= len(assets) {
		return tf.Output{}, tf.Errorf(tf.DataLoss, "the model has %d assets, a function captures number %d", len(assets), index)
	}
	return ops.ConstTensor(m.graph, tf.Scalar(assets[index].File)), nil
}

// captureResource makes a resource, such as a table, by the functions that its
// object has for that.
func (m *Model) captureResource(object int32) (tf.Output, error) {
	create, err := m.method(object, "_create_resource")
	if err != nil {
		return tf.Output{}, err
	}
	made, err := create.call(create.captures)
	if err != nil {
		return tf.Output{}, err
	}
	if len(made) != 1 {
		return tf.Output{}, tf.Errorf(tf.DataLoss, "function %q must return a resource", create.name)
	}
	m.objects[object] = made[0] // its initializer captures it
	initialize, err := m.method(object, "_initialize")
	if err != nil {
		return tf.Output{}, err
	}
	done, err := initialize.call(initialize.captures)
	if err == nil && len(done) > 0 {
		_, err = m.s.Run(context.Background(), nil, done[0].Operation())
	}
	return made[0], err
}

// method returns a function without arguments of an object.
func (m *Model) method(object int32, name string) (*binding, error) {
	for _, c := range savedObject(m.MetaGraph(), object).GetChildren() {
		o := savedObject(m.MetaGraph(), c.GetNodeId())
		if c.GetLocalName() == name && len(o.GetFunction().GetConcreteFunctions()) == 1 {
			b, err := m.bindingOf(o.GetFunction().GetConcreteFunctions()[0])
			if err == nil && len(b.args) > 0 {
				err = tf.Errorf(tf.DataLoss, "function %q must take no arguments", b.name)
			}
			return b, err
		}
	}
	return nil, tf.Errorf(tf.Unimplemented, "resource %d must have a function %s", object, name)
}
