package summary

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// HParams adds the hyperparameters of a run, by name, which TensorBoard's tab of
// that name compares: numbers, strings and bools. Each run has a directory of its
// own; runs of one group are shown as one, and an empty group is the directory's
// own.
func (w *FileWriter) HParams(params map[string]any, group string) error {
	var start []byte
	for _, name := range slices.Sorted(maps.Keys(params)) {
		v, err := hparam(params[name])
		if err != nil {
			return tf.Errorf(tf.InvalidArgument, "a hyperparameter must be a number, a string or a bool: %s is a %T", name, params[name])
		}
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), v)
		start = protowire.AppendBytes(protowire.AppendTag(start, 1, protowire.BytesType), entry)
	}
	if group == "" {
		group = w.dir
	}
	start = protowire.AppendString(protowire.AppendTag(start, 4, protowire.BytesType), group)
	return w.hparams("_hparams_/session_start_info", 3, timed(start, 5))
}

// EndHParams notes that the run of the hyperparameters has ended, well or not.
func (w *FileWriter) EndHParams(ok bool) error {
	status := uint64(2)
	if ok {
		status = 1
	}
	end := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), status)
	return w.hparams("_hparams_/session_end_info", 4, timed(end, 2))
}

// timed appends the time, in seconds, as a field of b.
func timed(b []byte, field protowire.Number) []byte {
	now := float64(time.Now().UnixMicro()) / 1e6
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(now))
}

// hparam returns v as a google.protobuf.Value.
func hparam(v any) ([]byte, error) {
	number := func(x float64) []byte {
		return protowire.AppendFixed64(protowire.AppendTag(nil, 2, protowire.Fixed64Type), math.Float64bits(x))
	}
	switch v := v.(type) {
	case string:
		return protowire.AppendString(protowire.AppendTag(nil, 3, protowire.BytesType), v), nil
	case bool:
		return protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType), protowire.EncodeBool(v)), nil
	case float64:
		return number(v), nil
	case float32:
		return number(float64(v)), nil
	case int:
		return number(float64(v)), nil
	case int32:
		return number(float64(v)), nil
	case int64:
		return number(float64(v)), nil
	}
	return nil, fmt.Errorf("%T", v)
}

// hparams adds a message of the plugin as a summary without a value.
func (w *FileWriter) hparams(tag string, field protowire.Number, message []byte) error {
	content := protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), message)
	v := &pb.Summary_Value{
		Tag:      tag,
		Metadata: &pb.SummaryMetadata{PluginData: &pb.SummaryMetadata_PluginData{PluginName: "hparams", Content: content}},
		Value:    &pb.Summary_Value_Tensor{Tensor: &pb.TensorProto{Dtype: pb.DataType_DT_FLOAT, TensorShape: &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: 0}}}}},
	}
	return w.now(0, &pb.Event{What: &pb.Event_Summary{Summary: &pb.Summary{Value: []*pb.Summary_Value{v}}}})
}
