package dataset

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gorge-tf/gorge/tf/core"
)

// A State tells where an iterator is: tensors by name. What goes wrong while it
// is written or read is kept.
type State struct {
	prefix string
	all    *values
}

type values struct {
	by  map[string]*core.Tensor
	err error
	ctx context.Context // while it is written
}

// NewState returns an empty state.
func NewState() *State { return stateWithin(context.Background()) }

// stateWithin is NewState for a Save that ctx may end: what it waits for may never come.
func stateWithin(ctx context.Context) *State {
	return &State{all: &values{by: map[string]*core.Tensor{}, ctx: ctx}}
}

// written returns what went wrong while the state was written.
func (s *State) written() error {
	s.all.ctx = context.Background() // the state may stay for long
	return s.all.err
}

// wait takes a token from c. It reports false, and fails, if the context ends before.
func (s *State) wait(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-s.all.ctx.Done():
		s.Fail(cancelled(s.all.ctx))
		return false
	}
}

// Sub returns the part of the state that a part of the iterator has.
func (s *State) Sub(name string) *State { return &State{s.prefix + name + "/", s.all} }

// Nth is Sub for the parts of a list.
func (s *State) Nth(name string, i int) *State { return s.Sub(name + strconv.Itoa(i)) }

// Err returns what went wrong first.
func (s *State) Err() error { return s.all.err }

// Fail keeps an error, if it is the first.
func (s *State) Fail(err error) {
	if s.all.err == nil {
		s.all.err = err
	}
}

// include keeps all that another state has.
func (s *State) include(o *State) {
	for key, t := range o.all.by {
		s.Put(key, t)
	}
	if o.all.err != nil {
		s.Fail(o.all.err)
	}
}

// Put keeps a tensor.
func (s *State) Put(key string, t *core.Tensor) { s.all.by[s.prefix+key] = t }

// Has reports whether there is such a tensor.
func (s *State) Has(key string) bool { return s.all.by[s.prefix+key] != nil }

// otherDataset is the error of a state that is not one of an iterator of the same
// dataset, in TensorFlow's words.
func otherDataset(format string, args ...any) error {
	return core.Errorf(core.NotFound, "Failed to restore dataset iterator from checkpoint: %s. Make sure the dataset definition has not changed between the process that saved the checkpoint and the process that is restoring it.",
		fmt.Sprintf(format, args...))
}

var errTooMany = otherDataset("there are more elements than there is room for")

// Get returns a tensor; an empty string if there is none.
func (s *State) Get(key string) *core.Tensor {
	if t := s.all.by[s.prefix+key]; t != nil {
		return t
	}
	s.Fail(otherDataset("it has no %q", s.prefix+key))
	return core.Scalar("")
}

// PutInt keeps a number.
func (s *State) PutInt(key string, v int64) { s.Put(key, core.Scalar(v)) }

// Int returns a number.
func (s *State) Int(key string) int64 {
	t := s.Get(key)
	if t.DType() != core.Int64 || t.Len() != 1 {
		s.Fail(otherDataset("%q is no number", s.prefix+key))
		return 0
	}
	return core.Data[int64](t)[0]
}

// Count returns a number that can be no less than 0 and no more than most.
func (s *State) Count(key string, most int64) int64 {
	n := s.Int(key)
	if n < 0 || n > most {
		s.Fail(otherDataset("%q is %d", s.prefix+key, n))
		return 0
	}
	return n
}

// PutElement keeps an element.
func (s *State) PutElement(key string, e Element) {
	s.PutInt(key, int64(len(e)))
	for i, t := range e {
		s.Put(key+"_"+strconv.Itoa(i), t)
	}
}

// Element returns an element.
func (s *State) Element(key string) Element {
	e := make(Element, s.Count(key, int64(len(s.all.by))))
	for i := range e {
		e[i] = s.Get(key + "_" + strconv.Itoa(i))
	}
	return e
}

// PutElements keeps a list of elements.
func (s *State) PutElements(key string, list []Element) {
	s.PutInt(key, int64(len(list)))
	for i, e := range list {
		s.Sub(key).PutElement(strconv.Itoa(i), e)
	}
}

// Elements returns a list of elements.
func (s *State) Elements(key string) []Element {
	list := make([]Element, s.Count(key, int64(len(s.all.by))))
	for i := range list {
		list[i] = s.Sub(key).Element(strconv.Itoa(i))
	}
	return list
}

// putTaken keeps the elements that a cancelled call has taken from an input. There are
// seldom any, and states of earlier versions have none.
func (s *State) putTaken(list []Element) {
	if len(list) > 0 {
		s.PutElements("taken", list)
	}
}

// taken returns them; they must have the types of spec.
func (s *State) taken(spec *Spec) []Element {
	if !s.Has("taken") {
		return nil
	}
	list := s.Elements("taken")
	for _, e := range list {
		if err := spec.Check(e); err != nil {
			s.Fail(otherDataset("%v", err))
			return nil
		}
	}
	return list
}

// Keys returns the names of all tensors, sorted.
func (s *State) Keys() []string {
	keys := make([]string, 0, len(s.all.by))
	for k := range s.all.by {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// PutBool keeps a truth value.
func (s *State) PutBool(key string, v bool) {
	n := int64(0)
	if v {
		n = 1
	}
	s.PutInt(key, n)
}

// Bool returns a truth value.
func (s *State) Bool(key string) bool { return s.Int(key) != 0 }

// putResults keeps a list of elements and errors.
func (s *State) putResults(key string, list []result) {
	s.PutInt(key, int64(len(list)))
	for i, r := range list {
		part := s.Nth(key, i)
		if part.PutBool("failed", r.err != nil); r.err == nil {
			part.PutElement("element", r.e)
			continue
		}
		part.putError(core.AsError(r.err))
	}
}

// results returns a list of elements and errors.
func (s *State) results(key string) []result {
	list := make([]result, s.Count(key, int64(len(s.all.by))))
	for i := range list {
		part := s.Nth(key, i)
		if !part.Bool("failed") {
			list[i].e = part.Element("element")
			continue
		}
		list[i].err = part.error()
	}
	return list
}

// putError keeps an error with what it says of its origin, but not its cause.
func (s *State) putError(e *core.Error) {
	s.PutInt("code", int64(e.Code))
	s.Put("message", core.Scalar(e.Message()))
	for key, text := range errorTexts(e) {
		if *text != "" {
			s.Put(key, core.Scalar(*text))
		}
	}
}

// error returns an error.
func (s *State) error() error {
	e := &core.Error{Code: core.Code(s.Int("code")), Msg: s.text("message")}
	for key, text := range errorTexts(e) {
		if s.Has(key) {
			*text = s.text(key)
		}
	}
	return e
}

// errorTexts are the parts of an error that most have not, and states of earlier versions neither.
func errorTexts(e *core.Error) map[string]*string {
	return map[string]*string{"node": &e.Node, "op": &e.Op, "pos": &e.Pos, "plain": &e.Plain}
}

// resultsOr returns the list "results" or, of a state of earlier versions, the elements
// of another list.
func (s *State) resultsOr(elements string) (list []result) {
	if s.Has("results") {
		return s.results("results")
	}
	for _, e := range s.Elements(elements) {
		list = append(list, result{e: e})
	}
	return list
}

// text returns a string.
func (s *State) text(key string) string {
	t := s.Get(key)
	if t.DType() != core.String || t.Len() != 1 {
		s.Fail(errState)
		return ""
	}
	return core.Data[string](t)[0]
}
