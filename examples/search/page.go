package main

import "net/http"

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) error { return nil }
func (s *Server) serveDays(w http.ResponseWriter, r *http.Request) error { return nil }
