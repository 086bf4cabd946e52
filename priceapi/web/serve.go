package web

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"

	"swapkeep/listen"
)

// ErrServed means that Serve was called before; an API is served only once.
var ErrServed = errors.New("the price API was served already")

// Serve answers on a listener, which it closes, until ctx ends. It then ends the event
// streams, lets answers in flight finish within Limits.Drain, closes the remaining
// connections, and returns nil. Other errors mean that the listener failed.
func (a *API) Serve(ctx context.Context, l net.Listener) error {
	if !a.served.CompareAndSwap(false, true) {
		return errors.Join(ErrServed, l.Close())
	}
	if len(a.c.Hosts) == 0 {
		a.allowHosts(hostsOf(l.Addr()))
	}
	bounded := listen.Bound(l, listen.Limits{Open: a.limits.Connections, Fresh: a.limits.Fresh, Stalled: a.limits.Stalled})
	s := a.server(bounded)
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(bounded) }()

	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	close(a.stopping)
	bounded.CloseIdle()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.limits.Drain)
	defer cancel()
	if s.Shutdown(drain) != nil {
		_ = s.Close() // closes connections that are still open
	}
	if err == nil {
		err = <-failed
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (a *API) server(l *listen.Listener) *http.Server {
	logs := a.c.Log
	if logs == nil {
		logs = log.New(io.Discard, "", 0)
	}
	var plain http.Protocols
	plain.SetHTTP1(true)
	return &http.Server{
		Handler: a.Handler(), ErrorLog: logs, Protocols: &plain, ConnState: l.ConnState,
		// No ReadTimeout: it would end event streams, and no body is read.
		ReadHeaderTimeout: a.limits.ReadHeader, WriteTimeout: a.limits.Write, IdleTimeout: a.limits.Idle,
		MaxHeaderBytes: a.limits.Header, DisableGeneralOptionsHandler: true,
	}
}
