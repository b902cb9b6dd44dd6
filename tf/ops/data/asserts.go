package data

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	registerBoth("AssertNextDataset", input+"; transformations: string", outputs, false, same)
	register("AssertPrevDataset", input+"; transformations: string", outputs, false, on(assertPrev))
}

// assertPrev checks what is before a dataset when an iterator over it begins.
func assertPrev(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	at, want := c.Input(0).Share(), append([]string{}, core.Data[string](c.Input(1))...)
	return dataset.When(in, func() error { return checkBefore(at, want) }), nil
}

// checkBefore compares a dataset and those before it with descriptions: names
// of ops with attributes, in the text form of messages.
func checkBefore(t *core.Tensor, want []string) error {
	for i, text := range want {
		o := dataset.OriginOf(t)
		if o == nil {
			return tf.Errorf(tf.InvalidArgument, "Asserted previous %d transformations but encountered only %d.", len(want), i)
		}
		if err := checkMade(o, text); err != nil {
			return tf.Errorf(tf.InvalidArgument, "Failure checking transformations at offset %d: %s", i, tf.AsError(err).Message())
		}
		t = core.NewTensor(tf.Variant, tf.Shape{})
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
	if prototext.Unmarshal([]byte(text), want) != nil {
		return tf.Errorf(tf.InvalidArgument, "Couldn't parse transformation '%s'.", text)
	}
	if !is(o.Node.OpName(), want.GetName()) {
		return tf.Errorf(tf.InvalidArgument, "Asserted transformation matching '%s', but found '%s'.", want.GetName(), o.Node.OpName())
	}
	have, err := core.AttrsProto(o.Node.Attrs)
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

// asserted checks what a dataset says of what comes after places in it, when
// something of that name begins to go through it.
func asserted(t *core.Tensor, by string) error {
	if !asserts(t, map[*dataset.Origin]bool{}) {
		return nil
	}
	return checkAfter(t, []string{by}, eliminated(t))
}

// asserts reports whether a dataset says somewhere what comes after a place.
func asserts(t *core.Tensor, seen map[*dataset.Origin]bool) bool {
	o := dataset.OriginOf(t)
	if o == nil || seen[o] {
		return false
	}
	seen[o] = true
	return is(strings.TrimPrefix(o.Node.OpName(), "Experimental"), "AssertNextDataset") ||
		slices.ContainsFunc(o.In, func(x *core.Tensor) bool { return asserts(x, seen) })
}

// checkAfter compares what is said in a dataset, at any place, to come after
// that place with what does. behind are the names of what comes after t, the
// nearest last. With eliminates, what does nothing does not count: TensorFlow
// takes it out.
func checkAfter(t *core.Tensor, behind []string, eliminates bool) error {
	o := dataset.OriginOf(t)
	if o == nil {
		return nil
	}
	op := o.Node.OpName()
	if is(strings.TrimPrefix(op, "Experimental"), "AssertNextDataset") {
		if err := checkNext(core.Data[string](o.In[1]), behind); err != nil {
			return err
		}
	}
	if names := iteratorsOf(o); !idle(o) || !eliminates {
		behind = append(behind[:len(behind):len(behind)], names...)
	}
	if strings.HasSuffix(op, "NonSerializableDataset") {
		eliminates = false // of what is before it TensorFlow sees nothing
	}
	for _, x := range o.In {
		if err := checkAfter(x, behind, eliminates); err != nil {
			return err
		}
	}
	return nil
}

// iteratorsOf returns the names that TensorFlow has for the iterators of a
// dataset: none for one that only says how others are computed.
func iteratorsOf(o *dataset.Origin) []string {
	name := strings.Replace(o.Node.OpName(), "Dataset", "", 1)
	number := func() int64 { return core.Data[int64](o.In[1])[0] }
	switch o.Node.OpName() {
	case "OptionsDataset", "FinalizeDataset", "ModelDataset", "OptimizeDataset", "OptimizeDatasetV2":
		return nil
	case "CacheDataset", "CacheDatasetV2":
		kind := "Memory"
		if core.Data[string](o.In[1])[0] != "" {
			kind = "File"
		}
		return []string{kind + "Cache", kind + "CacheImpl"}
	case "RepeatDataset":
		return []string{map[int]string{-1: "ForeverRepeat[0]", 0: "EmptyRepeat", 1: "FiniteRepeat[0]"}[cmp.Compare(number(), 0)]}
	case "TakeDataset":
		return []string{map[bool]string{true: "Empty", false: "Finite"}[number() == 0] + name}
	case "SkipDataset":
		return []string{map[bool]string{true: "Empty", false: "Finite"}[number() < 0] + name}
	}
	return []string{name}
}

// idle reports whether a dataset has the elements of its input.
func idle(o *dataset.Origin) bool {
	number := func(i int) int64 { return core.Data[int64](o.In[i])[0] }
	switch o.Node.OpName() {
	case "SkipDataset":
		return number(1) == 0
	case "TakeDataset":
		return number(1) < 0
	case "RepeatDataset", "ShardDataset":
		return number(1) == 1
	case "MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2":
		f := libraryOf(o).Find(o.Node.FuncAttr("f").Name)
		if len(types(o.Node, "Targuments")) > 0 || f == nil || len(f.GetSignature().GetInputArg()) != len(f.GetSignature().GetOutputArg()) || effectOf(libraryOf(o), o.Node.FuncAttr("f").Name, map[string]bool{}) != "" {
			return false
		}
		for i, arg := range f.GetSignature().GetOutputArg() {
			if returned(f, f.GetRet()[arg.GetName()]) != f.GetSignature().GetInputArg()[i].GetName() {
				return false
			}
		}
		return true
	}
	return false
}

// returned follows a value of a function through Identity nodes.
func returned(f *pb.FunctionDef, value string) string {
	for range f.GetNodeDef() {
		node, _, _ := strings.Cut(value, ":")
		i := slices.IndexFunc(f.GetNodeDef(), func(n *pb.NodeDef) bool { return n.GetName() == node && n.GetOp() == "Identity" })
		if i < 0 {
			break
		}
		value = f.GetNodeDef()[i].GetInput()[0]
	}
	return value
}

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
