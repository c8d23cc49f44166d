package clicks

import (
	"bufio"
	"fmt"
	"io"
)

// Write writes a log as lines of UBI 1.3, which [Read] reads back as the same log: each
// impression by [AppendQuery], followed by its clicks by [AppendClick], at the time of the
// request. Write returns an error if a click is neither 0 nor 1, or if impressions have equal
// IDs or none.
func Write(w io.Writer, l *Log) error {
	if err := l.Validate(); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	seen := make(map[string]bool, len(l.Impressions))
	for i := range l.Impressions {
		im := &l.Impressions[i]
		if seen[im.ID] {
			return fmt.Errorf("clicks: impression %d: the ID %q is there twice", i, im.ID)
		}
		seen[im.ID] = true
		var err error
		if line, err = AppendQuery(line[:0], im, l); err != nil {
			return err
		}
		for k, c := range im.Clicks {
			switch c {
			case 0:
			case 1:
				if line, err = AppendClick(line, im, k+1, im.Time); err != nil {
					return err
				}
			default:
				return l.impressionError(i, fmt.Errorf("the click at rank %d is %v: a log of events has clicks of 0 and 1", k+1, c))
			}
		}
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return b.Flush()
}
