package cluster

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/internal/secure"
)

// TestEveryMethodHasARole: a method that a server has and the table of roles does not
// is found here. Without an entry only administrators may call it.
func TestEveryMethodHasARole(t *testing.T) {
	c := Local("127.0.0.1:0")
	c.Protocol, c.RDMA.Provider = protocolVerbs, ProviderSoft
	s, err := NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	n := 0
	for service, info := range s.grpc.GetServiceInfo() {
		for _, m := range info.Methods {
			n++
			if !method.Known("/" + service + "/" + m.Name) {
				t.Errorf("%s/%s has no role: declare it in tf/pb", service, m.Name)
			}
		}
	}
	if n < 30 {
		t.Errorf("%d methods were found only", n)
	}
	if m := method.Of("/x.New/Method"); m.Role != secure.Administer {
		t.Errorf("a method without entry needs %v", m.Role)
	}
	if !strings.HasPrefix(secure.Run.String(), "run") {
		t.Error("roles have names")
	}
}
