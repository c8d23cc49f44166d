package main

import (
	"embed"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

//go:embed page.html page.css page.js
var files embed.FS

const mostBody = 1 << 16 // bytes

// handler returns the pages of the shop. GET changes nothing; other requests come from the shop's own pages, or from programs.
func (s *Server) handler(local bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.answering(s.servePage))
	mux.HandleFunc("POST /{$}", s.answering(s.servePage))
	mux.HandleFunc("POST /search", s.answering(s.serveSearch))
	mux.HandleFunc("POST /events", s.answering(s.serveEvents))
	mux.HandleFunc("GET /days", s.answering(s.serveDays))
	mux.Handle("GET /page.css", http.FileServerFS(files))
	mux.Handle("GET /page.js", http.FileServerFS(files))
	own := http.NewCrossOriginProtection().Handler(http.MaxBytesHandler(mux, mostBody))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !isLocal(r.Host) { // a website whose name stands for 127.0.0.1 is not another one to a browser
			http.Error(w, fmt.Sprintf("unknown host %.100q: want localhost", r.Host), http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "+
			"img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'") // plots have styles inside
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store") // a ranking that is drawn is for one user
		own.ServeHTTP(w, r)
	})
}

// isLocal reports whether a header Host is of this machine.
func isLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}

// newServer returns a server that clients cannot keep busy by being slow.
func newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14,
	}
}
