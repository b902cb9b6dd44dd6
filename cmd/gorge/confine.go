package main

import (
	"flag"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// confineFlags say what operations may do outside of the process.
type confineFlags struct{ files, deny, peers string }

func (f *confineFlags) define(s *flag.FlagSet) {
	f.operations(s)
	s.StringVar(&f.peers, "allow_peers", "", "`addresses`, separated by commas, host:port or patterns of that, that clusters may have which sessions bring along; none: only those of the server's own cluster; without it all")
}

// operations defines what operations may do.
func (f *confineFlags) operations(s *flag.FlagSet) {
	s.StringVar(&f.files, "allow_files", "", "`directories`, separated by commas, in which operations may use files; none: nowhere; without it they may anywhere")
	s.StringVar(&f.deny, "deny_ops", "", "`operations` that graphs may not have, separated by commas, by name or by a pattern: WriteFile,Debug*")
}

// apply confines the operations of this process.
func (f *confineFlags) apply() error {
	if f.files != "" {
		if err := core.ConfineFiles(list(f.files)...); err != nil {
			return err
		}
	}
	return core.DenyOps(list(f.deny)...)
}

// allowedPeers are those of the server; nil: all are.
func (f *confineFlags) allowedPeers() []string {
	if f.peers == "" {
		return nil
	}
	return append([]string{}, list(f.peers)...)
}

// list splits at commas; "none" is an empty list.
func list(s string) (out []string) {
	if s == "none" {
		return nil
	}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
