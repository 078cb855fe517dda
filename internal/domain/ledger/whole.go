package ledger

import (
	"strconv"
	"strings"
)

// maxWhole is the maximum number of digits that [Whole] writes: those of the largest signed 64-bit integer.
const maxWhole = 19

// Whole returns the integer, as digits with a minus sign if it is negative, of a JSON number without a fraction, such
// as 400000.0 or 4e5. Clients in languages with only one type of numbers write integers in requests like that. It
// returns other numbers, and those with more than 19 digits, as they are. The caller has checked that the text is a
// number.
func Whole(number string) string {
	if !strings.ContainsAny(number, ".eE") {
		return number
	}
	digits, negative := strings.CutPrefix(number, "-")
	exponent := 0
	if at := strings.IndexAny(digits, "eE"); at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(digits[at+1:]); err != nil {
			return number
		}
		digits = digits[:at]
	}
	integer, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimRight(integer+fraction, "0")
	if digits == "" {
		return "0"
	}
	zeros := len(integer) + exponent - len(digits)
	digits = strings.TrimLeft(digits, "0")
	if zeros < 0 || zeros > maxWhole || len(digits)+zeros > maxWhole {
		return number
	}
	if negative {
		digits = "-" + digits
	}
	return digits + strings.Repeat("0", zeros)
}
