package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

const eventsUsage = `usage:
  gorge events ls DIR                       list the tags of event files: kinds, how many, steps
  gorge events export [-format csv|json] DIR  print all numbers: wall time, step, tag, value
`

// events looks at the event files of a directory and those below it.
func events(args []string, stdout, stderr io.Writer) error {
	s := flag.NewFlagSet("gorge events", flag.ContinueOnError)
	s.SetOutput(stderr)
	s.Usage = func() { fmt.Fprint(s.Output(), eventsUsage) }
	format := s.String("format", "csv", "of export: csv, or json for a JSON object a line")
	if len(args) == 0 {
		s.Usage()
		return tf.Errorf(tf.InvalidArgument, "events takes ls or export and a directory")
	}
	if slices.Contains([]string{"help", "-h", "--help"}, args[0]) {
		args = []string{"", "-h"}
	}
	dirs, err := arguments(s, args[1:], stderr)
	if err != nil {
		return err
	}
	known := *format == "csv" || *format == "json"
	switch {
	case args[0] == "ls" && len(dirs) == 1:
		return listEvents(dirs[0], stdout)
	case args[0] == "export" && len(dirs) == 1 && known:
		return exportEvents(dirs[0], *format, stdout)
	}
	fmt.Fprint(stderr, eventsUsage)
	if !known {
		return tf.Errorf(tf.InvalidArgument, "-format must be csv or json, got %q", *format)
	}
	return tf.Errorf(tf.InvalidArgument, "events takes ls or export and a directory, got %q", args)
}

// eachEvent calls f for all events below dir, file by file. The end of a file that
// is still being written may be missing.
func eachEvent(dir string, f func(file string, e *pb.Event) error) error {
	root, found := dir, false
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		root += string(filepath.Separator) // a link is followed then
	}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return core.FileError(name, err)
		}
		if d.IsDir() || !strings.Contains(filepath.Base(name), "tfevents") {
			return nil
		}
		found = true
		return eachEventOf(name, f)
	})
	if err == nil && !found {
		err = tf.Errorf(tf.NotFound, "there must be event files (*tfevents*) in %s", dir)
	}
	return err
}

func eachEventOf(name string, f func(file string, e *pb.Event) error) error {
	file, err := os.Open(name)
	if err != nil {
		return core.FileError(name, err)
	}
	defer file.Close()
	r := record.NewReader(file).Unfinished()
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) || cutShort(err) {
			return nil
		}
		if err != nil {
			return tf.Errorf(tf.DataLoss, "%s: %v", name, err)
		}
		e := &pb.Event{}
		if err := proto.Unmarshal(b, e); err != nil {
			return tf.Errorf(tf.DataLoss, "%s must have events: %v", name, err)
		}
		if err := f(name, e); err != nil {
			return err
		}
	}
}

// cutShort reports whether err says that a file ends within a record: its writer is
// still at work, or was killed.
func cutShort(err error) bool {
	var c *record.CorruptError
	return errors.As(err, &c) && strings.HasPrefix(c.Reason, "truncated")
}

// series is what ls shows of a tag.
type series struct {
	kind        string
	n           int
	first, last int64
}

func listEvents(dir string, out io.Writer) error {
	tags := map[string]*series{}
	err := eachEvent(dir, func(file string, e *pb.Event) error {
		run, _ := filepath.Rel(dir, filepath.Dir(file))
		for _, v := range e.GetSummary().GetValue() {
			key := filepath.ToSlash(run) + "\t" + v.GetTag()
			s := tags[key]
			if s == nil {
				s = &series{kind: kindOf(v), first: e.GetStep()}
				tags[key] = s
			}
			s.n++
			s.first, s.last = min(s.first, e.GetStep()), max(s.last, e.GetStep())
		}
		return nil
	})
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "run\ttag\tkind\tvalues\tsteps")
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		s := tags[key]
		fmt.Fprintf(w, "%s\t%s\t%d\t%d to %d\n", key, s.kind, s.n, s.first, s.last)
	}
	return w.Flush()
}

func kindOf(v *pb.Summary_Value) string {
	if plugin := v.GetMetadata().GetPluginData().GetPluginName(); plugin != "" {
		return plugin
	}
	switch v.GetValue().(type) {
	case *pb.Summary_Value_SimpleValue:
		return "scalar"
	case *pb.Summary_Value_Histo:
		return "histogram"
	case *pb.Summary_Value_Image:
		return "image"
	case *pb.Summary_Value_Audio:
		return "audio"
	case *pb.Summary_Value_Tensor:
		return "tensor"
	}
	return "other"
}

// A point is a number in an event file.
type point struct {
	Run   string  `json:"run"`
	Time  float64 `json:"wall_time"`
	Step  int64   `json:"step"`
	Tag   string  `json:"tag"`
	Value any     `json:"value"`
}

func exportEvents(dir, format string, out io.Writer) error {
	write, flush := pointWriter(format, out)
	err := eachEvent(dir, func(file string, e *pb.Event) error {
		run, _ := filepath.Rel(dir, filepath.Dir(file))
		for _, v := range e.GetSummary().GetValue() {
			x, ok := numberOf(v)
			if !ok {
				continue
			}
			if err := write(point{filepath.ToSlash(run), e.GetWallTime(), e.GetStep(), v.GetTag(), x}); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, flush())
}

// numberOf returns the number that a summary has, as short as it can be written.
func numberOf(v *pb.Summary_Value) (string, bool) {
	switch x := v.GetValue().(type) {
	case *pb.Summary_Value_SimpleValue:
		return strconv.FormatFloat(float64(x.SimpleValue), 'g', -1, 32), true
	case *pb.Summary_Value_Tensor:
		t, err := core.TensorFromProto(x.Tensor)
		if err == nil && t.Rank() == 0 && t.DType() != core.String && t.DType().Size() > 0 {
			return fmt.Sprint(t.At(0)), true
		}
	}
	return "", false
}

func pointWriter(format string, out io.Writer) (write func(point) error, flush func() error) {
	if format == "json" {
		e := json.NewEncoder(out)
		return func(p point) error {
			if text := p.Value.(string); json.Valid([]byte(text)) {
				p.Value = json.RawMessage(text) // NaN and infinity stay strings
			}
			return e.Encode(p)
		}, func() error { return nil }
	}
	w := csv.NewWriter(out)
	header := w.Write([]string{"run", "wall_time", "step", "tag", "value"})
	return func(p point) error {
			if header != nil {
				return header
			}
			return w.Write([]string{p.Run, strconv.FormatFloat(p.Time, 'f', 6, 64), strconv.FormatInt(p.Step, 10), p.Tag, p.Value.(string)})
		}, func() error {
			w.Flush()
			return w.Error()
		}
}
