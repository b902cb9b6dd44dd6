package tf

import (
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TensorFlow's programs may write the gradients that they have registered, as functions, into
// the libraries of SavedModels. Such a function gets the gradients of all outputs of the
// operation and then values that the forward computation has. What these are and which inputs
// the results are for the model says elsewhere; its loader notes it at the function.
const (
	// capturedOutput is the attribute, of an argument, with the name of the output that it is.
	capturedOutput = "_captured_output"
	// gradientInputs is the attribute, of the first argument, with the inputs of the operation
	// that the results are the gradients of. Without it those are the last ones. TensorFlow
	// refuses functions that have attributes which it does not know.
	gradientInputs = "_gradient_inputs"
)

// ownGradient returns the gradient that op has instead of that of its kind, nil if none.
func (b *backprop) ownGradient(op *Operation) GradFunc {
	if op.grad != nil || !b.lacksGradient(op) {
		return op.grad
	}
	library, _ := op.g.Library()
	f := library.Find(library.Registered(op.Str(registeredGradient)))
	if f == nil {
		return nil
	}
	return func(op *Operation, dy []Output) []Gradient {
		grads, err := callRegistered(library, f, op, dy)
		if err != nil {
			return failedGradients(op, blamed(op, err))
		}
		return grads
	}
}

// callRegistered calls the function f of a library for the gradients of op.
func callRegistered(l *core.Library, f *pb.FunctionDef, op *Operation, dy []Output) ([]Gradient, error) {
	name := f.GetSignature().GetName()
	body, err := l.Body(core.Func{Name: name})
	if err != nil {
		return nil, err
	}
	in, err := registeredArgs(f, body, op, dy)
	if err != nil {
		return nil, err
	}
	places, err := gradientPlaces(f, len(body.RetTypes), len(op.in))
	if err != nil {
		return nil, err
	}
	kind := "PartitionedCall"
	if body.Stateful {
		kind = "StatefulPartitionedCall"
	}
	call := Apply(op.g, kind, in, Attr("f", core.Func{Name: name}), Attr("Tin", body.ArgTypes), Attr("Tout", body.RetTypes))
	if call.err != nil {
		return nil, call.err
	}
	grads := make([]Gradient, len(op.in))
	for i, place := range places {
		grads[place] = Dense(call.Output(i))
	}
	return grads, nil
}

// registeredArgs returns what f is called with: gradients, zeros of outputs that nothing
// depends on, and what it captures of the graph of op.
func registeredArgs(f *pb.FunctionDef, body *core.FunctionBody, op *Operation, dy []Output) ([]Output, error) {
	n := len(op.OutTypes)
	if len(body.Args) < n || len(body.Args) != len(f.GetSignature().GetInputArg()) {
		return nil, Errorf(InvalidArgument, "the gradient function %s must take the gradients of %d outputs, it takes %d arguments", body.Name, n, len(body.Args))
	}
	in := make([]Output, len(body.Args))
	for i := range in {
		switch {
		case i >= n:
			name := string(f.GetArgAttr()[uint32(i)].GetAttr()[capturedOutput].GetS())
			x, err := op.g.Output(name)
			if err != nil {
				return nil, Errorf(NotFound, "the gradient function %s captures %s as argument %d, which is no output that operation '%s' has beside it: %q", body.Name, body.Args[i], i, op.Name, name)
			}
			in[i] = x
		case dy[i].IsZero():
			in[i] = zerosLike(op.Output(i))
		default:
			in[i] = dy[i]
		}
		if got := in[i].DType().Base(); in[i].Err() == nil && got != body.ArgTypes[i] {
			return nil, Errorf(InvalidArgument, "argument %d of the gradient function %s must be %v, got %v", i, body.Name, body.ArgTypes[i], got)
		}
	}
	return in, nil
}

// gradientPlaces returns which inputs, of so many, the results of f are the gradients of.
func gradientPlaces(f *pb.FunctionDef, results, inputs int) ([]int, error) {
	bad := Errorf(InvalidArgument, "the gradient function %s returns %d gradients, which are not those of the %d inputs", f.GetSignature().GetName(), results, inputs)
	if results > inputs {
		return nil, bad
	}
	places := make([]int, results)
	noted, ok := f.GetArgAttr()[0].GetAttr()[gradientInputs]
	if ok && len(noted.GetList().GetI()) != results {
		return nil, bad
	}
	for i := range places {
		if places[i] = inputs - results + i; ok {
			places[i] = int(noted.GetList().GetI()[i])
		}
		if places[i] < 0 || places[i] >= inputs {
			return nil, bad
		}
	}
	return places, nil
}
