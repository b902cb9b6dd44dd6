package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestModels: the programs of models.md are right in the eyes of go vet, and print what
// the page says.
func TestModels(t *testing.T) {
	page := read(t, "models.md")
	programs, outputs := blocks(page, "go"), blocks(page, "text")
	names := []string{"layers", "sequences", "columns", "estimators"}
	if len(programs) != len(names) || len(outputs) != len(names) {
		t.Fatalf("the page has %d programs and %d outputs, want %d", len(programs), len(outputs), len(names))
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			main := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(main, []byte(programs[i]), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "vet", main).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if out, err := exec.Command("gofmt", "-l", main).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("gofmt -l prints %s, %v", out, err)
			}
			cmd := exec.Command("go", "run", main)
			var out, log bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &log
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, &log)
			}
			if out.String() != outputs[i] {
				t.Errorf("it printed\n%s\nbut the page says\n%s", &out, outputs[i])
			}
		})
	}
}
