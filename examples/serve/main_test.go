package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestServesDigits(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, w, "127.0.0.1:0") }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	light, err := os.ReadFile("../predict/digit0.png")
	if err != nil {
		t.Fatal(err)
	}
	dark, err := inverted(light)
	if err != nil {
		t.Fatal(err)
	}
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
