package collective

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "CollectiveAssignGroupV2", In: "group_assignment: int32; device_index: int32; base_key: int32", Out: "group_size: int32; group_key: int32",
		Stateful: true, Shape: twoScalars, NoGrad: core.NoGradientDefined,
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) { return core.Compute(assign), nil }),
	})
}

func twoScalars(c *core.Infer) error {
	c.Set(0, tf.Shape{})
	c.Set(1, tf.Shape{})
	return nil
}

// AssignGroupV2 returns size and key of the group that a device is in. Each
// row of assignment, an int32 matrix, is a group: the numbers of its devices.
// Keys count from base on. Results are int32 scalars, and base and device too.
// Other shapes, numbers in assignment that are no devices, a device in no
// group and a key of 0 are refused with INVALID_ARGUMENT in the step.
func AssignGroupV2(assignment, device, base tf.Output, opts ...tf.Option) (size, key tf.Output) {
	op := tf.Apply(nil, "CollectiveAssignGroupV2", []tf.Output{assignment, device, base}, opts...)
	return op.Output(0), op.Output(1)
}

func assign(c *core.OpContext) error {
	groups, device, base := c.Input(0), c.Input(1), c.Input(2)
	switch {
	case device.Rank() != 0:
		return tf.Errorf(tf.InvalidArgument, "device_index must be a scalar, but received tensor of shape: %s", device.Shape().String())
	case groups.Rank() != 2:
		return tf.Errorf(tf.InvalidArgument, "group_assignment must be a 2-d Tensor, but received tensor of shape: %s", groups.Shape().String())
	case base.Rank() != 0:
		return tf.Errorf(tf.InvalidArgument, "base_key must be a scalar, but received tensor of shape: %s", base.Shape().String())
	}
	key, err := keyIn(groups, core.Data[int32](device)[0], core.Data[int32](base)[0])
	if err != nil {
		return err
	}
	c.Set(0, core.Scalar(int32(groups.Dim(1))))
	c.Set(1, core.Scalar(key))
	return nil
}

// keyIn returns the key of the group that a device is in.
func keyIn(groups *core.Tensor, device, base int32) (int32, error) {
	all, width := core.Data[int32](groups), groups.Dim(1)
	for i := range groups.Dim(0) {
		key := base + int32(i)
		if key == 0 {
			return 0, tf.Errorf(tf.InvalidArgument, "Using the reserved group_key = 0 is not allowed: group_id = %d, base_key = %d", i, base)
		}
		row := all[i*width : (i+1)*width]
		at := slices.Index(row, device)
		if at < 0 {
			at = width
		}
		if slices.ContainsFunc(row[:at], func(d int32) bool { return d < 0 || int(d) >= len(all) }) || at < width && (device < 0 || int(device) >= len(all)) {
			return 0, tf.Errorf(tf.InvalidArgument, "Not all items in group_assignment %s is within [0, number of devices)", debugString(groups))
		}
		if at < width {
			return key, nil
		}
	}
	return 0, tf.Errorf(tf.InvalidArgument, "device_index %d is not found in group_assignment %s", device, debugString(groups))
}

// shown is how many elements of a tensor TensorFlow's messages show.
const shown = 3

// debugString is a matrix of int32 as TensorFlow's messages show it.
func debugString(t *core.Tensor) string {
	var b strings.Builder
	width := t.Dim(1)
	for i, v := range core.Data[int32](t) {
		if i == shown {
			if i%width > 0 {
				b.WriteString("...]")
			}
			b.WriteString("...")
			break
		}
		b.WriteString(map[bool]string{true: "[", false: " "}[i%width == 0])
		fmt.Fprint(&b, v)
		if i%width == width-1 {
			b.WriteByte(']')
		}
	}
	return fmt.Sprintf("Tensor<type: int32 shape: %s values: %s>", t.Shape().String(), b.String())
}
