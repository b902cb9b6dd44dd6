package savedmodel

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// DefaultSignature is the name of the signature that programs use unless they ask
// for another.
const DefaultSignature = "serving_default"

// The methods that signatures implement.
const (
	PredictMethod  = "tensorflow/serving/predict"
	ClassifyMethod = "tensorflow/serving/classify"
	RegressMethod  = "tensorflow/serving/regress"
	// TrainMethod and EvalMethod are those of MetaGraphs that estimators export for
	// training and for evaluation. Servers do not offer them.
	TrainMethod = "tensorflow/supervised/training"
	EvalMethod  = "tensorflow/supervised/eval"
)

// A TensorSpec describes an input or output of a signature.
type TensorSpec struct {
	Key     string // by which programs give or get it
	Name    string // of the tensor in the graph, as in "x:0"
	DType   tf.DType
	Shape   tf.Shape   // nil: the rank is not known; -1: the size of a dimension is not
	Default *tf.Tensor // of an input; nil: the input must be given
	out     tf.Output
}

// A Signature is a computation of a model, with names for its inputs and outputs.
// It may be run from any goroutine.
type Signature struct {
	name    string
	def     *pb.SignatureDef
	m       *Model
	ins     map[string]*TensorSpec
	outs    map[string]*TensorSpec
	inKeys  []string          // sorted
	outKeys []string          // sorted
	fed     []string          // of inKeys those that feed a tensor first: several may stand for one
	err     error             // why it cannot be run
	pure    bool              // a run leaves no trace
	samples map[string]string // by key, for inputs of strings of which more is expected

	mu    sync.Mutex
	calls map[string]*session.Callable // by the outputs that are wanted
}

// Signature returns the signature of a name. If the model has none of that name,
// running what is returned fails with NotFound.
func (m *Model) Signature(name string) *Signature {
	if s := m.sigs[name]; s != nil {
		return s
	}
	return &Signature{name: name, m: m, err: tf.Errorf(tf.NotFound, "the model has no signature %q; it has %s", name, strings.Join(m.Signatures(), ", "))}
}

// Signatures returns the names of the model's signatures, sorted, without those by
// which the model names its own initialization.
func (m *Model) Signatures() []string { return slices.Sorted(maps.Keys(m.sigs)) }

// bindSignatures finds the tensors of all signatures in the graph.
func (m *Model) bindSignatures(n *needs) {
	m.sigs = map[string]*Signature{}
	for name, def := range m.meta.def.GetSignatureDef() {
		if name == initKey || name == trainKey {
			continue
		}
		s := &Signature{name: name, def: def, m: m, calls: map[string]*session.Callable{}}
		if s.err = n.signature(def); s.err == nil {
			s.bind()
			s.pure = n.pure(def)
			s.samples = n.samples(s.ins)
		}
		m.sigs[name] = s
	}
}

// bind finds the signature's tensors. What is wrong with them is an error when the
// signature is run: others of the model may be fine.
func (s *Signature) bind() {
	s.ins, s.err = s.specs("input", s.def.GetInputs())
	if s.err == nil {
		s.outs, s.err = s.specs("output", s.def.GetOutputs())
	}
	if s.err == nil {
		s.err = s.setDefaults()
	}
	s.inKeys, s.outKeys = slices.Sorted(maps.Keys(s.ins)), slices.Sorted(maps.Keys(s.outs))
	s.fed = s.firsts()
}

// firsts returns the input keys without those that stand for a tensor that an
// earlier one stands for.
func (s *Signature) firsts() (out []string) {
	seen := map[string]bool{}
	for _, k := range s.inKeys {
		if name := s.ins[k].out.Name(); !seen[name] {
			seen[name] = true
			out = append(out, k)
		}
	}
	return out
}

func (s *Signature) specs(kind string, infos map[string]*pb.TensorInfo) (map[string]*TensorSpec, error) {
	out := map[string]*TensorSpec{}
	for key, info := range infos {
		for part, i := range partsOf(key, info) {
			spec, err := s.m.spec(part, i)
			if err != nil {
				return nil, s.fault("%s %q: %s", kind, part, tf.AsError(err).Message())
			}
			out[part] = spec
		}
	}
	return out, nil
}

