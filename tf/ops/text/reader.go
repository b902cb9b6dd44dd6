package text

import (
	"unicode"
	"unicode/utf8"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// A policy says what becomes of what is no character.
type policy struct {
	strict, ignore, controls bool
	replacement              rune
}

func newPolicy(n *core.Node) (policy, error) {
	p := policy{strict: n.Str("errors") == "strict", ignore: n.Str("errors") == "ignore"}
	r := n.Int("replacement_char")
	if r < 0 || r > unicode.MaxRune {
		return p, invalid("replacement_char out of unicode codepoint range")
	}
	p.replacement = rune(r)
	if n.Def.Attr("replace_control_characters") != nil {
		p.controls = n.Bool("replace_control_characters")
	}
	return p, nil
}

// A reader reads texts of an encoding under a policy. Each text decides on its
// order of bytes; TensorFlow, whose converters remember, may read one in the
// order of those before it.
type reader struct {
	policy
	enc   encoding
	ascii bool // each byte of ASCII is that character, whatever is around it
}

func newReader(n *core.Node) (r reader, err error) {
	if r.policy, err = newPolicy(n); err == nil {
		r.enc, err = findEncoding(n.Str("input_encoding"))
	}
	r.ascii = err == nil && isASCII(r.enc)
	return r, err
}

// isASCII reports whether each byte of ASCII is a character by itself, and that one.
func isASCII(e encoding) bool {
	for c := range rune(utf8.RuneSelf) {
		decode, mark := e(string(c))
		if first, _, ok := decode(string(c)); !ok || mark != 0 || first != c {
			return false
		}
	}
	return true
}

// noChar is what TensorFlow reads when nothing follows the mark of byte order.
const noChar = 0xFFFF

// read puts the characters of s, or their replacements, into chars, and the bytes
// they begin at into starts, unless that is nil; s has no more characters than bytes.
// It returns how many there are, and reports whether anything was no character, and
// whether anything was replaced.
func (r reader) read(chars []int32, starts []int64, s string) (n int, malformed, replaced bool) {
	decode, end := r.enc(s)
	if end > 0 && end == len(s) {
		chars[0] = noChar
		clear(starts[:min(1, len(starts))])
		return 1, false, false
	}
	for start := 0; end < len(s); start = end {
		c, size, ok := rune(s[end]), 1, true
		if !r.ascii || c >= utf8.RuneSelf {
			c, size, ok = decode(s[end:])
		}
		end += size
		malformed = malformed || !ok
		if !ok || r.controls && c < ' ' {
			replaced = true
			if r.ignore {
				continue
			}
			c = r.replacement
		}
		if chars[n] = c; starts != nil {
			starts[n] = int64(start)
		}
		n++
	}
	return n, malformed, replaced
}

// transcode writes the characters of some texts. It reports false if one is refused.
func (r reader) transcode(y, in []string, put encoder) bool {
	var texts memory.Texts
	var chars []int32
	var b []byte
	for i, s := range in {
		core.Room(len(s))
		if len(s) > cap(chars) {
			chars = core.Make[int32](len(s))
		}
		n, _, bad := r.read(chars[:cap(chars)], nil, s)
		if bad && r.strict {
			return false
		}
		b = b[:0]
		for _, c := range chars[:n] {
			b = put(b, c)
		}
		y[i] = texts.Of(b)
	}
	return true
}
