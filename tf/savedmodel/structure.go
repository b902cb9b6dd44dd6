package savedmodel

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A leaf is a tensor in a structure of arguments or results.
type leaf struct {
	key  string // of the dictionary that it is in, or its own name
	spec *pb.TensorSpecProto
}

// specsOf returns descriptions of the tensors of a structure of arguments or
// results, of which there are as many as names. Where the structure does not tell
// them one by one, as with ragged tensors, names are used, or numbers behind a
// prefix.
func specsOf(v *pb.StructuredValue, names []string, prefix string) []TensorSpec {
	leaves, ok := flatten(v, "", nil)
	if !ok || len(leaves) != len(names) {
		leaves = make([]leaf, len(names))
	}
	out, seen := make([]TensorSpec, len(names)), map[string]bool{}
	for i, name := range names {
		l := leaves[i]
		out[i].Key = cmp.Or(l.key, l.spec.GetName(), name, prefix+strconv.Itoa(i))
		if prefix == "output_" { // names of result tensors mean nothing
			out[i].Key = cmp.Or(l.key, prefix+strconv.Itoa(i))
		}
		if seen[out[i].Key] {
			out[i].Key = prefix + strconv.Itoa(i)
		}
		seen[out[i].Key] = true
		if s := l.spec; s != nil {
			out[i].Shape, _ = core.ShapeFromProto(s.GetShape()) // nil if it is no shape
		}
	}
	return out
}

// flatten appends the tensors of a structure in the order in which TensorFlow
// flattens it. It reports whether all parts are plain tensors.
func flatten(v *pb.StructuredValue, key string, to []leaf) (out []leaf, ok bool) {
	switch k := v.GetKind().(type) {
	case *pb.StructuredValue_TensorSpecValue:
		return append(to, leaf{key, k.TensorSpecValue}), true
	case *pb.StructuredValue_BoundedTensorSpecValue:
		b := k.BoundedTensorSpecValue
		return append(to, leaf{key, &pb.TensorSpecProto{Name: b.GetName(), Shape: b.GetShape(), Dtype: b.GetDtype()}}), true
	case *pb.StructuredValue_ListValue:
		return flattenAll(k.ListValue.GetValues(), to)
	case *pb.StructuredValue_TupleValue:
		return flattenAll(k.TupleValue.GetValues(), to)
	case *pb.StructuredValue_NamedTupleValue:
		return flattenPairs(k.NamedTupleValue.GetValues(), to)
	case *pb.StructuredValue_DictValue:
		return flattenDict(k.DictValue.GetFields(), to)
	case *pb.StructuredValue_TypeSpecValue, nil:
		return to, false
	}
	return to, true // values of Python, which are no tensors
}

func flattenAll(values []*pb.StructuredValue, to []leaf) (out []leaf, ok bool) {
	for _, v := range values {
		if to, ok = flatten(v, "", to); !ok {
			return to, false
		}
	}
	return to, true
}

func flattenPairs(pairs []*pb.PairValue, to []leaf) (out []leaf, ok bool) {
	for _, p := range pairs {
		if to, ok = flatten(p.GetValue(), p.GetKey(), to); !ok {
			return to, false
		}
	}
	return to, true
}

func flattenDict(fields map[string]*pb.StructuredValue, to []leaf) (out []leaf, ok bool) {
	keys := make([]string, 0, len(fields))
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if to, ok = flatten(fields[k], k, to); !ok {
			return to, false
		}
	}
	return to, true
}
