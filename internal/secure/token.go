package secure

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// Tokens maps bearer tokens to those that hold them. Only hashes are kept.
type Tokens struct{ holders map[[sha256.Size]byte]holder }

type holder struct {
	name string
	role Role
}

// ParseTokens reads lines of the form
//
//	ROLE NAME TOKEN
//
// where TOKEN is the token itself, or "sha256:" and the hexadecimal hash of it. A
// name may have several tokens: while one is replaced both are accepted. What
// follows a # is a comment.
func ParseTokens(b []byte) (*Tokens, error) {
	t := &Tokens{holders: map[[sha256.Size]byte]holder{}}
	err := eachLine(b, func(fields []string) error {
		if len(fields) != 3 {
			return core.Errorf(core.InvalidArgument, "a token's line must have a role, a name and a token, got %d fields", len(fields))
		}
		role, err := parseRole(fields[0])
		if err != nil { // which is not told: the token may stand there
			return core.Errorf(core.InvalidArgument, "a token's line must begin with a role: observe, run or administer")
		}
		sum, err := hashOf(fields[2])
		if err != nil {
			return err
		}
		t.holders[sum] = holder{fields[1], role}
		return nil
	})
	return t, err
}

func hashOf(s string) (sum [sha256.Size]byte, err error) {
	text, hashed := strings.CutPrefix(s, "sha256:")
	if !hashed {
		return sha256.Sum256([]byte(s)), checkToken(s)
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != sha256.Size {
		return sum, core.Errorf(core.InvalidArgument, "a token's hash must be %d hexadecimal digits", 2*sha256.Size)
	}
	return [sha256.Size]byte(b), nil
}

const (
	minToken = 16 // bytes: what is shorter can be guessed
	maxToken = 4096
)

// checkToken finds tokens that cannot travel in a header, and those that anybody
// might guess. It does not quote them.
func checkToken(s string) error {
	if len(s) < minToken || len(s) > maxToken {
		return core.Errorf(core.InvalidArgument, "a token must have %d to %d bytes, got %d", minToken, maxToken, len(s))
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return core.Errorf(core.InvalidArgument, "a token must be of printable ASCII characters without spaces")
		}
	}
	return nil
}

// find returns the holder of a token. The hash keeps the time that this takes from
// telling how much of a guess was right.
func (t *Tokens) find(token string) (holder, bool) {
	h, ok := t.holders[sha256.Sum256([]byte(token))]
	return h, ok
}

// bearer returns the token of a header "Bearer TOKEN".
func bearer(header string) (string, bool) {
	scheme, token, ok := strings.Cut(header, " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}
