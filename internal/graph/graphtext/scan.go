package graphtext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// scanner reads one line from left to right.
type scanner struct {
	s  string
	at int
}

func (sc *scanner) done() bool { return sc.at >= len(sc.s) || sc.s[sc.at] == '#' }

// blank skips white space.
func (sc *scanner) blank() {
	for sc.at < len(sc.s) && (sc.s[sc.at] == ' ' || sc.s[sc.at] == '\t' || sc.s[sc.at] == '\r') {
		sc.at++
	}
}

// eat skips c, if it comes next.
func (sc *scanner) eat(c byte) bool {
	if sc.blank(); sc.done() || sc.s[sc.at] != c {
		return false
	}
	sc.at++
	return true
}

// word reads a name, a number, a device: all up to a blank or a separator.
func (sc *scanner) word() string {
	sc.blank()
	start := sc.at
	for !sc.done() && !strings.ContainsRune(" \t\r=[](){},\"@", rune(sc.s[sc.at])) {
		sc.at++
	}
	return sc.s[start:sc.at]
}

// list reads items up to end, commas between them.
func (sc *scanner) list(end byte, item func(*scanner) error) error {
	for first := true; !sc.eat(end); first = false {
		if !first && !sc.eat(',') {
			return sc.fail(fmt.Sprintf("a list goes on with ',' or ends with '%c'", end))
		}
		if sc.blank(); sc.done() {
			return sc.fail(fmt.Sprintf("a list must end with '%c'", end))
		}
		before := sc.at
		if err := item(sc); err != nil {
			return err
		}
		if sc.at == before {
			return sc.fail("an item of a list must not be empty")
		}
	}
	return nil
}

// text reads a string in quotes.
func (sc *scanner) text() (string, error) {
	sc.blank()
	quoted, err := strconv.QuotedPrefix(sc.s[min(sc.at, len(sc.s)):])
	if err != nil || quoted[0] != '"' {
		return "", sc.fail("a string must stand in double quotes")
	}
	sc.at += len(quoted)
	return strconv.Unquote(quoted)
}

// fail reports that the rule is not kept at the current place.
func (sc *scanner) fail(rule string) error {
	at := min(sc.at, len(sc.s))
	return core.Errorf(core.InvalidArgument, "column %d: %s, got %q", at+1, rule, sc.s[at:])
}
