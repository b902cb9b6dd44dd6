package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// defineQuotas defines what bounds clients and peers.
func (f *serveFlags) defineQuotas(s *flag.FlagSet) {
	s.IntVar(&f.quotas.Sessions, "max_sessions", 0, "sessions that may be open at once; 0: 10,000, -1: no limit")
	s.IntVar(&f.quotas.Steps, "max_steps", 0, "steps that may be under way at once; 0: 10,000, -1: no limit")
	s.IntVar(&f.quotas.Connections, "max_connections", 0, "connections that may be open at once; 0: 10,000, -1: no limit")
	s.IntVar(&f.quotas.Streams, "max_streams", 0, "calls that may be under way on a connection at once; 0: 250,000, -1: no limit")
	s.Int64Var(&f.quotas.Queued, "max_queued_bytes", 0, "`bytes` of answers that may wait for a peer before nothing more is read from it; 0: 256 MiB, -1: no limit")
}

// share is a flag for a part of a whole.
type share float64

// String returns the number.
func (p *share) String() string { return strconv.FormatFloat(float64(*p), 'g', -1, 64) }

// Set reads a number from 0 to 1.
func (p *share) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return tf.Errorf(tf.InvalidArgument, "a share must be a number from 0 to 1, got %q", s)
	}
	*p = share(v)
	return nil
}

// port is a flag for a TCP port.
type port int

// portFlag defines a flag for a port.
func portFlag(s *flag.FlagSet, to *int, name string, preset int, usage string) {
	*to = preset
	s.Var((*port)(to), name, usage)
}

// String returns the number.
func (p *port) String() string { return strconv.Itoa(int(*p)) }

// Set reads a number up to 65535; a negative one has a meaning of its own.
func (p *port) Set(s string) error {
	v, err := strconv.Atoi(s)
	if err != nil || v > math.MaxUint16 {
		return tf.Errorf(tf.InvalidArgument, "a port must be a number up to %d, got %q", math.MaxUint16, s)
	}
	*p = port(v)
	return nil
}

// parseFlags parses the flags of a command. It prints the help only if args ask
// for it: a page of flags would hide the error.
func parseFlags(s *flag.FlagSet, args []string, help io.Writer) error {
	s.SetOutput(io.Discard)
	err := s.Parse(args)
	s.SetOutput(help)
	if err == flag.ErrHelp {
		s.Usage()
	}
	return flagError(s, err)
}

// takes makes the help of a command say what it takes beside flags.
func takes(s *flag.FlagSet, operands string) {
	s.Usage = func() {
		fmt.Fprintf(s.Output(), "usage: %s %s\n", s.Name(), operands)
		s.PrintDefaults()
	}
}

// flagError is what is wrong with a command's flags; asking for help is not.
func flagError(s *flag.FlagSet, err error) error {
	if err == nil || err == flag.ErrHelp {
		return err
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		if near := nearestFlag(s, name); near != "" {
			return tf.Errorf(tf.InvalidArgument, "%v; did you mean -%s? %s -h lists the flags", err, near, s.Name())
		}
	}
	return tf.Errorf(tf.InvalidArgument, "%v; %s -h lists the flags", err, s.Name())
}

// nearestFlag returns the flag that name begins or misspells; "": there is none.
func nearestFlag(s *flag.FlagSet, name string) (near string) {
	if name == "" {
		return ""
	}
	least := max(1, len(name)/3) + 1
	s.VisitAll(func(f *flag.Flag) {
		d := editDistance(f.Name, name)
		if strings.HasPrefix(f.Name, name) {
			d = min(d, 1)
		}
		if d < least {
			near, least = f.Name, d
		}
	})
	return near
}

// editDistance is how many bytes have to be added, removed or changed to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of what has been seen of a to beginnings of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// readFlags sets flags from a file, one a line, "name value" or "name = value",
// unless the command line has set them. What follows a # is a comment.
func readFlags(s *flag.FlagSet, path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return tf.Errorf(tf.CodeOf(core.FileError(path, err)), "cannot read the flags: %v", err)
	}
	given := map[string]bool{}
	s.Visit(func(f *flag.Flag) { given[f.Name] = true })
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if err := readFlag(s, line, given); err != nil {
			return tf.Errorf(tf.InvalidArgument, "%s, line %d: %v", path, n, err)
		}
	}
	return nil
}

func readFlag(s *flag.FlagSet, line string, given map[string]bool) error {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	if line == "" {
		return nil
	}
	end := strings.IndexAny(line, " \t=")
	if end < 0 {
		end = len(line)
	}
	name := strings.TrimLeft(line[:end], "-")
	if name == "config" {
		return tf.Errorf(tf.InvalidArgument, "a file of flags cannot name another one")
	}
	value := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line[end:]), "="))
	if given[name] && s.Lookup(name) != nil {
		return nil
	}
	if value == "" && !strings.Contains(line, "=") {
		if f := s.Lookup(name); f != nil && !isSwitch(f) {
			return tf.Errorf(tf.InvalidArgument, "flag needs an argument: -%s", name)
		}
		value = "true"
	}
	return s.Set(name, value)
}

// isSwitch reports whether a flag may stand without a value.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// need is flags that have no effect unless one of others is given.
type need struct{ flags, one []string }

// observeNeeds are those about what is seen of a server.
var observeNeeds = []need{
	{[]string{"http_host", "http_profile", "slow_call"}, []string{"http_port"}},
	{[]string{"trace_sample", "trace_plain"}, []string{"trace_endpoint"}},
}

// checkNeeds refuses flags that would have no effect: who gives one expects it.
func checkNeeds(s *flag.FlagSet, needs []need) error {
	given := map[string]bool{}
	s.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() != f.DefValue })
	isGiven := func(name string) bool { return given[name] }
	for _, n := range needs {
		if i := slices.IndexFunc(n.flags, isGiven); i >= 0 && !slices.ContainsFunc(n.one, isGiven) {
			return tf.Errorf(tf.InvalidArgument, "-%s has no effect without -%s", n.flags[i], strings.Join(n.one, " or -"))
		}
	}
	return nil
}
