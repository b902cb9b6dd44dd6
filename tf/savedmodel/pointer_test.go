package savedmodel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// pointer is what a repository has in place of a large file.
const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// TestPointersOfGitLFS loads models of which a file has not been fetched.
func TestPointersOfGitLFS(t *testing.T) {
	for _, name := range []string{"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/objects")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(pointer), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
		if err == nil {
			m.Close()
		}
		if tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), filepath.Base(name)+" must have its own contents, it is a pointer of Git LFS") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
