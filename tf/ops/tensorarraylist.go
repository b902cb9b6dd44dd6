package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// TensorArrays of eager graphs and of their functions, as TensorFlow 2 has them: the flow
// is a list, a value that holds the elements. A function of an eager graph runs in steps of
// its own, and its gradient in another one, where no array of the first is left; a tape has
// no names by which gradients could have arrays of their own.

// onTapes reports whether gradients in g are those of tapes: it is an eager graph, or the
// body of a function of one.
func onTapes(g *tf.Graph) bool { return g != nil && author.Home(g).IsEager() }

// newListArray is NewTensorArray for them.
func newListArray(size tf.Output, d tf.DType, o TensorArrayOpts, opts []tf.Option) TensorArray {
	a := TensorArray{dtype: d, shape: o.ElementShape, anyShape: o.AnyShape, isList: true, dynamic: o.DynamicSize}
	a.flow = TensorListReserve(a.shapeTensor(size), size, d, tf.Join(opts, tf.Name("TensorArray"))...)
	a.handle = a.flow
	return a
}

// shapeTensor adds what is known of the elements' shape to the graph of x.
func (a TensorArray) shapeTensor(x tf.Output) tf.Output {
	if a.shape == nil {
		return intScalar(x, tf.Int32, -1)
	}
	return intVec(x, tf.Int32, a.shape...)
}

// failed returns a as one that has err.
func (a TensorArray) failed(op string, err error) TensorArray {
	return a.WithFlow(tf.Failed(a.handle.Graph(), op, err).Output(0))
}

// length returns how many elements an array that does not grow has; -1: that is
// not known while a function is traced, and an array may grow.
func (a TensorArray) length() int {
	if a.dynamic {
		return -1
	}
	t, err := author.Computed(a.flow)
	if err != nil || t.DType() != tf.Variant || t.Len() != 1 {
		return -1
	}
	l, err := asList(t.Variants()[0])
	if err != nil {
		return -1
	}
	return len(l.items)
}

func (a TensorArray) writeList(index, value tf.Output, opts []tf.Option) TensorArray {
	return a.WithFlow(TensorListSetItem(a.flow, index, value, tf.Join(opts, tf.Attr("resize_if_index_out_of_bounds", a.dynamic))...))
}

func (a TensorArray) readList(index tf.Output, opts []tf.Option) tf.Output {
	return TensorListGetItem(a.flow, index, a.shapeTensor(a.flow), a.dtype, opts...)
}

func (a TensorArray) gatherList(indices tf.Output, opts []tf.Option) tf.Output {
	return TensorListGather(a.flow, indices, a.shapeTensor(a.flow), a.dtype, opts...)
}

func (a TensorArray) stackList() tf.Output {
	return a.rows(TensorListStack(a.flow, a.shapeTensor(a.flow), a.dtype))
}

// scatterList checks indices where they are known: the list would grow.
func (a TensorArray) scatterList(indices, value tf.Output, opts []tf.Option) TensorArray {
	if n, t := a.length(), computedInts(indices); n >= 0 && len(t) > 0 {
		if most := int(slices.Max(t)); most >= n {
			return a.failed("TensorArrayScatterV3", tf.Errorf(tf.InvalidArgument, "Max scatter index must be < array size (%d vs. %d)", most, n))
		}
	}
	return a.WithFlow(TensorListScatterIntoExistingList(a.flow, value, indices, opts...))
}

// computedInts returns the numbers of x, int32, if they are known now.
func computedInts(x tf.Output) []int32 {
	t, err := author.Computed(x)
	if err != nil || t.DType() != tf.Int32 {
		return nil
	}
	return core.Data[int32](t)
}

func (a TensorArray) concatList(opts []tf.Option) tf.Output {
	none := ConstValue(a.flow.Graph(), core.NewTensor(tf.Int64, tf.Shape{0}))
	y, _ := TensorListConcatV2(a.flow, a.shapeTensor(a.flow), none, a.dtype, opts...)
	return y
}

func (a TensorArray) splitList(value, lengths tf.Output, opts []tf.Option) TensorArray {
	if n, s := a.length(), lengths.Shape(); n >= 0 && len(s) == 1 && s[0] != n {
		return a.failed("TensorArraySplitV3", tf.Errorf(tf.InvalidArgument,
			"TensorArray's size is not equal to the size of lengths (%d vs. %d), and the TensorArray is not marked as dynamically resizeable", n, s[0]))
	}
	return a.WithFlow(TensorListSplit(value, a.shapeTensor(value), lengths, opts...))
}
