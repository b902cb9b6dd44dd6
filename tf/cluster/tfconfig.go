package cluster

import (
	"encoding/json"
	"strconv"

	"github.com/gorge-tf/gorge/tf"
)

// tfConfig is the content of TF_CONFIG.
type tfConfig struct {
	Cluster map[string]json.RawMessage `json:"cluster"`
	Task    struct {
		Type  string          `json:"type"`
		Index json.RawMessage `json:"index"`
	} `json:"task"`
	RPCLayer string `json:"rpc_layer"`
}

// FromTFConfig reads the JSON text by which TensorFlow's programs learn which
// task of which cluster they are, and which they find in the environment
// variable TF_CONFIG:
//
//	{"cluster": {"ps": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"type": "worker", "index": 1}}
func FromTFConfig(text string) (Config, error) {
	var c tfConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return Config{}, tf.Errorf(tf.InvalidArgument, "TF_CONFIG must be JSON text with a cluster and a task: %v", err)
	}
	spec := Spec{}
	for job, tasks := range c.Cluster {
		list, err := tasksFromJSON(tasks)
		if err != nil {
			return Config{}, tf.Errorf(tf.InvalidArgument, "TF_CONFIG, job %q: %s", job, tf.AsError(err).Message())
		}
		spec[job] = list
	}
	if err := spec.check(); err != nil {
		return Config{}, err
	}
	index, err := indexFromJSON(c.Task.Index)
	if err != nil {
		return Config{}, err
	}
	out := Config{Cluster: spec, Job: c.Task.Type, Task: index, Protocol: c.RPCLayer}
	if out.Job == "" {
		return out, tf.Errorf(tf.InvalidArgument, "TF_CONFIG must say which task this is, its task has no type")
	}
	_, err = spec.Address(out.Job, out.Task)
	return out, err
}

// tasksFromJSON reads the tasks of a job: a list of addresses, or, if some
// numbers are left out, addresses by number.
func tasksFromJSON(text json.RawMessage) ([]string, error) {
	var list []string
	if json.Unmarshal(text, &list) == nil {
		return list, nil
	}
	var byNumber map[string]string
	if err := json.Unmarshal(text, &byNumber); err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "tasks must be a list of addresses, or addresses by number, got %s", text)
	}
	for key, addr := range byNumber {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= maxTasks {
			return nil, tf.Errorf(tf.InvalidArgument, "a task's number must be from 0 to %d, got %q", maxTasks-1, key)
		}
		for len(list) <= i {
			list = append(list, "")
		}
		list[i] = addr
	}
	return list, nil
}

// indexFromJSON reads a task's number, which some programs write as text.
func indexFromJSON(text json.RawMessage) (int, error) {
	if len(text) == 0 {
		return 0, nil
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		s = string(text)
	}
	i, err := strconv.Atoi(s)
	if err != nil {
		return 0, tf.Errorf(tf.InvalidArgument, "TF_CONFIG: the index of a task must be a number, got %s", text)
	}
	return i, nil
}
