package gateway

import "log/slog"

// CheckRates returns an error if the options are invalid.
func CheckRates(o RateOptions) error {
	_, err := newRates(o, slog.New(slog.DiscardHandler))
	return err
}
