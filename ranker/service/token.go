package service

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// A token is the bearer token that requests need.
type token struct {
	path      string // "": requests need none
	hash      atomic.Pointer[[sha256.Size]byte]
	lastError string // to log each error once
}

// load reads the file. If it cannot be used, the token stays as it is.
func (t *token) load() (changed bool, err error) {
	text, err := os.ReadFile(t.path)
	if err != nil {
		return false, err
	}
	word := strings.TrimSpace(string(text))
	if word == "" {
		return false, fmt.Errorf("%s: no token in the file", t.path)
	}
	hash, old := sha256.Sum256([]byte(word)), t.hash.Load()
	t.hash.Store(&hash)
	return old == nil || *old != hash, nil
}

// admits reports whether the value of a header Authorization has the token.
func (t *token) admits(header string) bool {
	scheme, given, _ := strings.Cut(header, " ")
	has := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return subtle.ConstantTimeCompare(has[:], t.hash.Load()[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}
