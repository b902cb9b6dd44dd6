package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/record"
)

// warmupFile has a version's warm-up requests: PredictionLogs in a TFRecord file.
const warmupFile = "assets.extra/tf_serving_warmup_requests"

// maxWarmups bounds their number.
const maxWarmups = 1000

// warmUp lets a version answer its warm-up requests, so that the first real ones
// are as fast as others. A request that fails makes the loading fail.
func (s *Server) warmUp(ctx context.Context, v *servable) error {
	name := filepath.Join(v.m.Dir(), filepath.FromSlash(warmupFile))
	info, err := os.Stat(name)
	if s.cfg.NoWarmup || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return tf.Errorf(tf.FailedPrecondition, "%s must be a regular file", name)
	}
	r, err := record.Open(name, record.None)
	if err != nil {
		return err
	}
	defer r.Close()
	for i := 0; ; i++ {
		b, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil && tf.CodeOf(err) != tf.DataLoss:
			return err // the disk or the memory is at fault
		case err != nil:
			return tf.Errorf(tf.DataLoss, "%s. Please verify your warmup data is in TFRecord format.", tf.AsError(err).Message())
		case i == maxWarmups:
			return tf.Errorf(tf.InvalidArgument, "Number of warmup records exceeds the maximum (%d) at %s", maxWarmups, name)
		}
		if err := s.warmUpBy(ctx, v, b, name); err != nil {
			e := *tf.AsError(err)
			e.Msg = fmt.Sprintf("warm-up request %d of %s: %s", i+1, name, e.Message())
			return &e
		}
	}
}

// warmUpBy answers one record, as often as is said.
func (s *Server) warmUpBy(ctx context.Context, v *servable, b []byte, name string) error {
	l := &servingpb.PredictionLog{}
	if err := proto.Unmarshal(b, l); err != nil {
		return tf.Errorf(tf.InvalidArgument, "Failed to parse warmup record: %q from %s", b, name)
	}
	for range max(s.cfg.WarmupRounds, 1) {
		if err := s.replay(ctx, v, l); err != nil {
			return err
		}
	}
	return nil
}

// replay answers a logged request, whatever version it asks for.
func (s *Server) replay(ctx context.Context, v *servable, l *servingpb.PredictionLog) error {
	var err error
	switch l.GetLogType().(type) {
	case *servingpb.PredictionLog_PredictLog:
		_, err = v.predictProto(ctx, l.GetPredictLog().GetRequest(), s.cfg)
	case *servingpb.PredictionLog_ClassifyLog:
		r := l.GetClassifyLog().GetRequest()
		_, err = v.classify(ctx, signatureOf(r.GetModelSpec()), r.GetInput(), s.cfg)
	case *servingpb.PredictionLog_RegressLog:
		r := l.GetRegressLog().GetRequest()
		_, err = v.regress(ctx, signatureOf(r.GetModelSpec()), r.GetInput(), s.cfg)
	case *servingpb.PredictionLog_MultiInferenceLog:
		r := l.GetMultiInferenceLog().GetRequest()
		var plan *multiPlan
		if plan, err = v.plan(r.GetTasks(), s.cfg.CheckMethods); err == nil {
			_, err = plan.run(ctx, &handle{ID: v.id}, r)
		}
	default:
		return tf.Errorf(tf.Unimplemented, "Unsupported log_type for warmup: %T", l.GetLogType())
	}
	return err
}
