package gateway

import "log/slog"

// CheckRates tells whether the options can be used.
func CheckRates(o RateOptions) error {
	_, err := newRates(o, slog.New(slog.DiscardHandler))
	return err
}
