package secure_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/tf/core"
)

func codeOf(err error) codes.Code { return status.Code(err) }

func hexOf(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// pipe returns the two ends of a connection, which end with the test.
func pipe(t *testing.T) (a, b net.Conn) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	if a, err = net.Dial("tcp", lis.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = lis.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Close()
		b.Close()
	})
	return a, b
}

// TestUnreadableFiles: a file that is there and cannot be read is not one that is missing.
func TestUnreadableFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]core.Code{file + "/below": core.FailedPrecondition, file + "missing": core.NotFound} {
		if _, err := secure.Open(secure.Files{CA: path}, nil, nil); core.CodeOf(err) != want {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

// TestTokensAreNotTold: what is wrong with a line of tokens is said without the token,
// wherever it stands.
func TestTokensAreNotTold(t *testing.T) {
	const token = "a-secret-of-somebody"
	for _, line := range []string{token, token + " bob run", "bob " + token + " run", "run bob " + token + " more", "run bob " + token + "\x01"} {
		if _, err := secure.ParseTokens([]byte(line)); core.CodeOf(err) != core.InvalidArgument || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", line, err)
		}
	}
}
