package stage

import "github.com/gorge-tf/gorge/tf"

// A Kind tells the two kinds of maps apart.
type Kind string

// The kinds of maps: which tuple UnstageNoKey takes is open, or that of the
// lowest key.
const (
	Unordered Kind = "Map"
	Ordered   Kind = "OrderedMap"
)

// MapStage leaves values under a key, an int64 scalar, in a map whose tuples
// are of the given types. The indices, a vector of int32, say where in the
// tuple the values belong; other ops may bring the rest. It waits while the
// map is full. Indices that are empty, not ascending, outside of a tuple, not
// as many as values, or taken already, and a key that has not one element, are
// refused with INVALID_ARGUMENT in the step. Values of more bytes than the
// memory limit are refused with RESOURCE_EXHAUSTED. A complete tuple that is
// there under the key stays.
func MapStage(k Kind, key, indices tf.Output, values []tf.Output, types []tf.DType, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, string(k)+"Stage", append([]tf.Output{key, indices}, values...), typed(types, opts)...)
}

// MapUnstage takes the values at some indices, which are of the given types,
// of the tuple under a key. It waits for the tuple. Indices that are empty,
// not ascending or outside of a tuple, values that have been taken already,
// and types other than theirs are refused with INVALID_ARGUMENT in the step.
func MapUnstage(k Kind, key, indices tf.Output, types []tf.DType, opts ...tf.Option) []tf.Output {
	return outputs(tf.Apply(nil, string(k)+"Unstage", []tf.Output{key, indices}, typed(types, opts)...), len(types))
}

// MapPeek is [MapUnstage] that leaves the values where they are. Errors are
// those of MapUnstage.
func MapPeek(k Kind, key, indices tf.Output, types []tf.DType, opts ...tf.Option) []tf.Output {
	return outputs(tf.Apply(nil, string(k)+"Peek", []tf.Output{key, indices}, typed(types, opts)...), len(types))
}

// MapUnstageNoKey is [MapUnstage] for any key, which comes first in its
// results. It waits for a tuple; key is an int64 scalar. Errors are those of
// MapUnstage.
func MapUnstageNoKey(k Kind, indices tf.Output, types []tf.DType, opts ...tf.Option) (key tf.Output, values []tf.Output) {
	out := outputs(tf.Apply(nil, string(k)+"UnstageNoKey", []tf.Output{indices}, typed(types, opts)...), 1+len(types))
	return out[0], out[1:]
}

// MapSize returns how many complete tuples there are. The result is an int32
// scalar. The types have no effect. A k that is none of the kinds is refused
// with NOT_FOUND when the graph is built. A container of characters other than
// letters, digits, dots, slashes and hyphens, and a shared name that begins
// with an underscore, are refused with INVALID_ARGUMENT in the step, a nil g
// when the graph is built.
func MapSize(g *tf.Graph, k Kind, types []tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(g, string(k)+"Size", nil, typed(types, opts)...).Output(0)
}

// MapIncompleteSize returns how many tuples there are of which parts are
// missing. The result is an int32 scalar. The types have no effect. A k that
// is none of the kinds is refused with NOT_FOUND when the graph is built. A
// container of characters other than letters, digits, dots, slashes and
// hyphens, and a shared name that begins with an underscore, are refused with
// INVALID_ARGUMENT in the step, a nil g when the graph is built.
func MapIncompleteSize(g *tf.Graph, k Kind, types []tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(g, string(k)+"IncompleteSize", nil, typed(types, opts)...).Output(0)
}

// MapClear empties a map. Complete and incomplete tuples are dropped. The
// types have no effect. A k that is none of the kinds is refused with
// NOT_FOUND when the graph is built. A container of characters other than
// letters, digits, dots, slashes and hyphens, and a shared name that begins
// with an underscore, are refused with INVALID_ARGUMENT in the step, a nil g
// when the graph is built.
func MapClear(g *tf.Graph, k Kind, types []tf.DType, opts ...tf.Option) *tf.Operation {
	return tf.Apply(g, string(k)+"Clear", nil, typed(types, opts)...)
}

func typed(types []tf.DType, opts []tf.Option) []tf.Option {
	return tf.Join(opts, tf.Attr("dtypes", types))
}
