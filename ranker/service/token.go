package service

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// A token is the bearer token that requests need. If its path is "", they need none.
type token struct {
	file
	hash atomic.Pointer[[sha256.Size]byte]
}

// read reads the token.
func (t *token) read() error {
	text, err := os.ReadFile(t.path)
	if err != nil {
		return err
	}
	word := strings.TrimSpace(string(text))
	if word == "" {
		return fmt.Errorf("%s: no token in the file", t.path)
	}
	hash := sha256.Sum256([]byte(word))
	t.hash.Store(&hash)
	return nil
}

// admits reports whether the value of a header Authorization has the token.
func (t *token) admits(header string) bool {
	scheme, given, _ := strings.Cut(header, " ")
	has := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return subtle.ConstantTimeCompare(has[:], t.hash.Load()[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}
