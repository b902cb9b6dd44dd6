package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// start runs the program until stop and returns where it listens and what run will
// return.
func start(t *testing.T) (url string, stop func(), ended chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended = make(chan error, 1)
	go func() { ended <- run(ctx, w, "127.0.0.1:0") }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), stop, ended
}

// A late body calls begin when the server asks for it, and then goes on.
type late struct {
	io.Reader
	begin func()
}

func (l *late) Read(b []byte) (int, error) {
	if l.begin != nil {
		l.begin()
	}
	l.begin = nil
	return l.Reader.Read(b)
}

// TestEndsAfterRequests ends the program while it waits for the body of a request. That is
// answered before run returns.
func TestEndsAfterRequests(t *testing.T) {
	url, stop, ended := start(t)
	file, err := os.Open("../predict/digit0.png")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	body := &late{Reader: file, begin: func() {
		stop()
		for { // until nothing new is taken
			c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				return
			}
			c.Close()
		}
	}}
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/digit", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Expect", "100-continue")
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || !strings.HasPrefix(string(text), "6, ") {
		t.Errorf("%d %s, %v", resp.StatusCode, text, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestRefusals: a busy port and an address without its flag are mistakes.
func TestRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if err := run(t.Context(), io.Discard, taken.Addr().String()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port that is taken: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop() // should it serve
	if err := run(ctx, io.Discard, "127.0.0.1:0", ":9000"); err == nil || !strings.Contains(err.Error(), `only flags are taken, got [":9000"]`) {
		t.Errorf("an argument: %v", err)
	}
}

// TestSignals: the signals of terminals and of service managers end the program.
func TestSignals(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		ctx, stop := untilStopped()
		if err := self.Signal(s); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		stop()
	}
}

func TestServesDigits(t *testing.T) {
	url, stop, ended := start(t)
	light, err := os.ReadFile("../predict/digit0.png")
	if err != nil {
		t.Fatal(err)
	}
	dark, err := inverted(light)
	if err != nil {
		t.Fatal(err)
	}
	claim := slices.Clone(light) // the header of a very large image
	copy(claim[16:], "\x00\x00\xea\x60\x00\x00\xea\x60")
	binary.BigEndian.PutUint32(claim[29:], crc32.ChecksumIEEE(claim[12:29]))
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/digit", string(light), 200, "6, probability "},
		{"/digit?dark", string(dark), 200, "6, probability "},
		{"/digit", "no image", 400, "image"},
		{"/digit?dark", "no image", 400, "image"},
		{"/digit", string(claim), 400, "must have at most 4194304 pixels, got 60000x60000"},
		{"/v1/models/digits:predict", `{"instances": ["no image"]}`, 400, "error"},
	} {
		resp, err := client.Post(url+c.path, "application/octet-stream", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %d %s", c.path, resp.StatusCode, text)
		}
	}
	client.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
