package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// modelConfig returns the text of a configuration of one model.
func modelConfig(name, base, more string) string {
	return fmt.Sprintf("model_config_list { config { name: %q base_path: %q model_platform: 'tensorflow' %s } }", name, base, more)
}

// addVersion adds a version of the small model to a directory.
func addVersion(t *testing.T, dir, version string) {
	t.Helper()
	tmp := filepath.Join(dir, "tmp")
	if err := os.CopyFS(tmp, os.DirFS(filepath.Join(halfModel, version))); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, version)); err != nil {
		t.Fatal(err)
	}
}

// following starts a server that looks at its model config file every second. The file
// becomes changed when the server has read it and before it looks again.
func following(t *testing.T, config, changed string, log io.Writer) *modelProcess {
	t.Helper()
	file := writeFile(t, config)
	f, err := parseModelServer([]string{"--model_config_file=" + file, "--model_config_file_poll_wait_seconds=1", "--log=error"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p, err := f.process(ctx, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); p.close() })
	if err := os.WriteFile(file, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := p.s.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	p.tasks.Go(func() { p.follow(ctx, nil) })
	return p
}

// serves waits until requests for a model find it.
func (p *modelProcess) serves(t *testing.T, spec *servingpb.ModelSpec) {
	t.Helper()
	r := &servingpb.GetModelMetadataRequest{ModelSpec: spec, MetadataField: []string{"signature_def"}}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, err := p.s.GetModelMetadata(t.Context(), r)
		if err == nil {
			return
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatal(err)
		}
	}
}

// TestConfigChangesWhileLoading: a model config file that changes while the first models
// are being loaded has changed.
func TestConfigChangesWhileLoading(t *testing.T) {
	dir := t.TempDir()
	addVersion(t, dir, "1")
	p := following(t, modelConfig("a", dir, ""), modelConfig("b", dir, ""), io.Discard)
	p.serves(t, &servingpb.ModelSpec{Name: "b"})
}

// A log that is waited for tells of the first line that has a text.
type awaitedLog struct {
	text string
	once sync.Once
	came chan struct{}
}

func (l *awaitedLog) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(l.text)) {
		l.once.Do(func() { close(l.came) })
	}
	return len(b), nil
}

// wait waits for the line.
func (l *awaitedLog) wait(t *testing.T) {
	t.Helper()
	select {
	case <-l.came:
	case <-time.After(20 * time.Second):
		t.Fatalf("nothing says %q", l.text)
	}
}

// logged waits for a text in the log.
func logged(text string) *awaitedLog { return &awaitedLog{text: text, came: make(chan struct{})} }

// partial is what is logged of a configuration of which not all can be served.
func partial() *awaitedLog {
	return logged("the configuration of models is taken, but not all of it is served")
}

// TestConfigThatIsNone: one that cannot be read is not taken.
func TestConfigThatIsNone(t *testing.T) {
	dir := t.TempDir()
	addVersion(t, dir, "1")
	log := logged("the configuration of models is not taken")
	p := following(t, modelConfig("a", dir, ""), "model_config_list { config {", log)
	log.wait(t)
	p.serves(t, &servingpb.ModelSpec{Name: "a"})
}

// TestConfigThatComesTooEarly: a label of a version that is not there yet is given when
// that comes.
func TestConfigThatComesTooEarly(t *testing.T) {
	dir := t.TempDir()
	addVersion(t, dir, "1")
	all := "model_version_policy { all {} } "
	log := partial()
	p := following(t, modelConfig("a", dir, all), modelConfig("a", dir, all+"version_labels { key: 'new' value: 2 }"), log)
	log.wait(t)
	addVersion(t, dir, "2")
	p.serves(t, &servingpb.ModelSpec{Name: "a", VersionChoice: &servingpb.ModelSpec_VersionLabel{VersionLabel: "new"}})
}

// TestConfigThatIsTakenBack: a reload that fails has taken models away. They come back
// with the file that had them.
func TestConfigThatIsTakenBack(t *testing.T) {
	dir := t.TempDir()
	addVersion(t, dir, "1")
	log := partial()
	before := modelConfig("a", dir, "")
	p := following(t, before, modelConfig("b", t.TempDir(), ""), log)
	log.wait(t)
	if err := os.WriteFile(p.flags.config, []byte(before), 0o666); err != nil {
		t.Fatal(err)
	}
	p.serves(t, &servingpb.ModelSpec{Name: "a"})
}
