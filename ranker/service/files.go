package service

import (
	"os"
	"time"

	"github.com/plrank/plrank/ranker"
)

// A file is read again when its content has changed.
type file struct {
	path          string
	load          func() error // makes use of the content
	used, refused string       // the digests of the content in use, and of one that could not be used
	lastError     string       // to log each error once
	fileState
}

// refresh loads the file if its content has changed, or always. One that is refused leaves what is in
// use as it is; it is not loaded again until it changes, unless always. Logged is whether the
// error was the last one, too.
func (f *file) refresh(always bool) (loaded, logged bool, err error) {
	digest, err := f.digest(f.path, always)
	switch {
	case err != nil:
	case !always && digest == f.used:
		f.refused, f.lastError = "", ""
		return false, false, nil
	case !always && digest == f.refused:
		return false, false, nil
	default:
		if err = f.load(); err != nil {
			f.refused = digest
		}
	}
	if err != nil {
		logged = !always && err.Error() == f.lastError
		f.lastError = err.Error()
		return false, logged, err
	}
	f.used, f.refused, f.lastError = digest, "", ""
	return true, false, nil
}

// A fileState remembers a file since it was last read.
type fileState struct {
	info os.FileInfo
	sum  string
	at   time.Time     // when reading ended
	took time.Duration // to read it
}

// Neither its time nor its size tells that a file has not changed, so every look reads it,
// which takes about a millisecond. A large file with the same time and size is read less often:
// that takes no more than 1 % of the time of a core.
const (
	largeFile = 16 << 20 // bytes
	rest      = 100      // times as long as reading took
)

// digest is the digest of the file's content, as [ranker.Model.Digest].
func (s *fileState) digest(path string, always bool) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if old := s.info; !always && old != nil && info.Size() > largeFile && time.Since(s.at) < rest*s.took &&
		os.SameFile(old, info) && old.Size() == info.Size() && old.ModTime().Equal(info.ModTime()) {
		return s.sum, nil
	}
	start := time.Now()
	sum, err := ranker.Digest(f)
	if err != nil {
		return "", err
	}
	*s = fileState{info, sum, time.Now(), time.Since(start)}
	return sum, nil
}
