package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plrank/plrank/ranker"
)

// A file is loaded again when its content has changed.
type file struct {
	path          string
	load          func() error // makes use of the content
	used, refused string       // the digests of the content in use, and of one that could not be used
	lastError     string       // to log each error once
	last          look
}

// A look is the last reading of a file.
type look struct {
	info   os.FileInfo
	digest string
	ended  time.Time
	took   time.Duration
}

// refresh loads the file if its content has changed, or always. After an error the old content stays in use, and the file is
// not loaded again until it changes, unless always. refresh logs the error unless the last refresh had the same one.
func (f *file) refresh(always bool, log func(error)) (loaded bool, err error) {
	digest, err := f.digest(always)
	if err == nil && !always && digest == f.refused && digest != f.used {
		return false, nil
	}
	if loaded = err == nil && (always || digest != f.used); loaded {
		if err = f.tryLoad(); err != nil {
			f.refused = digest
		}
	}
	if err != nil {
		if always || err.Error() != f.lastError {
			log(err)
		}
		f.lastError = err.Error()
		return false, err
	}
	f.used, f.refused, f.lastError = digest, "", ""
	return loaded, nil
}

// tryLoad loads the file. A panic, as of a crafted model, becomes an error: it must not end a service that has a good one.
func (f *file) tryLoad() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: panic: %v\n%s", f.path, r, debug.Stack())
		}
	}()
	return f.load()
}

// A file may change without a new time or size, so every look reads it, which takes about a
// millisecond. A large file with the same time and size is read less often, in at most 1 % of the
// time of a core.
const (
	largeFile = 16 << 20 // bytes
	rest      = 100      // times as long as reading took
)

// digest returns the digest of the file's content, as [ranker.Model.Digest].
func (f *file) digest(always bool) (string, error) {
	r, err := os.Open(f.path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return "", err
	}
	if old := f.last; !always && old.info != nil && info.Size() > largeFile && time.Since(old.ended) < rest*old.took &&
		os.SameFile(old.info, info) && old.info.Size() == info.Size() && old.info.ModTime().Equal(info.ModTime()) {
		return old.digest, nil
	}
	start := time.Now()
	digest, err := ranker.Digest(r)
	if err != nil {
		return "", err
	}
	f.last = look{info, digest, time.Now(), time.Since(start)}
	return digest, nil
}

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
