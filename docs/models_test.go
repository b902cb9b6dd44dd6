package docs

import (
	"bytes"
	"os/exec"
	"testing"
)

// TestModels: the programs that models.md shows are those of docs/models, and print
// what the page says.
func TestModels(t *testing.T) {
	page := read(t, "models.md")
	programs, outputs := blocks(page, "go"), blocks(page, "text")
	names := []string{"layers", "sequences", "columns", "estimators"}
	if len(programs) != len(names) || len(outputs) != len(names) {
		t.Fatalf("the page has %d programs and %d outputs, want %d", len(programs), len(outputs), len(names))
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			if read(t, "models/"+name+"/main.go") != programs[i] {
				t.Errorf("models/%s/main.go is not what models.md shows", name)
			}
			cmd := exec.Command("go", "run", "./models/"+name)
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
