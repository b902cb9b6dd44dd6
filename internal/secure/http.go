package secure

import (
	"net/http"

	"github.com/gorge-tf/gorge/tf/core"
)

// Protect returns a handler that calls next for callers with a role. A nil Keeper
// admits every caller.
func (k *Keeper) Protect(need Role, next http.Handler) http.Handler {
	if k == nil || need == Nothing {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := k.AllowHTTP(r, need)
		switch core.CodeOf(err) {
		case core.OK:
			next.ServeHTTP(w, r)
		case core.PermissionDenied:
			http.Error(w, core.AsError(err).Msg, http.StatusForbidden)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, core.AsError(err).Msg, http.StatusUnauthorized)
		}
	})
}

// AllowHTTP returns nil if the caller of a request has a role, else an error of code
// Unauthenticated or PermissionDenied. Refusals are audited, and so is what only
// administrators may do. A nil Keeper admits every caller.
func (k *Keeper) AllowHTTP(r *http.Request, need Role) error {
	if k == nil || need == Nothing {
		return nil
	}
	who, err := k.identifyHTTP(r)
	if err == nil && who.role < need {
		err = refusal(who, need, r.URL.Path)
	}
	if k.audit != nil && (err != nil || need == Administer) {
		k.record(r.Context(), "http "+r.URL.Path, r.RemoteAddr, who, err)
	}
	return err
}

// identifyHTTP is identify for HTTP. Each request is judged anew: there are few.
func (k *Keeper) identifyHTTP(r *http.Request) (caller, error) {
	p := &Peer{k: k}
	if r.TLS != nil {
		p.State = *r.TLS
	}
	return k.weigh(p, r.Header.Get("Authorization"))
}
