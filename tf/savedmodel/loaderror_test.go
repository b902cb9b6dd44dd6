package savedmodel

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestErrorsOfModelsKeepTheirCause, also where that is an error of another package.
func TestErrorsOfModelsKeepTheirCause(t *testing.T) {
	why := errors.New("the reason why")
	for _, cause := range []error{why, tf.Errorf(tf.Unknown, "%w", why)} {
		if err := inModel("dir", cause); !strings.Contains(err.Error(), "SavedModel dir: the reason why") || !errors.Is(err, why) {
			t.Errorf("%T: %v", cause, err)
		}
	}
}

// TestModelsThatDoNotFitIntoMemory: the file is not damaged then.
func TestModelsThatDoNotFitIntoMemory(t *testing.T) {
	text := &pb.AttrValue{Value: &pb.AttrValue_S{S: make([]byte, 2*largeField)}}
	g := &pb.GraphDef{Node: []*pb.NodeDef{{Name: "n", Op: "NoOp", Attr: map[string]*pb.AttrValue{"_text": text}}}}
	data, err := proto.Marshal(&pb.SavedModel{MetaGraphs: []*pb.MetaGraphDef{{GraphDef: g}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, binaryFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	defer tf.SetMemoryLimit(tf.SetMemoryLimit(1 << 20))
	if _, err := Load(t.Context(), dir, Options{}); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Error(err)
	}
}
