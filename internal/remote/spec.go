package remote

import (
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A cluster's specification has the addresses ("host:port") of the tasks of each job, by
// task number; "": there is no task of that number. To programs it is a cluster.Spec.

var jobName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// CheckSpec finds what is wrong with a specification.
func CheckSpec(jobs map[string][]string) error {
	if len(jobs) == 0 {
		return tf.Errorf(tf.InvalidArgument, "a cluster must have at least one job, this one has none")
	}
	for _, job := range slices.Sorted(maps.Keys(jobs)) {
		if !jobName.MatchString(job) {
			return tf.Errorf(tf.InvalidArgument, "a job's name must consist of letters, digits and underscores and begin with a letter, got %q", job)
		}
		for i, addr := range jobs[job] {
			if addr == "" {
				continue
			}
			if err := CheckAddress(addr); err != nil {
				return tf.Errorf(tf.InvalidArgument, "task %d of job %q: %s", i, job, tf.AsError(err).Message())
			}
		}
	}
	return nil
}

// CheckAddress finds what is wrong with the address of a task.
func CheckAddress(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return tf.Errorf(tf.InvalidArgument, "an address must have the form host:port, got %q", addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return tf.Errorf(tf.InvalidArgument, "a port must be a number up to 65535, got %q", port)
	}
	return nil
}

// SpecProto returns a specification as a ClusterDef.
func SpecProto(jobs map[string][]string) *pb.ClusterDef {
	def := &pb.ClusterDef{}
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		job := &pb.JobDef{Name: name, Tasks: map[int32]string{}}
		for i, addr := range jobs[name] {
			if addr != "" {
				job.Tasks[int32(i)] = addr
			}
		}
		def.Job = append(def.Job, job)
	}
	return def
}
