package link

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	mrand "math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
)

// secured returns both ends of a connection under TLS, as gRPC's credentials make them.
// A short one takes a few kilobytes at once.
func secured(t *testing.T, short bool) (client, server net.Conn) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	a, b := pair(t)
	if short {
		for _, nc := range []net.Conn{a, b} {
			if err := nc.(*net.TCPConn).SetWriteBuffer(1); err != nil { // as little as the system allows
				t.Fatal(err)
			}
		}
	}
	creds := credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	var shaking sync.WaitGroup
	shaking.Go(func() {
		if server, _, err = creds.ServerHandshake(Beneath(b)); err != nil {
			t.Error(err)
		}
	})
	client, _, clientErr := creds.ClientHandshake(t.Context(), "test", Beneath(a))
	shaking.Wait()
	if clientErr != nil || err != nil {
		t.Fatal(clientErr, err)
	}
	return client, server
}

// TestBeneathTLS: links under TLS are read without waiting, too, and calls of all sizes
// come through from many goroutines, whether callers poll or block.
func TestBeneathTLS(t *testing.T) {
	for _, short := range []bool{false, true} {
		t.Run(map[bool]string{false: "Long", true: "Short"}[short], func(t *testing.T) { echoBeneathTLS(t, short) })
	}
}

func echoBeneathTLS(t *testing.T, short bool) {
	a, b := secured(t, short)
	srv := newServer(newTester())
	c := over(t, srv, a, b)
	if c.below == nil && canPoll {
		t.Fatal("what lies beneath TLS is not found")
	}
	var calling sync.WaitGroup
	for seed := range uint64(4) {
		calling.Go(func() {
			r := mrand.New(mrand.NewPCG(seed, 1))
			for range 300 {
				req, resp := make([]byte, r.IntN(1<<r.IntN(19))), []byte(nil)
				for i := range req {
					req[i] = byte(i * int(seed+3))
				}
				if err := c.Invoke(context.Background(), "/t/Echo", &req, &resp); err != nil {
					t.Error(err)
					return
				}
				if !bytes.Equal(req, resp) {
					t.Errorf("%d bytes come back as other %d", len(req), len(resp))
					return
				}
			}
		})
	}
	stop := make(chan struct{})
	var polling sync.WaitGroup
	polling.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if c.raw == nil {
					return
				}
				if err := c.poll(c.next); err != nil {
					t.Error(err)
					return
				}
				runtime.Gosched()
			}
		}
	})
	calling.Wait()
	close(stop)
	polling.Wait()
}

// TestEndsBeneathTLS: a peer that goes away ends the calls of a link under TLS.
func TestEndsBeneathTLS(t *testing.T) {
	a, b := secured(t, false)
	s := newTester()
	c := over(t, newServer(s), a, b)
	answer := waiting(t, c, s)
	b.Close()
	if err := <-answer; err == nil {
		t.Error("a call succeeds whose peer is gone")
	}
}
