package cluster

import (
	"strings"
	"testing"

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
			if _, ok := secure.Needs("/" + service + "/" + m.Name); !ok {
				t.Errorf("%s/%s has no role: give it one in internal/secure", service, m.Name)
			}
		}
	}
	if n < 30 {
		t.Errorf("%d methods were found only", n)
	}
	if role, ok := secure.Needs("/x.New/Method"); ok || role != secure.Administer {
		t.Errorf("a method without entry needs %v", role)
	}
	if !strings.HasPrefix(secure.Run.String(), "run") {
		t.Error("roles have names")
	}
}
