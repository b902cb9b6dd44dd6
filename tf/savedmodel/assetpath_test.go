package savedmodel_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	tfio "github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// A signature reads an asset where the model lies now, not where it was made.
func TestSignatureReadsAsset(t *testing.T) {
	file := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(file, []byte("one two"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	path := ops.Scalar(g, file)
	text := tfio.ReadFile(path)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mg := savedmodel.MetaGraph{
		Session: s, Tags: []string{"serve"}, Assets: []savedmodel.Asset{{Tensor: path, File: file}},
		Signatures: map[string]savedmodel.SignatureSpec{"serving_default": savedmodel.Predict(nil, map[string]tf.Output{"text": text})},
	}
	first, moved := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "moved")
	if err := new(savedmodel.Builder).Add(mg).Save(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Remove(file), os.Rename(first, moved)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	m := load(t, moved)
	out, err := m.Signature(savedmodel.DefaultSignature).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := tf.Data[string](out["text"]); got[0] != "one two" {
		t.Errorf("the asset holds %q", got)
	}
}
