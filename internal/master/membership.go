package master

import (
	"regexp"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Cluster is one that a session has brought along.
type Cluster interface {
	Workers
	// Close ends what connects this task with the others.
	Close() error
}

// A membership is the cluster that a session works on, and what the master's
// own task is called in it.
type membership struct {
	workers Workers
	own     string
	client  string         // device where feeds and fetches live
	def     *pb.ClusterDef // nil: the cluster that the server was started with
}

// close gives back what a session's own cluster holds.
func (c *membership) close() error {
	if own, ok := c.workers.(Cluster); ok && c.def != nil {
		return own.Close()
	}
	return nil
}

// membership returns the cluster of a new session: the server's, or the one
// that the session's configuration brings.
func (m *Master) membership(def *pb.ClusterDef, target string) (*membership, error) {
	client := m.env.Devices.Client().Spec()
	if len(def.GetJob()) == 0 {
		return &membership{workers: m.env.Workers, own: m.env.Task, client: client.String()}, nil
	}
	own, err := findOwn(def, target, m.env.Task)
	if err != nil {
		return nil, err
	}
	if m.env.Connect == nil {
		return nil, core.Errorf(core.Unimplemented, "a session must use the cluster that its servers were started with: its configuration brings another one (cluster_def)")
	}
	spec, err := core.ParseDevice(own)
	if err != nil {
		return nil, err
	}
	workers, err := m.env.Connect(def, own)
	if err != nil {
		return nil, err
	}
	return &membership{workers: workers, own: own, client: client.Override(spec).String(), def: def}, nil
}

// scheme is what a target has before its address.
var scheme = regexp.MustCompile(`^grpc.*://`)

// findOwn finds the task at the address that the client calls the master by.
func findOwn(def *pb.ClusterDef, target, booted string) (own string, err error) {
	address := scheme.ReplaceAllString(target, "")
	for _, job := range def.GetJob() {
		for i, a := range job.GetTasks() {
			if a != address {
				continue
			}
			name := core.DeviceSpec{Job: job.GetName(), Replica: 0, Task: int(i), ID: -1}.String()
			switch {
			case own != "":
				return "", core.Errorf(core.InvalidArgument, "Found multiple matching tasks that correspond to to the master. Master target: '%s'. ClusterDef: %v", target, def)
			case name == booted:
				return "", core.Errorf(core.InvalidArgument, "The ClusterSpec names the job and task index to be the same names that were provided when the server booted. This is currently not allowed. Job: %s, task index: %d", job.GetName(), i)
			}
			own = name
		}
	}
	if own == "" {
		return "", core.Errorf(core.InvalidArgument, "The master (current machine) is not included in the provided cluster_def. %v", def)
	}
	return own, nil
}
