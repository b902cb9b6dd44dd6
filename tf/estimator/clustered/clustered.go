// Package clustered lets estimators train in clusters. A program sets
//
//	config.Cluster, err = estimator.FromEnvironment()
//	config.Serve = clustered.Serve
//
// and calls estimator.TrainAndEvaluate in each task. It is a package of its own
// because it links gRPC.
package clustered

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/estimator"
)

// Serve starts the server of a task.
func Serve(c *estimator.Cluster) (estimator.Server, error) {
	if c == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "the server of a task needs the cluster that it is of, got nil")
	}
	s, err := cluster.NewServer(cluster.Config{Cluster: cluster.Spec(c.Jobs), Job: c.Type, Task: c.Index})
	if err != nil {
		return nil, err
	}
	if err := s.Start(); err != nil {
		_ = s.Stop()
		return nil, err
	}
	return s, nil
}
