package core

import (
	"fmt"
	"strings"
)

// ProducerVersion is the GraphDef version that Gorge writes: TensorFlow 2.21's.
const ProducerVersion = 2474

// ParseTensorName splits "node:1" into node and output; "node" is output 0.
func ParseTensorName(s string) (node string, k int, err error) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, nil
	}
	if err := parseNumber(&k, s[i+1:]); err != nil || i == 0 || k < 0 {
		return "", 0, Errorf(InvalidArgument, "a tensor's name has the form node:number, got %q", s)
	}
	return s[:i], k, nil
}

// InputName returns what a NodeDef calls output k of a node: "node" or "node:1".
func InputName(node string, k int) string {
	if k == 0 {
		return node
	}
	return fmt.Sprintf("%s:%d", node, k)
}

// NoSuchOutput is the error for an input of a node that is output k of another,
// which has fewer. TensorFlow's clients get there by gradients of conditionals and
// loops that a session knows already.
func NoSuchOutput(node string, source *Node, k int) error {
	text := fmt.Sprintf("Node '%s': Connecting to invalid output %d of source node %s which has %d outputs.", node, k, source.Name, len(source.OutTypes))
	switch source.Role() {
	case ChoosesOfTwo, Loops:
		text += " Try using tf.compat.v1.experimental.output_all_intermediates(True)."
	}
	return Errorf(InvalidArgument, "%s", text)
}
