// Package wrap adds context to errors.
package wrap

import "fmt"

// Error returns an error whose text is the formatted one followed by that of err, and which wraps err. It returns nil
// if err is nil.
func Error(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}
