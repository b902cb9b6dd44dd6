package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/telemetry"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/serving"
	"github.com/gorge-tf/gorge/tf/serving/servingmetrics"
)

// modelServer serves models until ctx ends. When they can be called it prints where,
// one line.
func modelServer(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parseModelServer(args, stdout)
	if err != nil {
		return err
	}
	if f.version {
		return version(stdout)
	}
	p, err := f.process(ctx, stderr)
	if err != nil {
		return err
	}
	defer p.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	hangups := p.hangups(ctx)
	if err := p.listen(f); err != nil {
		return err
	}
	if err := p.s.Ready(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // it was told to stop while it loaded
		}
		return err
	}
	if _, err := fmt.Fprintln(stdout, p.addresses()); err != nil {
		return tf.Errorf(tf.Unavailable, "cannot say where the server is: %v", err)
	}
	p.tasks.Go(func() { p.follow(ctx, hangups) })
	select {
	case <-ctx.Done():
	case err := <-p.failed:
		return err
	}
	return p.drain(f.grace)
}

// A modelProcess is a model server with all that it listens at.
type modelProcess struct {
	s       *serving.Server
	log     *slog.Logger
	metrics http.Handler // nil: none
	path    string       // of metrics
	tasks   sync.WaitGroup
	failed  chan error // of what listens
	grpc    *grpcSide
	rest    *restSide

	flags    *modelServerFlags
	config   string               // what the model config file had when it was last taken
	again    bool                 // that failed
	security *cluster.Security    // nil: everybody may call everything
	seen     *telemetry.Telemetry // nil: calls are not observed
	shown    *telemetry.Server    // nil: only REST's port says how the server is
}

// process makes the server that flags describe.
func (f *modelServerFlags) process(ctx context.Context, stderr io.Writer) (_ *modelProcess, err error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "--log must be debug, info, warn or error, got %q", f.level)
	}
	h, err := f.observe.handler(stderr, level)
	if err != nil {
		return nil, err
	}
	p := &modelProcess{log: slog.New(h), failed: make(chan error, 3), flags: f}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	c, err := p.configure()
	if err != nil {
		return nil, err
	}
	if err := p.monitor(f, &c); err != nil {
		return nil, err
	}
	if err := p.secure(h, stderr, &c); err != nil {
		return nil, err
	}
	if err := p.observe(ctx, &c); err != nil {
		return nil, err
	}
	p.s, err = serving.New(c)
	return p, err
}

// configure works out what the flags describe, and keeps what the model config file had then.
func (p *modelProcess) configure() (c serving.Config, err error) {
	for name, value := range p.flags.ignored {
		p.log.Info("the flag has no effect", "flag", name, "value", value)
	}
	if p.config, err = p.flags.configText(); err != nil {
		return c, err
	}
	c, err = p.flags.serverConfig()
	c.Log = p.log
	return c, err
}

// secure sets who may call what, and what models may do.
func (p *modelProcess) secure(log slog.Handler, stderr io.Writer, c *serving.Config) (err error) {
	f := p.flags
	if p.security, err = f.tls.open(log, stderr); err != nil {
		return err
	}
	switch {
	case p.security == nil:
	case f.ssl != "":
		return tf.Errorf(tf.InvalidArgument, "--ssl_config_file and the flags --tls_… exclude each other")
	case !p.security.HasCertificate():
		return tf.Errorf(tf.InvalidArgument, "a server under TLS must have a certificate and its key, it has none")
	default:
		c.Security = p.security
	}
	if err := f.confine.apply(); err != nil {
		return err
	}
	f.memory.apply()
	return nil
}

// observe begins to count and trace calls, if a flag says so.
func (p *modelProcess) observe(ctx context.Context, c *serving.Config) (err error) {
	f := &p.flags.observe
	if !f.wanted() {
		return nil
	}
	p.seen, err = f.newTelemetry(ctx, "model-server")
	if err == nil {
		c.Observer = p.seen
	}
	return err
}

// monitor reads the monitoring config file.
func (p *modelProcess) monitor(f *modelServerFlags, c *serving.Config) error {
	if f.monitoring == "" {
		return nil
	}
	m := &servingpb.MonitoringConfig{}
	if err := readMessage(f.monitoring, m); err != nil {
		return err
	}
	if !m.GetPrometheusConfig().GetEnable() {
		return nil
	}
	if p.path = m.GetPrometheusConfig().GetPath(); p.path == "" {
		p.path = servingmetrics.DefaultPath
	}
	if p.path[0] != '/' {
		return tf.Errorf(tf.InvalidArgument, "the path of metrics must begin with /, got %q", p.path)
	}
	metrics := servingmetrics.New()
	c.Metrics, p.metrics = metrics, metrics.Handler()
	return nil
}

// drain answers the requests that there are, as long as grace lasts.
func (p *modelProcess) drain(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	var sides sync.WaitGroup
	if p.grpc != nil {
		sides.Go(func() { p.grpc.drain(ctx) })
	}
	if p.rest != nil {
		sides.Go(func() { p.rest.drain(ctx) })
	}
	sides.Wait()
	return nil
}

// close ends everything. After drain only the models are left.
func (p *modelProcess) close() {
	if p.grpc != nil {
		p.grpc.s.Stop()
	}
	if p.rest != nil {
		p.rest.s.Close()
	}
	p.tasks.Wait()
	if p.s != nil {
		p.s.Close()
	}
	p.flags.observe.end(p.shown, p.seen)
	p.flags.tls.close(p.security)
}
