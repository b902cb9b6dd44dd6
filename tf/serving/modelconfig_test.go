package serving

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// TestTextOfNothing: text is read into a message.
func TestTextOfNothing(t *testing.T) {
	for name, m := range map[string]proto.Message{"none": nil, "a nil pointer": (*servingpb.ModelServerConfig)(nil)} {
		for _, text := range []string{"", "model_config_list {}"} {
			if err := ParseText([]byte(text), m); tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("%s, %q: %v", name, text, err)
			}
		}
	}
}

// TestPolicyWithoutVersions: who asks for specific versions and names none gets none, not
// the latest one.
func TestPolicyWithoutVersions(t *testing.T) {
	for policy, want := range map[string]int{"": 1, "model_version_policy { latest {} }": 1, "model_version_policy { specific {} }": 0, "model_version_policy { specific { versions: 1 } }": 1} {
		models, err := ParseModels([]byte(`model_config_list { config { name: "m" base_path: "/m" model_platform: "tensorflow" ` + policy + ` } }`))
		if err != nil {
			t.Fatal(err)
		}
		if got := models[0].Versions.Choose([]int64{1, 2}); len(got) != want {
			t.Errorf("%q chooses %v of two versions", policy, got)
		}
	}
}
