package core

import (
	_ "embed"
	"maps"
	"strings"
	"sync"
)

// tensorflowOps is written by ops/all/tensorflow_ops.py.
//
//go:embed tensorflow_ops.txt
var tensorflowOps string

// TensorFlowOps returns the names of the ops of TensorFlow 2.21, and whether it
// has a kernel for CPUs. Those that [Lookup] does not find are in a package
// that the program does not import, or Gorge does not have them.
func TensorFlowOps() map[string]bool { return maps.Clone(opsOfTensorFlow()) }

var opsOfTensorFlow = sync.OnceValue(func() map[string]bool {
	ops := map[string]bool{}
	for line := range strings.Lines(tensorflowOps) {
		name, kernels, _ := strings.Cut(strings.TrimSpace(line), " ")
		ops[name] = kernels == "cpu"
	}
	return ops
})

// unknownOp is the error for an op that is not registered.
func unknownOp(name string) error {
	hint := "TensorFlow 2.21 has no such op either"
	if _, ok := opsOfTensorFlow()[name]; ok {
		hint = "TensorFlow 2.21 has it: import github.com/gorge-tf/gorge/tf/ops/all for all that Gorge has, see OPS.md"
	}
	return Errorf(NotFound, "Op type not registered '%s' in binary running on Gorge. "+
		"Make sure the Op and Kernel are registered in the binary running in this process. (%s)", name, hint)
}
