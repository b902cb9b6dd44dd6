package train

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// ExportOptions say what a file with a MetaGraph holds.
type ExportOptions struct {
	tf.MetaGraphOptions
	AsText bool
	// OnlySaver leaves other savers of the graph out of its collections.
	OnlySaver bool
}

// ExportMetaGraph writes a graph with its collections to a file, and the saver
// with which another program restores its checkpoints; saver may be nil.
func ExportMetaGraph(g *tf.Graph, file string, saver *Saver, opts ...ExportOptions) error {
	var o ExportOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if g == nil {
		return noGraph("a MetaGraph")
	}
	m, err := g.MetaGraphProto(o.MetaGraphOptions)
	if err != nil {
		return err
	}
	if saver != nil && !saver.empty() {
		m.SaverDef = saver.Proto()
		if o.OnlySaver {
			delete(m.CollectionDef, Savers)
		}
	}
	var data []byte
	if o.AsText {
		data, err = prototext.MarshalOptions{Multiline: true}.Marshal(m)
	} else {
		data, err = proto.MarshalOptions{Deterministic: true}.Marshal(m)
	}
	if err != nil {
		return err
	}
	return bundle.WriteFile(file, data)
}

// ExportMetaGraph writes the saver's graph, with the saver in it, to a file.
func (s *Saver) ExportMetaGraph(file string, o ...ExportOptions) error {
	if err := s.ready(context.Background(), ""); err != nil {
		return err
	}
	return ExportMetaGraph(s.g, file, s, o...)
}

// ImportMetaGraph adds what a file has that ExportMetaGraph, or TensorFlow, has
// written to g, and returns its saver; if it has none, a new one of all
// variables; nil if there are none.
func ImportMetaGraph(g *tf.Graph, file string, o tf.ImportOptions) (*Saver, error) {
	if g == nil {
		return nil, noGraph("a MetaGraph")
	}
	m, err := readMetaGraph(file)
	if err != nil {
		return nil, err
	}
	if err := g.ImportMetaGraphProto(m, o); err != nil {
		return nil, err
	}
	if m.GetSaverDef() != nil {
		return SaverFrom(g, scoped(m.GetSaverDef(), strings.TrimSuffix(o.Prefix, "/")))
	}
	if len(listed(g, &SaverOptions{})) == 0 {
		slog.Info("Saver not created because there are no variables in the graph to restore")
		return nil, nil
	}
	return NewSaver(g, SaverOptions{})
}

func readMetaGraph(file string) (*pb.MetaGraphDef, error) {
	data, err := core.ReadRegular(core.LocalPath(file))
	if err != nil {
		return nil, err
	}
	m := &pb.MetaGraphDef{}
	if err := proto.Unmarshal(data, m); err != nil {
		if text := prototext.Unmarshal(data, m); text != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "a MetaGraphDef must be in binary or text format: %s: %v; %v", file, err, text)
		}
	}
	return m, nil
}

// scoped returns def with the names below a scope, if that is not empty.
func scoped(def *pb.SaverDef, scope string) *pb.SaverDef {
	def = proto.CloneOf(def)
	if scope != "" {
		for _, name := range []*string{&def.FilenameTensorName, &def.SaveTensorName, &def.RestoreOpName} {
			*name = scope + "/" + *name
		}
	}
	return def
}

func init() {
	author.RegisterCollection(author.CollectionCodec{
		Names: []string{Savers},
		Encode: func(v any, scope string) proto.Message {
			if s, ok := v.(*Saver); ok && scope == "" && !s.empty() {
				return s.Proto()
			}
			return nil
		},
		Decode: func(g *tf.Graph, data []byte, scope string) (any, error) {
			def := &pb.SaverDef{}
			if err := proto.Unmarshal(data, def); err != nil {
				return nil, tf.Errorf(tf.InvalidArgument, "a collection of savers must hold SaverDefs: %v", err)
			}
			return SaverFrom(g, scoped(def, scope))
		},
	})
}

// sweep removes, before the first save under path, what savers have left there
// that died: incomplete files, and parts of checkpoints that were never merged.
func (s *Saver) sweep(path string) {
	if s.swept[path] {
		return
	}
	s.swept[path] = true
	path = core.LocalPath(path)
	bundle.Sweep(filepath.Dir(path))
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && isParts(filepath.Base(path), e.Name()) && info.ModTime().Before(s.started) {
			bundle.SweepDir(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// isParts reports whether a directory has the parts of a checkpoint of that
// name, with a step or without.
func isParts(base, dir string) bool {
	rest, ok := strings.CutPrefix(dir, base)
	rest, temp := strings.CutSuffix(rest, "_temp")
	step := strings.TrimPrefix(rest, "-")
	return ok && temp && (rest == "" || step != rest && strings.Trim(step, "0123456789") == "")
}
