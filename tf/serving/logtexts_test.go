package serving

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// inner is a server whose log is kept. It is closed, after which nothing writes to the log.
func inner(t *testing.T, m Model, use func(s *Server)) string {
	t.Helper()
	var log bytes.Buffer
	s, err := New(Config{Models: []Model{m}, Poll: -1, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	use(s)
	s.Close()
	return log.String()
}

// TestReloadOfWhatIsMissing: a configuration of which a model is missing, or a label, is in
// force, and the log does not say otherwise.
func TestReloadOfWhatIsMissing(t *testing.T) {
	good := models(t, 1)
	list := func(name, dir, more string) *servingpb.ReloadConfigRequest {
		r := &servingpb.ReloadConfigRequest{Config: &servingpb.ModelServerConfig{}}
		if err := ParseText([]byte("model_config_list { config { name: '"+name+"' base_path: '"+dir+"' model_platform: 'tensorflow' "+more+"} }"), r.GetConfig()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	const taken, refused = "the configuration is taken, but not all of it is served", "the configuration is not taken"
	for name, c := range map[string]struct {
		r    *servingpb.ReloadConfigRequest
		want string
	}{
		"no such directory": {list("other", filepath.Join(t.TempDir(), "none"), ""), taken},
		"a label of none":   {list("m", good, "version_labels { key: 'a' value: 7 }"), taken},
		"twice the name":    {list("m", good, "} config { name: 'm' base_path: '/a' model_platform: 'tensorflow' "), refused},
	} {
		log := inner(t, Model{Name: "m", BasePath: good}, func(s *Server) {
			if err := s.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := s.HandleReloadConfigRequest(t.Context(), c.r)
			if err == nil || errors.Is(err, ErrIncomplete) != (c.want == taken) || tf.CodeOf(err) == tf.OK {
				t.Errorf("%s: %v", name, err)
			}
		})
		if strings.Contains(log, taken) != (c.want == taken) || strings.Contains(log, refused) != (c.want == refused) {
			t.Errorf("%s: want %q:\n%s", name, c.want, log)
		}
	}
}

// TestLogOfLoading: a version is not said to be loaded before it is.
func TestLogOfLoading(t *testing.T) {
	log := inner(t, Model{Name: "m", BasePath: models(t, 1)}, func(s *Server) {
		if err := s.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	begun, there := strings.Index(log, "version is being loaded"), strings.Index(log, "version is available")
	if begun < 0 || there < begun || strings.Contains(log, "version is loaded") {
		t.Error(log)
	}
}

// TestHintOfBasePath: the log says what may be wrong with a directory without versions.
func TestHintOfBasePath(t *testing.T) {
	dir := models(t, 1)
	named := t.TempDir()
	if err := os.CopyFS(filepath.Join(named, "half"), os.DirFS(filepath.Join(dir, "1"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "1"): "it has a model itself, and should be the directory above",
		named:                   "Did you forget to name your leaf directory as a number (eg. '/1/')?",
		t.TempDir():             "no versions of the model under its base path\"",
	} {
		if log := inner(t, Model{Name: "m", BasePath: path}, func(s *Server) { s.look() }); !strings.Contains(log, want) {
			t.Errorf("%s: want %q:\n%s", path, want, log)
		}
	}
}
