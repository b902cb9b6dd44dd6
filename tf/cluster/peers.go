package cluster

import (
	"path"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// allowedPeers says where a server may open connections to because a client says so.
type allowedPeers struct {
	patterns []string // nil: everywhere
	own      map[string]bool
}

func newAllowedPeers(c *Config) *allowedPeers {
	a := &allowedPeers{patterns: c.AllowPeers, own: map[string]bool{}}
	for _, addr := range c.Cluster.addresses() {
		a.own[addr] = true
	}
	return a
}

// spec reads the cluster that a client brings along.
func (a *allowedPeers) spec(def *pb.ClusterDef) (Spec, error) {
	s, err := specFromProto(def)
	if err != nil || a.patterns == nil {
		return s, err
	}
	for task, addr := range s.addresses() {
		if !a.own[addr] && !a.match(addr) {
			return nil, tf.Errorf(tf.PermissionDenied, "a session's cluster must consist of tasks that this server may connect to, %s at %s is none of them", task, addr)
		}
	}
	return s, nil
}

func (a *allowedPeers) match(addr string) bool {
	for _, p := range a.patterns {
		if ok, _ := path.Match(p, addr); ok {
			return true
		}
	}
	return false
}
