package service

import (
	"encoding/json"
	"strings"
	"testing"
)

// copied puts a valid JSON text together again from what the functions of scan.go give.
func copied(value []byte) string {
	var b strings.Builder
	switch value[0] {
	case '[':
		b.WriteByte('[')
		for i, v := range elements(value) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(copied(v))
		}
		b.WriteByte(']')
	case '{':
		b.WriteByte('{')
		for name, v := range members(value) {
			if b.Len() > 1 {
				b.WriteByte(',')
			}
			quoted, _ := json.Marshal(name)
			b.Write(quoted)
			b.WriteByte(':')
			b.WriteString(copied(v))
		}
		b.WriteByte('}')
	default:
		return string(value)
	}
	return b.String()
}

// FuzzScan: valid JSON has the same value after it has been taken apart and put together.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		` { "a" : [ 1 , -2.5e+3, null ,true,{ } , [ ] , "x\"],}\\" ] , "\u0061\n" : { "b":[[[]]]} } `,
		`[]`, `{}`, ` 3 `, `"\\"`, "[1\n,\t2\r]", `{"":""}`, `[ ]`, `{"a":1,"a":2}`, "\"\xff\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		value, rest := cutValue(skipBlanks([]byte(text)))
		if len(skipBlanks(rest)) > 0 {
			t.Errorf("%q begins with %q", text, value)
		}
		var want, got any
		if json.Unmarshal([]byte(text), &want) != nil { // a number beyond float64
			return
		}
		again := copied(value)
		if err := json.Unmarshal([]byte(again), &got); err != nil {
			t.Fatalf("%q became %q: %v", text, again, err)
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if string(a) != string(b) {
			t.Errorf("%q became %q", text, again)
		}
	})
}
