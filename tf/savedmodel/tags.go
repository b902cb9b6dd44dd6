package savedmodel

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Serve is the tag of MetaGraphs that are made for serving; Train, Eval, GPU and TPU
// are the other tags that TensorFlow defines.
const (
	Serve = "serve"
	Train = "train"
	Eval  = "eval"
	GPU   = "gpu"
	TPU   = "tpu"
)

// Find returns the MetaGraph of m that has exactly the given tags, in any order.
func Find(m *pb.SavedModel, tags ...string) (*pb.MetaGraphDef, error) {
	want := tagSet(tags)
	for _, mg := range m.GetMetaGraphs() {
		if slices.Equal(tagSet(mg.GetMetaInfoDef().GetTags()), want) {
			return mg, nil
		}
	}
	return nil, tf.Errorf(tf.NotFound, "Could not find meta graph def matching supplied tags: { %s }. To inspect available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli` (gorge savedmodel show). Available: %s", strings.Join(want, " "), available(m))
}

func tagSet(tags []string) []string {
	s := slices.Sorted(slices.Values(tags))
	return slices.Compact(s)
}

// available lists the sets of tags that m has.
func available(m *pb.SavedModel) string {
	var sets []string
	for _, mg := range m.GetMetaGraphs() {
		sets = append(sets, "{ "+strings.Join(tagSet(mg.GetMetaInfoDef().GetTags()), " ")+" }")
	}
	return strings.Join(sets, ", ")
}
