package estimator

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// A TFConfig is what TensorFlow's RunConfig reads in the environment variable
// TF_CONFIG. The zero value says nothing.
type TFConfig struct {
	// Cluster is nil if the text names none.
	Cluster *Cluster
	// ModelDir is "model_dir".
	ModelDir string
	// Master is "session_master", which an evaluator has no use for; EvalMaster is
	// "eval_session_master", which in a cluster only an evaluator uses.
	Master, EvalMaster string
	// Service is "service", an object of any content.
	Service map[string]any
}

// tfConfigText is the JSON text.
type tfConfigText struct {
	Cluster map[string][]string
	Task    struct {
		Type  string
		Index *index
	}
	Service    any
	ModelDir   *string `json:"model_dir"`
	Master     string  `json:"session_master"`
	EvalMaster string  `json:"eval_session_master"`
}

// ReadTFConfig reads the JSON text of TF_CONFIG: cluster and task, see
// [ParseTFConfig], and the keys model_dir, session_master, eval_session_master and
// service. Other keys have no meaning. Errors are InvalidArgument.
func ReadTFConfig(text string) (*TFConfig, error) {
	if text == "" {
		return &TFConfig{}, nil
	}
	in := &tfConfigText{}
	if err := json.Unmarshal([]byte(text), in); err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "TF_CONFIG must be JSON text with a cluster and a task: %v", err)
	}
	t := &TFConfig{Master: in.Master, EvalMaster: in.EvalMaster}
	if in.ModelDir != nil {
		if t.ModelDir = *in.ModelDir; t.ModelDir == "" {
			return nil, tf.Errorf(tf.InvalidArgument, "model_dir in TF_CONFIG should be non-empty.")
		}
	}
	if err := t.service(in.Service); err != nil {
		return nil, err
	}
	var err error
	t.Cluster, err = in.cluster()
	switch {
	case t.Cluster == nil:
	case t.Cluster.Type == Evaluator:
		t.Master = ""
	default:
		t.EvalMaster = ""
	}
	return t, err
}

// service takes the value of the key.
func (t *TFConfig) service(v any) error {
	if v == nil {
		return nil
	}
	s, ok := v.(map[string]any)
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "If \"service\" is set in TF_CONFIG, it must be a dict. Given %s", pythonType(v))
	}
	t.Service = s
	return nil
}

// pythonType is how Python names the type of a JSON value.
func pythonType(v any) string {
	switch v := v.(type) {
	case string:
		return "<class 'str'>"
	case bool:
		return "<class 'bool'>"
	case float64:
		if v == float64(int64(v)) {
			return "<class 'int'>"
		}
		return "<class 'float'>"
	}
	return "<class 'list'>"
}

// WithEnvironment returns c completed by the environment variable TF_CONFIG, as
// TensorFlow's RunConfig is when a program makes it. What c has already stays. But
// a ModelDir that differs from TF_CONFIG's is an error of code InvalidArgument.
func (c RunConfig) WithEnvironment() (RunConfig, error) {
	t, err := ReadTFConfig(os.Getenv("TF_CONFIG"))
	if err != nil {
		return c, err
	}
	return t.RunConfig(c)
}

// RunConfig is [RunConfig.WithEnvironment] with t for the environment.
func (t *TFConfig) RunConfig(c RunConfig) (RunConfig, error) {
	if t.ModelDir != "" && c.ModelDir != "" && t.ModelDir != c.ModelDir {
		return c, tf.Errorf(tf.InvalidArgument, "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in TF_CONFIG. model_dir: %s\nTF_CONFIG[\"model_dir\"]: %s.\n", c.ModelDir, t.ModelDir)
	}
	if t.ModelDir != "" {
		slog.Info("Using model_dir in TF_CONFIG.", "model_dir", t.ModelDir)
	}
	c.ModelDir = cmp.Or(c.ModelDir, t.ModelDir)
	c.Master, c.EvalMaster = cmp.Or(c.Master, t.Master), cmp.Or(c.EvalMaster, t.EvalMaster)
	if c.Cluster == nil {
		c.Cluster = t.Cluster
	}
	if c.Service == nil {
		c.Service = t.Service
	}
	return c, nil
}

// ParseTFConfig reads the JSON text that TensorFlow's programs find in the
// environment variable TF_CONFIG:
//
//	{"cluster": {"chief": ["a:1"], "ps": ["b:1"], "worker": ["c:1"]}, "task": {"type": "worker", "index": 0}}
//
// The result is nil if text is empty or names no cluster. A cluster must have one
// chief, or one master, which evaluates as well, and the task an index, which may be
// a string. An evaluator in the cluster is left out. Errors are InvalidArgument.
// [ReadTFConfig] returns the other keys, too.
func ParseTFConfig(text string) (*Cluster, error) {
	t, err := ReadTFConfig(text)
	if err != nil {
		return nil, err
	}
	return t.Cluster, nil
}

// cluster returns the task, nil if there is no cluster.
func (in *tfConfigText) cluster() (*Cluster, error) {
	c := &Cluster{Jobs: in.Cluster, Type: in.Task.Type}
	if in.Task.Index != nil {
		c.Index = int(*in.Task.Index)
	}
	if len(c.Jobs) == 0 {
		return nil, c.checkLocal()
	}
	delete(c.Jobs, Evaluator) // which is no part of it, whoever lists it
	if err := c.check(); err != nil {
		return nil, err
	}
	if in.Task.Index == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "If \"cluster\" is set in TF_CONFIG, task index must be set.")
	}
	return c, nil
}

// checkLocal checks a task without a cluster.
func (c *Cluster) checkLocal() error {
	if c.Type != "" && c.Type != "local" && c.Type != Worker {
		return tf.Errorf(tf.InvalidArgument, "If \"cluster\" is not set in TF_CONFIG, task type must be WORKER, got %q", c.Type)
	}
	if c.Index != 0 {
		return tf.Errorf(tf.InvalidArgument, "If \"cluster\" is not set in TF_CONFIG, task index must be 0, got %d", c.Index)
	}
	return nil
}

// An index is that of a task, which some schedulers write as a string.
type index int

// UnmarshalJSON reads an integer, or a string that is one.
func (i *index) UnmarshalJSON(text []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(text), `"`))
	*i = index(n)
	return err
}

// FromEnvironment is ParseTFConfig of the environment variable TF_CONFIG.
func FromEnvironment() (*Cluster, error) { return ParseTFConfig(os.Getenv("TF_CONFIG")) }
