package pgregex

import "regexp/syntax"

// cost estimates the size of the automaton: a literal counts its characters, a class
// 1 and 1 more for 32 ranges, every other node 1; a repetition multiplies its content
// by its maximum, an open {n,} by n + 1. It stops growing past MaxCost.
func cost(re *syntax.Regexp) (int, error) {
	sum := 0
	for _, sub := range re.Sub {
		c, err := cost(sub)
		if err != nil {
			return 0, err
		}
		sum = min(sum+c, MaxCost+1)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), nil
	case syntax.OpCharClass:
		return 1 + len(re.Rune)/2/32, nil
	case syntax.OpRepeat:
		if re.Min > MaxCount || re.Max > MaxCount {
			return 0, errCount
		}
		times := re.Max
		if times < 0 {
			times = re.Min + 1
		}
		return min(sum*times, MaxCost+1), nil
	case syntax.OpStar, syntax.OpQuest:
		return sum, nil
	case syntax.OpPlus:
		return min(2*sum, MaxCost+1), nil
	}
	return min(sum+1, MaxCost+1), nil
}
