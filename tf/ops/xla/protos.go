package xla

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

// Graph operations of XLA say which dimensions are which by serialized messages of XLA,
// of which all fields are integers or lists of them. A protoFields has the name of the
// attribute of StableHLO's operation for each field, and whether it is a list.
type protoFields map[protowire.Number]struct {
	name string
	list bool
}

var (
	dotFields = protoFields{
		1: {"lhs_contracting_dimensions", true}, 2: {"rhs_contracting_dimensions", true},
		3: {"lhs_batching_dimensions", true}, 4: {"rhs_batching_dimensions", true},
	}
	gatherFields = protoFields{
		1: {"offset_dims", true}, 2: {"collapsed_slice_dims", true}, 3: {"start_index_map", true}, 4: {"index_vector_dim", false},
		5: {"operand_batching_dims", true}, 6: {"start_indices_batching_dims", true},
	}
	scatterFields = protoFields{
		1: {"update_window_dims", true}, 2: {"inserted_window_dims", true}, 3: {"scatter_dims_to_operand_dims", true}, 4: {"index_vector_dim", false},
		5: {"input_batching_dims", true}, 6: {"scatter_indices_batching_dims", true},
	}
	convFields = protoFields{
		7: {"input_batch_dimension", false}, 8: {"input_feature_dimension", false}, 11: {"input_spatial_dimensions", true},
		3: {"kernel_input_feature_dimension", false}, 4: {"kernel_output_feature_dimension", false}, 6: {"kernel_spatial_dimensions", true},
		9: {"output_batch_dimension", false}, 10: {"output_feature_dimension", false}, 12: {"output_spatial_dimensions", true},
	}
)

// maxDims bounds the elements of a field: no tensor has as many dimensions.
const maxDims = 1 << 10

// read reads a message as attributes. Fields that are missing are 0 or empty.
func (f protoFields) read(data string) (map[string]stablehlo.Attr, error) {
	bad := func(what string) error {
		return tf.Errorf(tf.InvalidArgument, "dimension_numbers must be a serialized message of XLA: %s", what)
	}
	values := map[protowire.Number][]int{}
	for b := []byte(data); len(b) > 0; {
		n, wire, size := protowire.ConsumeTag(b)
		if size < 0 {
			return nil, bad(protowire.ParseError(size).Error())
		}
		b = b[size:]
		if _, known := f[n]; !known {
			if size = protowire.ConsumeFieldValue(n, wire, b); size < 0 {
				return nil, bad(protowire.ParseError(size).Error())
			}
			b = b[size:]
			continue
		}
		v, size := consumeInts(b, wire)
		if size < 0 {
			return nil, bad("a field must have integers")
		}
		if values[n], b = append(values[n], v...), b[size:]; len(values[n]) > maxDims {
			return nil, bad("a field has too many integers")
		}
	}
	return f.attrs(values), nil
}

func (f protoFields) attrs(values map[protowire.Number][]int) map[string]stablehlo.Attr {
	out := map[string]stablehlo.Attr{}
	for n, field := range f {
		v := values[n]
		switch {
		case field.list:
			out[field.name] = intsAttr(v)
		case len(v) == 0:
			out[field.name] = stablehlo.Int{Elem: "i64"}
		default:
			out[field.name] = stablehlo.Int{Elem: "i64", Value: int64(v[len(v)-1])} // the last one counts
		}
	}
	return out
}

// consumeInts reads an integer, or a packed list. The size is negative if there is none.
func consumeInts(b []byte, wire protowire.Type) ([]int, int) {
	if wire == protowire.VarintType {
		v, size := protowire.ConsumeVarint(b)
		return []int{dimOf(v)}, size
	}
	if wire != protowire.BytesType {
		return nil, -1
	}
	packed, whole := protowire.ConsumeBytes(b)
	if whole < 0 || len(packed) > maxDims {
		return nil, -1
	}
	var out []int
	for len(packed) > 0 {
		v, size := protowire.ConsumeVarint(packed)
		if size < 0 {
			return nil, -1
		}
		out, packed = append(out, dimOf(v)), packed[size:]
	}
	return out, whole
}

// dimOf returns a number, -1 for one that is none of a dimension.
func dimOf(v uint64) int {
	if v > math.MaxInt32 {
		return -1
	}
	return int(v)
}

// intsAttr returns integers as an attribute.
func intsAttr(v []int) stablehlo.Array {
	out := make(stablehlo.Array, len(v))
	for i, n := range v {
		out[i] = stablehlo.Int{Elem: "i64", Value: int64(n)}
	}
	return out
}
