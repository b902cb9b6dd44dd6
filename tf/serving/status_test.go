package serving

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// TestStatusOfTextThatIsNone: an error whose text is not UTF-8 does not keep the states
// of versions from being encoded.
func TestStatusOfTextThatIsNone(t *testing.T) {
	failed := &servingpb.ModelVersionStatus{Version: 3, Status: statusProto(tf.Errorf(tf.NotFound, "/models/\xff/3; No such file or directory"))}
	b, err := proto.Marshal(&servingpb.GetModelStatusResponse{ModelVersionStatus: []*servingpb.ModelVersionStatus{failed}})
	if err != nil {
		t.Fatal(err)
	}
	got := &servingpb.GetModelStatusResponse{}
	if err := proto.Unmarshal(b, got); err != nil {
		t.Fatal(err)
	}
	st := got.GetModelVersionStatus()[0].GetStatus()
	if st.GetErrorCode() != failed.GetStatus().GetErrorCode() || st.GetErrorMessage() != "/models/\uFFFD/3; No such file or directory" {
		t.Errorf("got %v", st)
	}
}
