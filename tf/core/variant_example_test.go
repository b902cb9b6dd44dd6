package core_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/core"
)

// A point is an element of a Variant tensor that can go to another task.
type point struct{ x, y byte }

var _ core.VariantEncoder = point{}

// EncodeVariant implements core.VariantEncoder.
func (p point) EncodeVariant() (core.VariantData, error) {
	return core.VariantData{TypeName: "example.Point", Metadata: []byte{p.x, p.y}}, nil
}

func decodePoint(d core.VariantData) (any, error) {
	if len(d.Metadata) != 2 {
		return nil, core.Errorf(core.InvalidArgument, "a point has two coordinates, got %d", len(d.Metadata))
	}
	return point{d.Metadata[0], d.Metadata[1]}, nil
}

func init() { core.RegisterVariant("example.Point", decodePoint) }

// A type of one's own in a Variant tensor, as it goes from one task to another.
func ExampleVariantEncoder() {
	t := core.NewTensor(core.Variant, core.Shape{})
	t.Variants()[0] = core.VariantValue{Value: point{3, 4}}
	sent, err := core.EncodeTensor(t)
	if err != nil {
		fmt.Println(err)
		return
	}
	received, err := core.TensorFromProto(sent)
	fmt.Println(received.Variants()[0].Value, err)
	// Output: {3 4} <nil>
}
