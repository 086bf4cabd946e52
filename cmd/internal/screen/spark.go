package screen

import "strings"

// sparks are the bars of a sparkline, lowest first.
var sparks = []rune("▁▂▃▄▅▆▇█")

// Spark draws figures, oldest first, as a sparkline of that many columns. Each column is
// the mean of the figures that fall into it, scaled between the lowest and the highest
// mean. A column without figures is blank; equal means are drawn at middle height.
func Spark(figures []Figure, columns int) string {
	if columns <= 0 {
		return ""
	}
	sums, counts := make([]float64, columns), make([]int, columns)
	for _, f := range figures {
		if at := int(f.At * float64(columns)); at >= 0 && at <= columns {
			at = min(at, columns-1)
			sums[at] += f.Value
			counts[at]++
		}
	}
	means, low, high := make([]float64, columns), 0.0, 0.0
	first := true
	for i, n := range counts {
		if n == 0 {
			continue
		}
		means[i] = sums[i] / float64(n)
		if first || means[i] < low {
			low = means[i]
		}
		if first || means[i] > high {
			high = means[i]
		}
		first = false
	}
	var b strings.Builder
	for i, n := range counts {
		switch {
		case n == 0:
			b.WriteByte(' ')
		case high == low:
			b.WriteRune(sparks[len(sparks)/2])
		default:
			b.WriteRune(sparks[int((means[i]-low)/(high-low)*float64(len(sparks)-1)+0.5)])
		}
	}
	return b.String()
}

// A Figure is one point of a Spark: its position from 0 to 1, and its value.
type Figure struct{ At, Value float64 }
