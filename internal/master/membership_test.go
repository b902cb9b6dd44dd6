package master

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A master finds its own task by the address that the client calls it by.
func TestFindOwn(t *testing.T) {
	job := func(name string, tasks map[int32]string) *pb.JobDef { return &pb.JobDef{Name: name, Tasks: tasks} }
	for name, c := range map[string]struct {
		jobs   []*pb.JobDef
		target string
		want   string // or the error's text
		code   core.Code
	}{
		"found":         {[]*pb.JobDef{job("w", map[int32]string{0: "b:1", 3: "a:1"})}, "grpc://a:1", "/job:w/replica:0/task:3", core.OK},
		"by RDMA":       {[]*pb.JobDef{job("w", map[int32]string{0: "a:1"})}, "grpc+verbs://a:1", "/job:w/replica:0/task:0", core.OK},
		"no scheme":     {[]*pb.JobDef{job("w", map[int32]string{0: "a:1"})}, "a:1", "/job:w/replica:0/task:0", core.OK},
		"twice":         {[]*pb.JobDef{job("v", map[int32]string{0: "a:1"}), job("w", map[int32]string{0: "a:1"})}, "grpc://a:1", "Found multiple matching tasks", core.InvalidArgument},
		"not in it":     {[]*pb.JobDef{job("w", map[int32]string{0: "b:1"})}, "grpc://a:1", "is not included in the provided cluster_def", core.InvalidArgument},
		"nobody":        {nil, "grpc://a:1", "is not included in the provided cluster_def", core.InvalidArgument},
		"the same name": {[]*pb.JobDef{job("boot", map[int32]string{2: "a:1"})}, "grpc://a:1", "to be the same names that were provided when the server booted", core.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := findOwn(&pb.ClusterDef{Job: c.jobs}, c.target, "/job:boot/replica:0/task:2")
			switch {
			case core.CodeOf(err) != c.code:
				t.Errorf("findOwn = %q, %v; want %v", got, err, c.code)
			case err == nil && got != c.want, err != nil && !strings.Contains(err.Error(), c.want):
				t.Errorf("findOwn = %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
