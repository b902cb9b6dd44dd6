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
	told.TellProgram(c.Logger(), c.Target != "", fieldsSet("Config.", *c))
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
