package master

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// config works out the configuration of a session. As in TensorFlow the
// server's comes first and last, so that what it sets cannot be overridden.
func (m *Master) config(asked *pb.ConfigProto) (*pb.ConfigProto, error) {
	cfg := &pb.ConfigProto{}
	for _, c := range []*pb.ConfigProto{m.env.Config, asked, m.env.Config} {
		if c != nil {
			proto.Merge(cfg, c)
		}
	}
	if cfg.GetUsePerSessionThreads() || len(cfg.GetSessionInterOpThreadPool()) > 0 {
		return nil, core.Errorf(core.InvalidArgument, "Distributed session does not support session thread pool options.")
	}
	if def := asked.GetClusterDef(); def != nil {
		cfg.ClusterDef = def // lists that are merged are joined, which makes no cluster
	}
	return cfg, nil
}
