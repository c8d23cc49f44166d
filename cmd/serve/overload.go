package main

import (
	"log"
	"sync"
	"time"
)

// overload logs requests that are refused because others are at work: the first one, and a
// minute later how many more there were. Under load there may be thousands in a second.
type overload struct {
	mu   sync.Mutex
	said bool // a line, less than a minute ago
	more int  // since then
}

// each is how long the others are counted.
const each = time.Minute

func (o *overload) refuse(log *log.Logger, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.said {
		o.more++
		return
	}
	o.said = true
	log.Print(line)
	time.AfterFunc(each, func() { o.sumUp(log) })
}

// sumUp logs how many more there were; the next one is logged again.
func (o *overload) sumUp(log *log.Logger) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more > 0 {
		log.Printf("%d more requests got status 503 within %v", o.more, each)
	}
	o.said, o.more = false, 0
}
