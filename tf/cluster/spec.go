package cluster

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/gorge-tf/gorge/internal/remote"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Spec says which tasks a cluster has: the addresses ("host:port") of the
// tasks of each job, by task number. An empty address leaves a number out. It
// is TensorFlow's ClusterSpec.
type Spec map[string][]string

// maxTasks bounds the task numbers of a cluster that comes from outside, and how many all
// jobs take up: a number needs memory for all below it.
const maxTasks = 1 << 20

// ParseSpec reads the form that command lines use, "worker|h:p;h:p,ps|h:p": jobs
// separated by commas, the tasks of a job by semicolons.
func ParseSpec(text string) (Spec, error) {
	s := Spec{}
	for job := range strings.SplitSeq(text, ",") {
		name, tasks, ok := strings.Cut(job, "|")
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "a cluster has the form job|host:port;host:port,job|host:port, got %q", text)
		}
		if s[name] != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "a job must be listed once, %q comes twice in %q", name, text)
		}
		s[name] = strings.Split(tasks, ";")
	}
	return s, s.check()
}

// String returns s in the form that ParseSpec reads.
func (s Spec) String() string {
	var jobs []string
	for _, job := range s.Jobs() {
		jobs = append(jobs, job+"|"+strings.Join(s[job], ";"))
	}
	return strings.Join(jobs, ",")
}

// Jobs returns the names of the jobs, sorted.
func (s Spec) Jobs() []string { return slices.Sorted(maps.Keys(s)) }

// Address returns the address of a task.
func (s Spec) Address(job string, task int) (string, error) {
	tasks, ok := s[job]
	if !ok {
		return "", tf.Errorf(tf.Internal, "Job \"%s\" was not defined in cluster", job)
	}
	if task < 0 || task >= len(tasks) || tasks[task] == "" {
		return "", tf.Errorf(tf.Internal, "Task %d was not defined in job \"%s\"", task, job)
	}
	return tasks[task], nil
}

// tasks returns the full names of all tasks, job by job, in the order of their
// numbers.
func (s Spec) tasks() (out []string) {
	for _, job := range s.Jobs() {
		for i, addr := range s[job] {
			if addr != "" {
				out = append(out, taskName(job, i))
			}
		}
	}
	return out
}

// addresses returns the addresses of all tasks, by their full names.
func (s Spec) addresses() map[string]string {
	out := map[string]string{}
	for job, tasks := range s {
		for i, addr := range tasks {
			if addr != "" {
				out[taskName(job, i)] = addr
			}
		}
	}
	return out
}

// list returns all tasks with their addresses, in the order of their names.
func (s Spec) list() (out []TaskAddress) {
	for task, addr := range s.addresses() {
		out = append(out, TaskAddress{task, addr})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Task < out[j].Task })
	return out
}

// taskName returns the full name of a task.
func taskName(job string, task int) string {
	return tf.DeviceSpec{Job: job, Replica: 0, Task: task, ID: -1}.String()
}

func (s Spec) check() error { return remote.CheckSpec(s) }

// specFromProto reads a ClusterDef.
func specFromProto(def *pb.ClusterDef) (Spec, error) {
	s, all := Spec{}, 0
	for _, job := range def.GetJob() {
		if s[job.GetName()] != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "a job must be listed once, %q comes twice", job.GetName())
		}
		tasks, err := tasksFromProto(job)
		if err != nil {
			return nil, err
		}
		if all += len(tasks); all > maxTasks {
			return nil, tf.Errorf(tf.InvalidArgument, "the tasks of a cluster, counted up to the highest number in each job, must be at most %d, with job %q there are %d", maxTasks, job.GetName(), all)
		}
		s[job.GetName()] = tasks
	}
	return s, s.check()
}

func tasksFromProto(job *pb.JobDef) ([]string, error) {
	n := 0
	for i := range job.GetTasks() {
		if i < 0 || i >= maxTasks {
			return nil, tf.Errorf(tf.InvalidArgument, "a task's number must be from 0 to %d, job %q has %d", maxTasks-1, job.GetName(), i)
		}
		n = max(n, int(i)+1)
	}
	tasks := make([]string, n)
	for i, addr := range job.GetTasks() {
		tasks[i] = addr
	}
	return tasks, nil
}
