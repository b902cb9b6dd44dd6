package train

import "github.com/gorge-tf/gorge/tf"

// A need is a field and its value: mostly one that has no default and means nothing as 0.
type need struct {
	field string
	value float64
}

// refused returns a failed output if one of needs is not above 0, with the line
// of the program that forgot it; else the zero Output.
func refused(g *tf.Graph, what string, needs ...need) tf.Output {
	for _, n := range needs {
		if !(n.value > 0) {
			return tf.Failed(g, what, tf.Errorf(tf.InvalidArgument, "%s needs %s above 0, got %v", what, n.field, n.value)).Output(0)
		}
	}
	return tf.Output{}
}

// falling is refused for a schedule that begins with rate and falls in steps.
func falling(step tf.Output, what string, rate float64, steps int, more ...need) tf.Output {
	return refused(step.Graph(), what, append([]need{{"LearningRate", rate}, {"Steps", float64(steps)}}, more...)...)
}

// noGraph is for what is asked for without a graph.
func noGraph(what string) error {
	return tf.Errorf(tf.InvalidArgument, "%s needs a graph, got nil: make one by tf.NewGraph", what)
}
