package train

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A schedule is how the learning rate goes from step to step.
type schedule struct {
	cosine   bool
	patience int     // of plateau, in epochs; 0: none
	factor   float64 // of plateau
}

var schedulePattern = regexp.MustCompile(`^(constant|cosine|plateau)(?:\((.*)\))?$`)

const wantSchedule = "want constant, cosine, plateau or plateau(3,0.5)"

// parseSchedule reads what [Config.Schedule] says.
func parseSchedule(text string) (schedule, error) {
	parts := schedulePattern.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil || parts[1] != "plateau" && strings.Contains(text, "(") {
		return schedule{}, fmt.Errorf("train: schedule %q: %s", text, wantSchedule)
	}
	switch parts[1] {
	case "cosine":
		return schedule{cosine: true}, nil
	case "constant":
		return schedule{}, nil
	}
	s := schedule{patience: 3, factor: 0.5}
	if parts[2] == "" && !strings.Contains(text, "(") {
		return s, nil
	}
	patience, factor, two := strings.Cut(parts[2], ",")
	var err error
	if s.patience, err = strconv.Atoi(strings.TrimSpace(patience)); err != nil || s.patience < 1 {
		return s, fmt.Errorf("train: schedule %q: after how many epochs? %s", text, wantSchedule)
	}
	if two {
		if s.factor, err = strconv.ParseFloat(strings.TrimSpace(factor), 64); err != nil || !(s.factor > 0 && s.factor < 1) {
			return s, fmt.Errorf("train: schedule %q: want a factor between 0 and 1", text)
		}
	}
	return s, nil
}
