package parsing_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
)

// TestDecodeMapField: all entries of a map are values of its field.
func TestDecodeMapField(t *testing.T) {
	message, err := proto.MarshalOptions{Deterministic: true}.Marshal(&structpb.Struct{Fields: map[string]*structpb.Value{"a": {}, "b": {}}})
	if err != nil {
		t.Fatal(err)
	}
	x := ops.Const(eager.New(), []string{string(message)})
	sizes, values := parsing.DecodeProtoV2(x, "google.protobuf.Struct", []string{"fields"}, []tf.DType{tf.String})
	n, err := sizes.Value()
	if err != nil || !slices.Equal(tf.Data[int32](n), []int32{2}) {
		t.Errorf("a map of two entries must have size 2, got %v, %v", n, err)
	}
	v, err := values[0].Value()
	if err != nil || !slices.Equal(tf.Data[string](v), []string{"\n\x01a\x12\x00", "\n\x01b\x12\x00"}) {
		t.Errorf("the values of a map must be its entries, got %v, %v", v, err)
	}
}