// spec finds the tensor of an input or output.
func (m *Model) spec(key string, info *pb.TensorInfo) (*TensorSpec, error) {
	x, err := m.graph.Output(info.GetName())
	if err != nil {
		return nil, err
	}
	shape := x.Shape()
	if info.GetTensorShape() != nil {
		if shape, err = core.ShapeFromProto(info.GetTensorShape()); err != nil {
			return nil, err
		}
	}
	return &TensorSpec{Key: key, Name: info.GetName(), DType: x.DType().Base(), Shape: shape, out: x}, nil
}

// setDefaults reads the values of inputs that need not be given.
func (s *Signature) setDefaults() error {
	for key, p := range s.def.GetDefaults() {
		in := s.ins[key]
		if in == nil {
			return s.fault("the default of input %q is of no input", key)
		}
		t, err := core.TensorFromProto(p)
		if err != nil {
			return s.fault("the default of input %q: %s", key, tf.AsError(err).Message())
		}
		in.Default = (*tf.Tensor)(t)
	}
	return nil
}

func (s *Signature) fault(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, "signature %q: "+format, append([]any{s.name}, args...)...)
}

// Name returns the name of the signature in its model.
func (s *Signature) Name() string { return s.name }

// Method returns what the signature implements: PredictMethod, ClassifyMethod,
// RegressMethod, or what the model's author has called it.
func (s *Signature) Method() string { return s.def.GetMethodName() }

// Err returns why the signature cannot be run, nil if it can.
func (s *Signature) Err() error { return s.err }

// Inputs returns what the signature takes, sorted by key.
func (s *Signature) Inputs() []TensorSpec { return list(s.ins, s.inKeys) }

// Outputs returns what the signature computes, sorted by key.
func (s *Signature) Outputs() []TensorSpec { return list(s.outs, s.outKeys) }

func list(specs map[string]*TensorSpec, keys []string) []TensorSpec {
	out := make([]TensorSpec, len(keys))
	for i, k := range keys {
		out[i] = *specs[k]
	}
	return out
}

// Run computes the wanted outputs from the inputs, all outputs if none is named.
// An input may be whatever [tf.TensorOf] takes, a *tf.Tensor or another tf.Value.
// All inputs must be given but those that have defaults. A signature without outputs
// computes nothing. What is returned is the program's own. Keys, types and shapes that do not fit are InvalidArgument.
func (s *Signature) Run(ctx context.Context, in map[string]any, want ...string) (map[string]*tf.Tensor, error) {
	return s.run(ctx, in, want, false)
}

// RunAnyShapes is RunTensors for servers: like a session of TensorFlow's C++, in which
// TensorFlow Serving runs signatures, it takes tensors of other shapes than the model says.
// What the model cannot compute of them is the error of an operation.
func (s *Signature) RunAnyShapes(ctx context.Context, in map[string]*tf.Tensor, want ...string) (map[string]*tf.Tensor, error) {
	return s.run(ctx, asAny(in), want, true)
}

func (s *Signature) run(ctx context.Context, in map[string]any, want []string, anyShapes bool) (map[string]*tf.Tensor, error) {
	if err := core.NeedContext(ctx, "a step"); err != nil {
		return nil, err
	}
	if s.err != nil {
		return nil, s.err
	}
	args, err := s.args(in, anyShapes)
	if err != nil {
		return nil, err
	}
	return s.call(ctx, args, want, anyShapes)
}

// RunTensors is Run for inputs that are tensors.
func (s *Signature) RunTensors(ctx context.Context, in map[string]*tf.Tensor, want ...string) (map[string]*tf.Tensor, error) {
	return s.Run(ctx, asAny(in), want...)
}

func asAny(in map[string]*tf.Tensor) map[string]any {
	values := make(map[string]any, len(in))
	for k, t := range in {
		values[k] = t
	}
	return values
}

