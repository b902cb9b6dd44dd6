package summary

import (
	"maps"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// HParams adds the hyperparameters of a run, by name, which TensorBoard's tab of
// that name compares: numbers of any of Go's types, strings and bools. Each run has
// a directory of its own; runs of one group are shown as one, and an empty group is
// the directory's own. Text that is not UTF-8 is refused with INVALID_ARGUMENT.
func (w *FileWriter) HParams(params map[string]any, group string) error {
	if group == "" {
		group = w.dir
	}
	if err := checkText("the group of hyperparameters", group); err != nil {
		return err
	}
	var start []byte
	for _, name := range slices.Sorted(maps.Keys(params)) {
		v, err := hparam(name, params[name])
		if err != nil {
			return err
		}
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), v)
		start = protowire.AppendBytes(protowire.AppendTag(start, 1, protowire.BytesType), entry)
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
func hparam(name string, v any) ([]byte, error) {
	if err := checkText("the name of a hyperparameter", name); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string:
		return protowire.AppendString(protowire.AppendTag(nil, 3, protowire.BytesType), v), checkText("a hyperparameter", v)
	case bool:
		return protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType), protowire.EncodeBool(v)), nil
	}
	x, ok := number(v)
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "a hyperparameter must be a number, a string or a bool: %s is a %T", name, v)
	}
	return protowire.AppendFixed64(protowire.AppendTag(nil, 2, protowire.Fixed64Type), math.Float64bits(x)), nil
}

// number returns a number of any of Go's types.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case int:
		return float64(v), true
	case int8:
		return float64(v), true
	case int16:
		return float64(v), true
	case int32:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint:
		return float64(v), true
	case uint8:
		return float64(v), true
	case uint16:
		return float64(v), true
	case uint32:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
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
