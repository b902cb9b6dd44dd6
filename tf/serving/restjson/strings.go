package restjson

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/gorge-tf/gorge/tf"
)

// string reads a string, and checks its escapes.
func (p *parser) string() error {
	p.pos++
	begin, escaped := p.pos, false
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.scalar(node{kind: text, escaped: escaped}, begin)
			p.pos++
			return nil
		case c == '\\':
			escaped = true
			if err := p.escape(); err != nil {
				return err
			}
		case c == 0:
			return p.errorAt("Missing a closing quotation mark in string.", p.pos)
		case c < ' ':
			return p.errorAt("Invalid encoding in string.", p.pos)
		default:
			p.pos++
		}
	}
	return p.error("Missing a closing quotation mark in string.")
}

// escape reads an escape sequence.
func (p *parser) escape() error {
	at := p.pos
	p.pos++
	c := p.peek()
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		p.pos++
		return nil
	case 'u':
		p.pos++
		return p.unicode(at)
	}
	return p.errorAt("Invalid escape character in string.", at)
}

// unicode checks the digits of an escaped code unit, and that surrogates come in
// pairs.
func (p *parser) unicode(at int) error {
	r, ok := hex4(p.src[p.pos:])
	if !ok {
		return p.errorAt("Incorrect hex digit after \\u escape in string.", at)
	}
	p.pos += 4
	if r < 0xD800 || r > 0xDFFF {
		return nil
	}
	rest := p.src[p.pos:]
	if r > 0xDBFF || len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return p.errorAt("The surrogate pair in string is invalid.", at)
	}
	low, ok := hex4(rest[2:])
	if !ok {
		return p.errorAt("Incorrect hex digit after \\u escape in string.", at)
	}
	if low < 0xDC00 || low > 0xDFFF {
		return p.errorAt("The surrogate pair in string is invalid.", at)
	}
	p.pos += 6
	return nil
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape returns the value of a string whose escapes have been checked.
func unescape(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			out.WriteByte(b[i])
			continue
		}
		i++
		if b[i] != 'u' {
			out.WriteByte(escapes[b[i]])
			continue
		}
		r, _ := hex4(b[i+1:])
		i += 4
		if r >= 0xD800 && r <= 0xDBFF {
			low, _ := hex4(b[i+3:])
			r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
			i += 6
		}
		var buf [utf8.UTFMax]byte
		out.Write(buf[:utf8.EncodeRune(buf[:], r)])
	}
	return out.String()
}

// base64Key is the only key of an object that stands for bytes.
const base64Key = "b64"

// isBytes reports whether a value is {"b64": "…"}.
func (d *document) isBytes(n int32) bool {
	return d.is(n, object) && d.nodes[n].size == 1 && d.is(n+2, text) && d.text(n+1) == base64Key
}

// bytes returns what a value {"b64": "…"} stands for. Padding may lack, as in
// TensorFlow Serving.
func (d *document) bytes(n int32) (string, error) {
	if !d.isBytes(n) {
		return "", d.fault(n, "not formatted correctly for base64 data")
	}
	src := d.raw(n + 2)
	if d.nodes[n+2].escaped {
		src = []byte(d.text(n + 2))
	}
	out, err := decode64(src)
	if err != nil {
		return "", tf.Errorf(tf.InvalidArgument, "Unable to base64 decode")
	}
	return out, nil
}

// decode64 takes what absl::Base64Unescape takes, which TensorFlow Serving reads with:
// white space anywhere, as Python's encodebytes adds, and '=' or '.' as padding, which may
// lack but is never short.
func decode64(src []byte) (string, error) {
	if bytes.ContainsAny(src, spaces64) {
		src = bytes.Map(dropSpace64, src)
	}
	body, padding := src, 0
	if i := bytes.IndexAny(src, padding64); i >= 0 {
		body, padding = src[:i], len(src)-i
		if len(bytes.Trim(src[i:], padding64)) > 0 || (len(body)+padding)%4 != 0 || padding > 2 {
			return "", base64.CorruptInputError(i)
		}
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(body)))
	n, err := base64.RawStdEncoding.Decode(out, body)
	return string(out[:n]), err
}

const (
	spaces64  = " \t\n\v\f\r"
	padding64 = "=."
)

func dropSpace64(r rune) rune {
	if strings.ContainsRune(spaces64, r) {
		return -1
	}
	return r
}
