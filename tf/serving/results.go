package serving

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// classes makes a result of the labels and scores of n examples; one of them may be
// nil.
func classes(n int, labels, scores *tf.Tensor) (*servingpb.ClassificationResult, error) {
	if err := checkClasses(n, labels, "classes", tf.String); err != nil {
		return nil, err
	}
	if err := checkClasses(n, scores, "scores", tf.Float32); err != nil {
		return nil, err
	}
	k := 0
	switch {
	case labels != nil && scores != nil && labels.Dim(1) != scores.Dim(1):
		return nil, tf.Errorf(tf.InvalidArgument, "Tensors class and score should match in dim_size(1). Got %d vs. %d", labels.Dim(1), scores.Dim(1))
	case labels != nil:
		k = labels.Dim(1)
	case scores != nil:
		k = scores.Dim(1)
	}
	out := &servingpb.ClassificationResult{}
	for i := range n {
		c := &servingpb.Classifications{}
		for j := range k {
			class := &servingpb.Class{}
			if labels != nil {
				class.Label = tf.Data[string](labels)[i*k+j]
			}
			if scores != nil {
				class.Score = tf.Data[float32](scores)[i*k+j]
			}
			c.Classes = append(c.Classes, class)
		}
		out.Classifications = append(out.Classifications, c)
	}
	return out, nil
}

func checkClasses(n int, t *tf.Tensor, name string, d tf.DType) error {
	switch {
	case t == nil:
		return nil
	case t.Rank() != 2:
		return tf.Errorf(tf.InvalidArgument, "Expected Tensor shape: [batch_size num_classes] but got %v", t.Shape())
	case t.DType() != d:
		return tf.Errorf(tf.InvalidArgument, "Expected %s Tensor of %v. Got: %v", name, pb.DataType(d), pb.DataType(t.DType()))
	case t.Dim(0) != n:
		return tf.Errorf(tf.InvalidArgument, "Expected %s output batch size of %d. Got: %d", name, n, t.Dim(0))
	}
	return nil
}

// values makes a result of the values of n examples.
func values(n int, t *tf.Tensor) (*servingpb.RegressionResult, error) {
	switch {
	case t.Rank() != 1 && (t.Rank() != 2 || t.Dim(1) != 1):
		return nil, tf.Errorf(tf.InvalidArgument, "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got %v", t.Shape())
	case t.Dim(0) != n:
		return nil, tf.Errorf(tf.InvalidArgument, "Input batch size did not match output batch size: %d vs. %d", n, t.Dim(0))
	case t.DType() != tf.Float32:
		return nil, tf.Errorf(tf.InvalidArgument, "Expected output Tensor of DT_FLOAT.  Got: %v", pb.DataType(t.DType()))
	}
	out := &servingpb.RegressionResult{}
	for _, x := range tf.Data[float32](t) {
		out.Regressions = append(out.Regressions, &servingpb.Regression{Value: x})
	}
	return out, nil
}
