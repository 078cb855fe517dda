package resolvers

import (
	"strconv"
	"strings"

	"heliograph/graph/model"
	"heliograph/internal/domain/ledger"
)

const (
	hbarDecimals   = 8            // 10^8 tinybars to one hbar
	weibarsPadding = "0000000000" // 10^10 weibars to one tinybar
)

// formatHbar writes an amount of tinybars in another unit, nil when it is unknown.
func formatHbar(tinybars ledger.Null[int64], unit model.HbarUnit) *string {
	if !tinybars.Valid {
		return nil
	}
	text := strconv.FormatInt(tinybars.V, 10)
	switch unit {
	case model.HbarUnitHbar:
		digits, negative := strings.CutPrefix(text, "-")
		for len(digits) <= hbarDecimals {
			digits = "0" + digits
		}
		at := len(digits) - hbarDecimals
		text = strings.TrimSuffix(strings.TrimRight(digits[:at]+"."+digits[at:], "0"), ".")
		if negative {
			text = "-" + text
		}
	case model.HbarUnitWeibar:
		if tinybars.V != 0 {
			text += weibarsPadding
		}
	case model.HbarUnitTinybar:
	}
	return &text
}
