package client_test

import (
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster/client"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// trusted writes the certificate that some server has to a file.
func trusted(dir string) (file string, err error) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	file = filepath.Join(dir, "ca.pem")
	return file, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600)
}

// A session trusts the authority in a file, which is read again when it changes. The
// cluster is called at the first step.
func ExampleOpenSecurity() {
	dir, err := os.MkdirTemp("", "pki")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ca, err := trusted(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	var security *client.Security
	security, err = client.OpenSecurity(client.SecurityFiles{CA: ca}, slog.DiscardHandler, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer security.Close()
	g := tf.NewGraph()
	s, err := session.New(g, session.Target("grpc://127.0.0.1:2222"), client.Secured(security))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ops.Scalar[float32](g, 3).Square().Shape(), s.Close())
	// Output: [] <nil>
}
