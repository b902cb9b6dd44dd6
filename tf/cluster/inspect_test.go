package cluster

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestInspectionEnds asks what is no server of a cluster, in a context without an end.
func TestInspectionEnds(t *testing.T) {
	defer func(d time.Duration) { answerTime = d }(answerTime)
	answerTime = 500 * time.Millisecond
	silent, web, gone := local(t), local(t), local(t)
	gone.Close()
	go http.Serve(web, http.NotFoundHandler()) // until web is closed
	for what, addr := range map[string]string{"silent": silent.Addr().String(), "HTTP": web.Addr().String(), "gone": gone.Addr().String()} {
		_, listed := ListDevices(t.Context(), "grpc://"+addr, nil)
		tasks, err := Probe(t.Context(), Spec{"w": {addr}}, nil)
		if err != nil || len(tasks) != 1 {
			t.Fatal(tasks, err)
		}
		reset := session.Reset(t.Context(), "grpc://"+addr, nil, session.StartTimeout(answerTime))
		for call, err := range map[string]error{"ListDevices": listed, "Probe": tasks[0].Err, "Reset": reset} {
			if code := tf.CodeOf(err); code != tf.DeadlineExceeded && code != tf.Unavailable {
				t.Errorf("%s, %s: %v", what, call, err)
			}
		}
		if !strings.Contains(listed.Error(), addr) {
			t.Errorf("%s: ListDevices does not name the address: %v", what, listed)
		}
	}
}

func local(t *testing.T) net.Listener {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lis.Close() })
	return lis
}
