package image_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
	"github.com/gorge-tf/gorge/tf/session"
)

// impossiblePart draws a part of an image that no attempt finds.
func impossiblePart(g *tf.Graph, attempts int) tf.Output {
	size, boxes := ops.Const(g, []int32{60, 80, 3}, 3), ops.Const(g, []float32{0.25, 0.25, 0.5, 0.5}, 1, 1, 4)
	begin, _, _ := image.SampleDistortedBoundingBoxV2(size, boxes, ops.Scalar[float32](g, 9), image.DistortedOpts{MaxAttempts: attempts})
	return begin
}

// TestAttemptsEnd: billions of attempts end with the step.
func TestAttemptsEnd(t *testing.T) {
	g := tf.NewGraph()
	begin := impossiblePart(g, math.MaxInt32)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = s.Run(ctx, nil, begin); tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Errorf("got %v, want DEADLINE_EXCEEDED", err)
	}
}

// TestTooManyAttempts: max_attempts is an int32, as in TensorFlow 2.21.
func TestTooManyAttempts(t *testing.T) {
	if _, err := impossiblePart(eager.New(), math.MaxInt32+1).Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
}
