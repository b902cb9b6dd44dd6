package secure

import (
	"context"
	"crypto/tls"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Keeper holds what a process needs for TLS and roles, as its files say at
// present. All methods may be called from any goroutine.
type Keeper struct {
	files Files
	log   *slog.Logger
	now   atomic.Pointer[state]
	audit *slog.Logger // nil: nothing is audited

	mu     sync.Mutex // held during a reload
	failed string     // the complaint about files that has been logged last
	// The serial of the state whose certificate, or revocation list, the log has called
	// out of date.
	oldCert, oldCRL uint64
	stop            context.CancelFunc
	polls           sync.WaitGroup
}

// Open reads the files and looks after them until Close. A nil log means none. Audit
// hears who called what, see [Keeper.Allow]; nil: there is no audit log.
func Open(f Files, log *slog.Logger, audit slog.Handler) (*Keeper, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	k := &Keeper{files: f, log: log}
	if audit != nil {
		k.audit = slog.New(audit)
	}
	if err := k.Reload(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	if every := f.poll(); every > 0 {
		k.polls.Go(func() { k.poll(ctx, every) })
	}
	return k, nil
}

func (f *Files) poll() time.Duration {
	if f.Poll == 0 {
		return DefaultPoll
	}
	return f.Poll
}

// Close ends looking after the files. What the Keeper has handed out goes on with
// what they said last.
func (k *Keeper) Close() error {
	k.stop()
	k.polls.Wait()
	return nil
}

func (k *Keeper) poll(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_ = k.Reload() // which has logged it
		}
	}
}

// Reload reads the files again. If they make no sense together, as in the middle of
// a replacement, it returns an error, and what they said before stays in force.
func (k *Keeper) Reload() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := core.Guard("the reading of certificates", k.reload)
	switch {
	case err == nil:
		k.failed = ""
	case err.Error() != k.failed && k.now.Load() != nil:
		k.failed = err.Error()
		k.log.Error("files of the TLS configuration cannot be used, what they said before stays in force", "error", err)
	}
	return err
}

func (k *Keeper) reload() error {
	t, err := k.files.read()
	if err != nil {
		return err
	}
	before := k.now.Load()
	if before != nil && before.sum == t.sum() {
		k.warn(before) // time passes also while the files stay
		return nil
	}
	s, err := k.files.parse(t)
	if err != nil {
		return err
	}
	s.serial = 1
	if before != nil {
		s.serial = before.serial + 1
	}
	k.now.Store(s)
	k.warn(s)
	k.log.Info("TLS configuration read", "serial", s.serial, "certificate_until", s.expiry, "revoked", len(s.revoked))
	return nil
}

// warn logs what is out of date, once for each state.
func (k *Keeper) warn(s *state) {
	now := time.Now()
	if s.cert != nil && now.After(s.expiry) && k.oldCert != s.serial {
		k.oldCert = s.serial
		k.log.Warn("the certificate has expired", "file", k.files.Cert, "until", s.expiry)
	}
	if !s.crlExpiry.IsZero() && now.After(s.crlExpiry) && k.oldCRL != s.serial {
		k.oldCRL = s.serial
		k.log.Warn("a revocation list is older than it says it may be, it is used nevertheless", "file", k.files.CRL, "until", s.crlExpiry)
	}
}

// Serial counts how often the files have been read with new contents, from 1.
func (k *Keeper) Serial() uint64 { return k.now.Load().serial }

// Expiry is when the process's own certificate ends; zero: it has none.
func (k *Keeper) Expiry() time.Time { return k.now.Load().expiry }

// Token is the bearer token that this process sends with its calls; "": none.
func (k *Keeper) Token() string { return k.now.Load().token }

// SendsTokens reports whether there is such a file.
func (k *Keeper) SendsTokens() bool { return k.files.Token != "" }

// HasCertificate reports whether the process shows one; servers must.
func (k *Keeper) HasCertificate() bool { return k.files.Cert != "" }

func (k *Keeper) certificate() (*tls.Certificate, error) {
	if c := k.now.Load().cert; c != nil {
		return c, nil
	}
	return nil, core.Errorf(core.FailedPrecondition, "a server under TLS needs a certificate, it has none")
}
