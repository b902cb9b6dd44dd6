package train

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// Names of the collections in which a [Scaffold] looks for its parts.
const (
	InitOpCollection              = "init_op"
	ReadyOpCollection             = "ready_op"
	ReadyForLocalInitOpCollection = "ready_for_local_init_op"
	LocalInitOpCollection         = "local_init_op"
	SummaryOpCollection           = "summary_op"
	TableInitializersCollection   = "table_initializer"
	SavedModelInitCollection      = "saved_model_initializers"
)

// A Scaffold holds what a session needs to begin: operations that initialize
// variables and tell whether they are, the summary of all summaries, the saver.
// Finalize takes what is not set from the graph's collections, or adds it.
type Scaffold struct {
	// InitOp initializes global variables. InitFn is called after it. Neither is
	// run if the variables are restored from a checkpoint.
	InitOp    *tf.Operation
	InitFeeds session.Feeds
	InitFn    func(ctx context.Context, sc *Scaffold, s *session.Session) error
	// ReadyOp returns the names of variables that are not initialized, a string
	// vector; ReadyForLocalInitOp those without which LocalInitOp cannot run.
	ReadyOp             tf.Output
	ReadyForLocalInitOp tf.Output
	// LocalInitOp initializes local variables and tables.
	LocalInitOp    *tf.Operation
	LocalInitFeeds session.Feeds
	SummaryOp      tf.Output // a serialized Summary, a scalar; none if there are no summaries
	Saver          *Saver
}

// Finalize completes the scaffold for a graph. It does nothing the second time.
func (sc *Scaffold) Finalize(g *tf.Graph) error {
	if err := g.Err(); err != nil {
		return err
	}
	if err := sc.finalizeInit(g); err != nil {
		return err
	}
	if err := sc.finalizeReady(g); err != nil {
		return err
	}
	if err := sc.finalizeSummary(g); err != nil {
		return err
	}
	return sc.finalizeSaver(g)
}

// only returns the one element of a collection, or adds the one that add makes.
func only[T any](g *tf.Graph, name, arg string, add func() (T, bool)) (T, error) {
	var zero T
	elems := g.Collection(name)
	if len(elems) > 1 {
		return zero, tf.Errorf(tf.InvalidArgument, "More than one item in the collection %q. Please indicate which one to use by setting %s of the Scaffold", name, arg)
	}
	if len(elems) == 1 {
		if v, ok := elems[0].(T); ok {
			return v, nil
		}
		return zero, tf.Errorf(tf.InvalidArgument, "the collection %q must hold a %T, got a %T", name, zero, elems[0])
	}
	v, ok := add()
	if ok {
		g.AddToCollection(name, v)
	}
	return v, g.Err()
}

func (sc *Scaffold) finalizeInit(g *tf.Graph) (err error) {
	if sc.InitOp == nil {
		sc.InitOp, err = only(g, InitOpCollection, "InitOp", func() (*tf.Operation, bool) {
			return initialize(g, tf.GlobalVariables, SavedModelInitCollection), true
		})
		if err != nil {
			return err
		}
	}
	if sc.LocalInitOp == nil {
		sc.LocalInitOp, err = only(g, LocalInitOpCollection, "LocalInitOp", func() (*tf.Operation, bool) {
			return initialize(g, tf.LocalVariables, TableInitializersCollection), true
		})
	}
	return err
}

// initialize groups the initializers of a collection of variables, and the
// operations of another collection.
func initialize(g *tf.Graph, variables, more string) (op *tf.Operation) {
	var all []*tf.Operation
	for _, v := range tf.Variables(g, variables) {
		if init := v.Initializer(); init != nil {
			all = append(all, init)
		}
	}
	for _, x := range g.Collection(more) {
		if op, ok := x.(*tf.Operation); ok && op != nil {
			all = append(all, op)
		}
	}
	g.Scope("", func() { op = tf.Group(g, "init", all...) })
	return op
}

func (sc *Scaffold) finalizeReady(g *tf.Graph) (err error) {
	report := func(vs ...*tf.Variable) func() (tf.Output, bool) {
		return func() (x tf.Output, _ bool) {
			if vs != nil && len(vs) == 0 {
				return ops.Const(g, []string{}), true
			}
			g.Scope("", func() { x = vars.ReportUninitialized(g, vs...) })
			return x, true
		}
	}
	if sc.ReadyOp.IsZero() {
		if sc.ReadyOp, err = only(g, ReadyOpCollection, "ReadyOp", report()); err != nil {
			return err
		}
	}
	if sc.ReadyForLocalInitOp.IsZero() {
		globals := append([]*tf.Variable{}, tf.Variables(g, tf.GlobalVariables)...)
		sc.ReadyForLocalInitOp, err = only(g, ReadyForLocalInitOpCollection, "ReadyForLocalInitOp", report(globals...))
	}
	return err
}

func (sc *Scaffold) finalizeSummary(g *tf.Graph) (err error) {
	if !sc.SummaryOp.IsZero() {
		return nil
	}
	sc.SummaryOp, err = only(g, SummaryOpCollection, "SummaryOp", func() (x tf.Output, _ bool) {
		all := summary.MergeAll(g)
		return all, !all.IsZero()
	})
	return err
}

func (sc *Scaffold) finalizeSaver(g *tf.Graph) (err error) {
	if sc.Saver != nil {
		return nil
	}
	sc.Saver, err = only(g, Savers, "Saver", func() (*Saver, bool) {
		var s *Saver
		if s, err = NewSaver(g, SaverOptions{Sharded: true, AllowEmpty: true}); err != nil {
			return nil, false
		}
		return s, true
	})
	return err
}
