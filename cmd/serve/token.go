package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// A token is what requests must bring, from a file that is read again when it changes.
type token struct {
	path string // "": none is wanted
	hash atomic.Pointer[[sha256.Size]byte]
}

// load reads the file. One that cannot be used leaves the token as it is.
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

// admits tells whether a header Authorization has the token.
func (t *token) admits(header string) bool {
	scheme, given, _ := strings.Cut(header, " ")
	has := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return subtle.ConstantTimeCompare(has[:], t.hash.Load()[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}
