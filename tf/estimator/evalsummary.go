package estimator

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/summary"
)

// summarize writes results to an event file: numbers as numbers, serialized
// summaries as what they are, and all others as tensors. path is that of the
// checkpoint, if there is one.
func (e *Estimator) summarize(all map[string]*tf.Tensor, name, path string) error {
	step, _ := number(all[GlobalStepKey])
	s := &pb.Summary{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if key == GlobalStepKey {
			continue
		}
		values, err := summaryOf(key, all[key])
		if err != nil {
			return e.wrong("%s", tf.AsError(err).Message())
		}
		s.Value = append(s.Value, values...)
	}
	if path != "" {
		p := &pb.TensorProto{Dtype: pb.DataType_DT_STRING, TensorShape: &pb.TensorShapeProto{}, StringVal: [][]byte{[]byte(path)}}
		s.Value = append(s.Value, &pb.Summary_Value{Tag: "checkpoint_path", Value: &pb.Summary_Value_Tensor{Tensor: p}})
	}
	text, err := proto.Marshal(s)
	if err != nil {
		return tf.Errorf(tf.Internal, "the results of an evaluation cannot be encoded: %v", err)
	}
	w, err := summary.NewFileWriter(e.EvalDir(name))
	if err != nil {
		return err
	}
	return errors.Join(w.Summary(int64(step), string(text)), w.Close())
}

// summaryOf returns what is written of one result.
func summaryOf(key string, t *tf.Tensor) ([]*pb.Summary_Value, error) {
	if v, ok := number(t); ok {
		return []*pb.Summary_Value{{Tag: key, Value: &pb.Summary_Value_SimpleValue{SimpleValue: float32(v)}}}, nil
	}
	if t.DType() != tf.String || len(t.Shape()) != 0 {
		return []*pb.Summary_Value{{Tag: key, NodeName: key, Value: &pb.Summary_Value_Tensor{Tensor: core.TensorProto((*core.Tensor)(t))}}}, nil
	}
	s := &pb.Summary{}
	if proto.Unmarshal([]byte(tf.Data[string](t)[0]), s) != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "a metric that is a string must be a serialized summary: %q is none", key)
	}
	for i, v := range s.GetValue() {
		v.Tag = fmt.Sprintf("%s/%d", key, i)
	}
	return s.GetValue(), nil
}
