package table

// NoGroup stands in files for no group, as nothing does.
const NoGroup = "-1"

// GroupNames numbers groups by their names, in the order in which they come.
type GroupNames struct {
	Names  []string
	number map[string]int
}

// Number is the number of a group, new or not; −1 for none.
func (g *GroupNames) Number(name []byte) int {
	if len(name) == 0 || string(name) == NoGroup {
		return -1
	}
	n, known := g.number[string(name)]
	if !known {
		if g.number == nil {
			g.number = map[string]int{}
		}
		n = len(g.Names)
		g.Names = append(g.Names, string(name))
		g.number[string(name)] = n
	}
	return n
}
