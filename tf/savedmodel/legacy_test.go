package savedmodel_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// TestLegacy loads models as older releases of TensorFlow wrote them: the
// initialization is named in a collection, and so are the assets.
func TestLegacy(t *testing.T) {
	dir := saved(t)
	for _, collection := range []string{"saved_model_main_op", "legacy_init_op"} {
		mg := renamed(t, dir, func(*pb.NodeDef) {})
		op := mg.CollectionDef["saved_model_main_op"]
		delete(mg.CollectionDef, "saved_model_main_op")
		mg.CollectionDef[collection] = op
		delete(mg.SignatureDef, "__saved_model_init_op")
		mg.AssetFileDef = nil // the collection saved_model_assets has them
		m, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := look(t, m, map[string]any{"x": []string{"two"}}), []float32{40.5, 60.25}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", collection, got, want)
		}
		m.Close()
	}
}

// TestNoVariables loads a model without the directory of variables: it has a
// saver, as models of TensorFlow 2 always do, and nothing to restore.
func TestNoVariables(t *testing.T) {
	dir := saved(t)
	mg := renamed(t, dir, func(*pb.NodeDef) {})
	mg.AssetFileDef, mg.SignatureDef["__saved_model_init_op"] = nil, nil
	delete(mg.CollectionDef, "saved_model_assets")
	delete(mg.SignatureDef, "__saved_model_init_op")
	delete(mg.CollectionDef, "saved_model_main_op")
	m, err := savedmodel.LoadMetaGraph(t.Context(), t.TempDir(), mg, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Signature("count").Run(t.Context(), nil); err == nil {
		t.Error("a variable without value is read")
	}
}

// TestOddPaths loads a model from a directory whose name looks like a pattern, and
// by a URI.
func TestOddPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [1-3] *?")
	if err := os.Rename(saved(t), dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, dir + "/", "file://" + dir} {
		look(t, load(t, name), map[string]any{"x": []string{"two"}})
	}
}
