package session

import (
	"reflect"

	"github.com/gorge-tf/gorge/internal/options"
	"github.com/gorge-tf/gorge/tf"
)

// told remembers what has been logged, so that each option is once in a process.
var told options.Teller

// checkServed refuses fields of c that its kind of session cannot serve, and logs
// those that have no effect there.
func (c *Config) checkServed() error {
	if c.Target == "" && c.Cluster != nil {
		return tf.Errorf(tf.InvalidArgument, "a session that brings a cluster must have a target, which is one of its tasks, got none")
	}
	if err := c.checkNumbers(); err != nil {
		return err
	}
	told.TellProgram(c.Logger(), c.Target != "", fieldsSet("Config.", *c))
	return nil
}

// checkNumbers refuses numbers that are nothing that could be meant.
func (c *Config) checkNumbers() error {
	for _, n := range []struct {
		what string
		got  int64
	}{
		{"Threads", int64(c.Threads)}, {"InterOp", int64(c.InterOp)}, {"Timeout", int64(c.Timeout)}, {"CostModelEvery", c.CostModelEvery},
	} {
		if n.got < 0 {
			return tf.Errorf(tf.InvalidArgument, "a session's %s must not be negative, got %d", n.what, n.got)
		}
	}
	return nil
}

// tell logs the fields of o that have no effect in the session.
func (s *Session) tell(o RunOptions) {
	told.TellProgram(s.cfg.Logger(), s.cfg.Target != "", fieldsSet("RunOptions.", o))
}

// fieldsSet returns the names of the fields of a struct that are not zero.
func fieldsSet(prefix string, of any) (names []string) {
	v := reflect.ValueOf(of)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			names = append(names, prefix+v.Type().Field(i).Name)
		}
	}
	return names
}
