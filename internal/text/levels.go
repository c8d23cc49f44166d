package text

// MostLevels bounds the different texts of a categorical feature, in all splits: one that has
// more is an amount, or tells documents apart.
const MostLevels = 100_000

// Levels numbers the texts of a categorical feature from 1 on, in the order in which they come.
// Numbers count as text: 7, 7.0 and +7 are one, and so are 1 and true.
type Levels struct {
	Names  []string
	number map[string]int // of names, and of other spellings of them
	fixed  bool           // there are no others
}

// FixedLevels returns the levels of a model, which learns no others.
func FixedLevels(names []string) *Levels {
	l := &Levels{}
	for _, name := range names {
		l.add(name)
	}
	for i, name := range names { // which others than files of data may have spelt otherwise
		if spelt := LevelName([]byte(name)); l.number[spelt] == 0 {
			l.number[spelt] = i + 1
		}
	}
	l.fixed = true
	return l
}

func (l *Levels) add(name string) int {
	if l.number == nil {
		l.number = map[string]int{}
	}
	l.Names = append(l.Names, name)
	l.number[name] = len(l.Names)
	return len(l.Names)
}

// Value is how a text is kept as the value of a feature: by its number. It is 0 for one that is
// not among fixed levels, and missing for none.
func (l *Levels) Value(word []byte) float32 {
	if n, known := l.number[string(word)]; known {
		return float32(n)
	}
	if len(word) == 0 || IsMissing(word) {
		return Missing
	}
	name := LevelName(word)
	n, known := l.number[name]
	switch {
	case !known && l.fixed:
		return 0
	case !known:
		n = l.add(name)
	}
	if !l.fixed { // which may serve several goroutines
		l.number[string(word)] = n
	}
	return float32(n)
}

// LevelName is the spelling of a text among Levels: one for numbers that are equal.
func LevelName(word []byte) string {
	if exact, n, err := Exact(word); err == nil && n == len(word) && exact != nil {
		return string(exact)
	}
	return string(word)
}
