package data

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	registerBoth("AssertNextDataset", input+"; transformations: string", outputs, false, same)
	register("AssertPrevDataset", input+"; transformations: string", outputs, false, on(assertPrev))
}

// assertPrev checks what is before a dataset when an iterator over it begins.
func assertPrev(c *tf.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	at, want := c.Input(0).Share(), append([]string{}, tf.Data[string](c.Input(1))...)
	return dataset.When(in, func() error { return checkBefore(at, want) }), nil
}

// checkBefore compares a dataset and those before it with descriptions: names
// of ops with attributes, in messages.
func checkBefore(t *tf.Tensor, want []string) error {
	for i, text := range want {
		o := dataset.OriginOf(t)
		if o == nil {
			return tf.Errorf(tf.InvalidArgument, "Asserted previous %d transformations but encountered only %d.", len(want), i)
		}
		if err := checkMade(o, text); err != nil {
			return tf.Errorf(tf.InvalidArgument, "Failure checking transformations at offset %d: %s", i, tf.AsError(err).Message())
		}
		t = tf.NewTensor(tf.Variant, tf.Shape{})
		for _, x := range o.In {
			if x.DType() == tf.Variant && x.Rank() == 0 {
				t = x
			}
		}
	}
	return nil
}

func checkMade(o *dataset.Origin, text string) error {
	want := &pb.NameAttrList{}
	if err := proto.Unmarshal([]byte(text), want); err != nil {
		return tf.Errorf(tf.InvalidArgument, "Couldn't parse transformation '%s'.", text)
	}
	if !is(o.Node.OpName(), want.GetName()) {
		return tf.Errorf(tf.InvalidArgument, "Asserted transformation matching '%s', but found '%s'.", want.GetName(), o.Node.OpName())
	}
	have, err := tf.AttrsProto(o.Node.Attrs)
	if err != nil {
		return err
	}
	for key, v := range want.GetAttr() {
		switch {
		case have[key] == nil:
			return tf.Errorf(tf.InvalidArgument, "Asserted attribute '%s' having a value of '%s', but found no such attribute defined.", key, v)
		case !proto.Equal(have[key], v):
			return tf.Errorf(tf.InvalidArgument, "Asserted attribute '%s' having a value of '%s', but found value of '%s'.", key, v, have[key])
		}
	}
	return nil
}

// asserts reports whether a dataset says somewhere what comes after a place.
func asserts(t *tf.Tensor, seen map[*dataset.Origin]bool) bool {
	o := dataset.OriginOf(t)
	if o == nil || seen[o] {
		return false
	}
	seen[o] = true
	return is(strings.TrimPrefix(o.Node.OpName(), "Experimental"), "AssertNextDataset") ||
		slices.ContainsFunc(o.In, func(x *tf.Tensor) bool { return asserts(x, seen) })
}

// checkAfter compares what is said in a dataset, at any place, to come after
// that place with what does. behind are the names of what comes after t, the
// nearest last.
func checkAfter(t *tf.Tensor, behind []string) error {
	o := dataset.OriginOf(t)
	if o == nil {
		return nil
	}
	op := o.Node.OpName()
	if is(strings.TrimPrefix(op, "Experimental"), "AssertNextDataset") {
		if err := checkNext(tf.Data[string](o.In[1]), behind); err != nil {
			return err
		}
	}
	if !slices.Contains(unseen, op) {
		behind = append(behind[:len(behind):len(behind)], strings.Replace(op, "Dataset", "", 1))
	}
	for _, x := range o.In {
		if err := checkAfter(x, behind); err != nil {
			return err
		}
	}
	return nil
}

// unseen are ops that have no iterators of their own.
var unseen = []string{"OptionsDataset", "FinalizeDataset", "ModelDataset", "OptimizeDataset", "OptimizeDatasetV2"}

func checkNext(want, behind []string) error {
	if len(want) > len(behind) {
		return tf.Errorf(tf.InvalidArgument, "Asserted next %d transformations but encountered only %d.", len(want), len(behind))
	}
	for i, name := range want {
		if found := behind[len(behind)-1-i]; !is(found, name) {
			return tf.Errorf(tf.InvalidArgument, "Asserted transformation matching %s at offset %d but encountered %s transformation instead.", name, i, found)
		}
	}
	return nil
}
