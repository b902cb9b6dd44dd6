package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Stage is what a program called to make a dataset, and where: what errors of
// pipelines of several datasets have to say.
type Stage struct{ Name, Pos string }

// Explain returns err as one of the stage, unless it names a stage before, or a node.
func (s Stage) Explain(err error) error {
	if err == nil || errors.Is(err, End) {
		return err
	}
	e := *core.AsError(err)
	if e.Node != "" || e.Op != "" {
		return err
	}
	e.Op, e.Pos = s.Name, s.Pos
	return &e
}

// At returns d, of which errors name the stage.
func (s Stage) At(d Dataset) Dataset { return &staged{d, s} }

// staged is a dataset that a program knows as a stage.
type staged struct {
	Dataset
	stage Stage
}

// Bare returns d without the stages that it is known as.
func Bare(d Dataset) Dataset {
	for {
		s, ok := d.(*staged)
		if !ok {
			return d
		}
		d = s.Dataset
	}
}

func (d *staged) Iterate() (Iterator, error) {
	it, err := d.Dataset.Iterate()
	if err != nil {
		return nil, d.stage.Explain(err)
	}
	return &stagedIterator{it, d.stage}, nil
}

// explain returns err as one of the stage. The end of ctx is none of its matters.
func (s Stage) explain(ctx context.Context, err error) error {
	if interrupted(ctx, err) {
		return err
	}
	return s.Explain(err)
}

type stagedIterator struct {
	Iterator
	stage Stage
}

func (it *stagedIterator) Next(ctx context.Context) (Element, error) {
	e, err := it.Iterator.Next(ctx)
	if err != nil {
		return e, it.stage.explain(ctx, err)
	}
	return e, nil
}

// Save notes of which stage the state is, since states of some others have the same keys.
func (it *stagedIterator) Save(s *State) {
	it.Iterator.Save(s)
	s.PutBool("staged", true)
	s.PutBool("staged/"+it.stage.Name, true)
}

// Restore refuses the state of another stage. States of earlier versions do not tell theirs.
func (it *stagedIterator) Restore(ctx context.Context, s *State) {
	if own := "staged/" + it.stage.Name; s.Has("staged") && !s.Has(own) {
		s.Fail(otherDataset("it has no %q", s.prefix+own))
		return
	}
	it.Iterator.Restore(ctx, s)
}

// refused is an error whose text is TensorFlow's. What came follows where it is printed, not
// where clients of TensorFlow look at it.
func refused(text string, got int64) error {
	return &core.Error{Code: core.InvalidArgument, Msg: text, Plain: fmt.Sprintf("%s Got %d.", text, got)}
}
