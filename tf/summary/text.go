package summary

import (
	"unicode/utf8"

	"github.com/gorge-tf/gorge/tf"
)

// checkText refuses text that no message may have: TensorBoard could not read one that has it.
func checkText(what, s string) error {
	if !utf8.ValidString(s) {
		return tf.Errorf(tf.InvalidArgument, "%s must be UTF-8, got %q", what, s)
	}
	return nil
}