func (s *Signature) call(ctx context.Context, args []*tf.Tensor, want []string, anyShapes bool) (map[string]*tf.Tensor, error) {
	if len(want) == 0 {
		want = s.outKeys
	}
	if len(want) == 0 { // as a policy without state says which state it begins with
		return map[string]*tf.Tensor{}, nil
	}
	want = once(want)
	c, keys, err := s.callable(want)
	if err != nil {
		return nil, err
	}
	defer c.done()
	got, err := s.inTurn(ctx, c, args, anyShapes)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*tf.Tensor, len(keys))
	for i, k := range keys {
		out[k] = got[i]
	}
	if len(keys) > len(want) {
		maps.DeleteFunc(out, func(k string, _ *tf.Tensor) bool { return !slices.Contains(want, k) })
	}
	return out, nil
}

// inTurn runs a step. One that changes state may wait for another run of the model, and
// so does not wait for its turn.
func (s *Signature) inTurn(ctx context.Context, c prepared, args []*tf.Tensor, anyShapes bool) ([]*tf.Tensor, error) {
	if s.pure {
		if err := s.m.turns.take(ctx); err != nil {
			return nil, err
		}
		defer s.m.turns.give()
	}
	if anyShapes {
		return c.RunAnyShapes(ctx, args...)
	}
	return c.Run(ctx, args...)
}

// Prepare does what the first run would do before it computes: it plans the graph
// and makes kernels for the wanted outputs, for all if none is named. It returns the
// error that Run would return for the same reasons.
func (s *Signature) Prepare(ctx context.Context, want ...string) error {
	if s.err != nil {
		return s.err
	}
	if len(want) == 0 {
		want = s.outKeys
	}
	if len(want) == 0 {
		return nil
	}
	c, _, err := s.callable(once(want))
	if err != nil {
		return err
	}
	defer c.done()
	return c.Plan(ctx)
}

// maxCalls bounds the steps that a signature keeps for choices of its outputs, which
// clients of a server make as they like. Beyond it one that leaves no trace computes all;
// of another each run prepares its step, which nothing keeps.
const maxCalls = 64

// prepared is a step of a signature.
type prepared struct {
	*session.Callable
	once bool // it is not kept
}

// done ends the use of a step.
func (p prepared) done() {
	if p.once {
		p.Release()
	}
}

// once returns strings in order, each once.
func once(all []string) []string {
	for i := range all {
		if i > 0 && all[i-1] >= all[i] {
			return slices.Compact(slices.Sorted(slices.Values(all)))
		}
	}
	return all
}

// callable returns the prepared step that computes some outputs, and the outputs that it
// computes: those, or all.
func (s *Signature) callable(keys []string) (prepared, []string, error) {
	for _, k := range keys {
		if s.outs[k] == nil {
			return prepared{}, nil, s.fault("output tensor alias not found in signature: %s Outputs expected to be in the set {%s}.", k, strings.Join(s.outKeys, ","))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[strings.Join(keys, "\x00")]
	if c == nil && s.pure && len(s.calls) >= maxCalls {
		keys = s.outKeys
		c = s.calls[strings.Join(keys, "\x00")]
	}
	if c != nil {
		return prepared{c, false}, keys, nil
	}
	c, err := s.makeCallable(keys)
	tooMany := !s.pure && len(s.calls) >= maxCalls && len(keys) < len(s.outKeys)
	if err == nil && !tooMany {
		s.calls[strings.Join(keys, "\x00")] = c
	}
	return prepared{c, tooMany}, keys, err
}

func (s *Signature) makeCallable(keys []string) (*session.Callable, error) {
	feeds := make([]tf.Output, len(s.fed))
	for i, k := range s.fed {
		feeds[i] = s.ins[k].out
	}
	fetches := make([]tf.Fetchable, len(keys))
	for i, k := range keys {
		fetches[i] = s.outs[k].out
	}
	return s.m.s.MakeCallable(feeds, fetches...)
}

// Values returns the elements of an output of a run as a slice of type T; the
// error names the output.
func Values[T tf.Elem](results map[string]*tf.Tensor, key string) ([]T, error) {
	t := results[key]
	if t == nil {
		return nil, tf.Errorf(tf.NotFound, "the results have no output %q; they have %s", key, strings.Join(slices.Sorted(maps.Keys(results)), ", "))
	}
	v, err := tf.Values[T](t)
	if err != nil {
		return nil, tf.Errorf(tf.CodeOf(err), "output %q: %s", key, tf.AsError(err).Message())
	}
	return v, nil
}
