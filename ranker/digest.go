package ranker

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// Digest is the digest of a model file, which is read to its end: the first 16 hexadecimal digits
// of the SHA-256 of its bytes. It tells models apart, whatever the name and the time of the file.
//
//	sha256sum model.npz | cut -c -16
//
// Errors are those of r.
func Digest(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", fmt.Errorf("ranker: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// digestOf is the digest of a file with these bytes.
func digestOf(data []byte) string {
	digest, _ := Digest(bytes.NewReader(data)) // which has no errors
	return digest
}
