package train

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
)

// InitFromCheckpoint makes values of a checkpoint the initial values of variables
// of g. It is called before operations that initialize variables are added, else it fails
// with FailedPrecondition: what runs them reads the checkpoint. path is a checkpoint's name or a directory, whose
// latest one is meant. assignments say, by names in the checkpoint, which
// variables or scopes get them:
//
//	"old/w": "new/w"   a variable; parts of one get their slices
//	"old/": "new/"     all variables of a scope, by the rest of their names
//	"/": "new/"        the same from all of the checkpoint
//
// Names in the checkpoint are those that [CheckpointReader.Key] takes.
func InitFromCheckpoint(g *tf.Graph, path string, assignments map[string]string) error {
	if g == nil {
		return noGraph("a start from a checkpoint")
	}
	r, err := OpenCheckpoint(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, from := range slices.Sorted(maps.Keys(assignments)) {
		pairs, err := assigned(g, r, from, assignments[from])
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if err := initFrom(r, p.name, p.v); err != nil {
				return err
			}
		}
	}
	return g.Err()
}

// assigned returns the variables that one assignment means, with the names of what
// they get.
func assigned(g *tf.Graph, r *CheckpointReader, from, to string) (pairs []item, err error) {
	scopes := strings.HasSuffix(from, "/")
	if scopes != (to == "" || strings.HasSuffix(to, "/")) {
		return nil, tf.Errorf(tf.InvalidArgument, "a scope is assigned to a scope, a variable to a variable: Assignment map with scope only name %s should map to scope only, got %s", from, to)
	}
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		name := wholeName(v)
		if !scopes && name == to {
			pairs = append(pairs, item{name: from, v: v})
		}
		if rest, ok := strings.CutPrefix(name, strings.TrimPrefix(to, "/")); scopes && ok {
			pairs = append(pairs, item{name: strings.TrimPrefix(from, "/") + rest, v: v})
		}
	}
	if len(pairs) == 0 && !scopes {
		return nil, tf.Errorf(tf.NotFound, "the graph must have the variable that a checkpoint's is assigned to: %s", to)
	}
	if scopes { // optimizers may have made slots that the checkpoint lacks
		for _, p := range pairs {
			if !r.Has(p.name) {
				return nil, tf.Errorf(tf.NotFound, "Attempting to warm-start variable %s: Tensor %s is not found in %s checkpoint", p.v.Name(), p.name, r.path)
			}
		}
	}
	return pairs, nil
}

// wholeName is the name of a variable, or of what it is a part of.
func wholeName(v *tf.Variable) string {
	if s := v.Slice(); s != nil {
		return s.FullName
	}
	return v.Name()
}

// initFrom makes a tensor of a checkpoint the initial value of v.
func initFrom(r *CheckpointReader, name string, v *tf.Variable) error {
	key, ok := r.Key(name)
	if !ok {
		return tf.Errorf(tf.NotFound, "Tensor %s is not found in %s checkpoint", name, r.path)
	}
	info := r.infos[key]
	shape := v.Shape()
	if s := v.Slice(); s != nil {
		shape = s.FullShape
	}
	if !shape.Compatible(info.Shape) {
		return tf.Errorf(tf.InvalidArgument, "Shape of variable %s (%v) doesn't match with shape of tensor %s (%v) from checkpoint reader.", v.Name(), shape, name, info.Shape)
	}
	if v.DType() != info.DType {
		return tf.Errorf(tf.InvalidArgument, "Type of variable %s (%v) doesn't match with type of tensor %s (%v) from checkpoint reader.", v.Name(), v.DType(), name, info.DType)
	}
	if err := notYetUsed(v); err != nil {
		return err
	}
	g := v.Graph()
	g.InitScope(func() {
		g.Scope("checkpoint_initializer", func() {
			var x tf.Output
			g.Device("/device:CPU:0", func() {
				x = checkpoint.RestoreV2(ops.Scalar(g, r.path), ops.Const(g, []string{key}), ops.Const(g, []string{sliceSpec(v.Slice())}), []tf.DType{v.DType()})[0]
			})
			if s := v.Shape(); s.Known() {
				x.SetShape(s)
			}
			beside(v, func() { v.SetInitial(ops.Identity(x)) })
		})
	})
	return g.Err()
}

// notYetUsed refuses another initial value for a variable whose initializer is part of an operation
// that initializes: that one would go on to give it the old value.
func notYetUsed(v *tf.Variable) error {
	init := v.Initializer()
	if init == nil || v.Graph().IsEager() {
		return nil
	}
	for _, op := range v.Graph().Operations() {
		if slices.Contains(op.ControlInputs(), init) {
			return author.Called(tf.Errorf(tf.FailedPrecondition, "initial values from a checkpoint must be set before operations that initialize variables are added, as by InitializeAll: "+
				"%s, added at %s, runs the initializer that variable %s has had", op.Name, op.Pos(), v.Name()))
		}
	}
	return nil
}

// WarmStartOptions say what [WarmStart] begins with.
type WarmStartOptions struct {
	// Vars is a regular expression that the beginnings of the names of trainable
	// variables match which get values; "": all.
	Vars string
	// Names are those that variables have in the checkpoint, where they differ.
	Names map[string]string
	// Vocab says, by the names of variables, whose rows or columns belong to words
	// that stand elsewhere in the checkpoint.
	Vocab map[string]*VocabInfo
}

// WarmStart makes the values that trainable variables have in a checkpoint their
// initial ones: see [InitFromCheckpoint].
func WarmStart(g *tf.Graph, path string, opts ...WarmStartOptions) error {
	if g == nil {
		return noGraph("a warm start")
	}
	var o WarmStartOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	match, err := regexp.Compile("^(?:" + o.Vars + ")")
	if err != nil {
		return tf.Errorf(tf.InvalidArgument, "the variables of a warm start must be a regular expression: %v", err)
	}
	r, err := OpenCheckpoint(path)
	if err != nil {
		return err
	}
	defer r.Close()
	given := false
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		name := wholeName(v)
		if !match.MatchString(name) {
			continue
		}
		given = true
		from := name
		if other := o.Names[name]; other != "" {
			from = other
		}
		if i := o.Vocab[name]; i != nil {
			err = initByWords(r, from, v, i)
		} else {
			err = initFrom(r, from, v)
		}
		if err != nil {
			return err
		}
	}
	if !given && o.Vars != "" {
		return author.Called(tf.Errorf(tf.InvalidArgument, "the variables of a warm start must be trainable variables of the graph: the names of none begin as %q says", o.Vars))
	}
	return o.used(g, match)
}

// used reports names in options that no variable has that is given values.
func (o *WarmStartOptions) used(g *tf.Graph, match *regexp.Regexp) error {
	known := map[string]bool{}
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		known[wholeName(v)] = match.MatchString(wholeName(v))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Names)) {
		if !known[name] {
			return unused("names", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Vocab)) {
		if !known[name] {
			return unused("vocabularies", name)
		}
	}
	return nil
}

func unused(what, name string) error {
	return tf.Errorf(tf.InvalidArgument, "the %s of a warm start must be those of variables that it gives values: %s was not used", what, name)
}
